// What the calls of streams cannot be given, and where they stand no more.
#include <gtest/gtest.h>
#include <photon/photon.h>
#include <sys/wait.h>
#include <unistd.h>

namespace photon {
namespace {

class StreamApi : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK);
    ASSERT_EQ(ph_streams_open(context_, nullptr, &all_), PH_OK);
    ASSERT_EQ(ph_stream_listen(all_, 1, &listener_), PH_OK);
    ASSERT_EQ(ph_stream_connect(all_, 0, 1, &stream_), PH_OK);
  }
  void TearDown() override {
    EXPECT_EQ(ph_streams_close(all_, 1'000'000), PH_OK);
    ph_context_destroy(context_);
  }

  ph_context* context_ = nullptr;
  ph_streams* all_ = nullptr;
  ph_listener* listener_ = nullptr;
  ph_stream* stream_ = nullptr;
};

TEST_F(StreamApi, takes_sizes_within_bounds_only) {
  ph_streams* more = all_;
  const auto open = [&](std::uint32_t bytes, std::uint32_t buffers, std::uint32_t backlog,
                        std::size_t size = sizeof(ph_streams_args)) {
    const ph_streams_args args{size, bytes, buffers, backlog};
    return ph_streams_open(context_, &args, &more);
  };
  EXPECT_EQ(open(63, 1, 1), PH_ERR_ARGUMENT);
  EXPECT_EQ(more, nullptr);
  EXPECT_EQ(open((1 << 20) + 1, 1, 1), PH_ERR_ARGUMENT);
  EXPECT_EQ(open(64, 1025, 1), PH_ERR_ARGUMENT);
  EXPECT_EQ(open(64, 1, 65'537), PH_ERR_ARGUMENT);
  EXPECT_EQ(open(64, 1, 1, 3), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_streams_open(context_, nullptr, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_streams_open(nullptr, nullptr, &more), PH_ERR_STATE);
  ASSERT_EQ(open(64, 1, 1), PH_OK);
  EXPECT_EQ(ph_streams_close(more, 0), PH_OK);
}

TEST_F(StreamApi, takes_no_null) {
  std::size_t count = 0;
  char byte = 0;
  ph_stream* stream = nullptr;
  EXPECT_EQ(ph_stream_listen(nullptr, 1, &listener_), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_listen(all_, 1, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_connect(nullptr, 0, 1, &stream), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_connect(all_, 0, 1, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_accept(nullptr, &stream, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_accept(listener_, nullptr, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_read(nullptr, &byte, 1, &count), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_read(stream_, nullptr, 1, &count), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_read(stream_, &byte, 1, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_write(nullptr, &byte, 1, &count), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_write(stream_, nullptr, 1, &count), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_write(stream_, &byte, 1, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_shutdown(nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_wait(nullptr, PH_STREAM_READABLE, nullptr, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_wait(stream_, 0, nullptr, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_wait(stream_, 4, nullptr, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_wait(stream_, PH_STREAM_READABLE, nullptr, -1), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_stream_peer(nullptr), PH_ANY_RANK);
  EXPECT_EQ(ph_stream_close(nullptr), PH_OK);
  EXPECT_EQ(ph_listener_close(nullptr), PH_OK);
  EXPECT_EQ(ph_streams_close(nullptr, 0), PH_OK);
  ph_streams_error(nullptr, nullptr);
}

TEST_F(StreamApi, of_no_bytes_is_no_end) {
  std::size_t count = 7;
  EXPECT_EQ(ph_stream_read(stream_, nullptr, 0, &count), PH_OK);
  EXPECT_EQ(ph_stream_write(stream_, nullptr, 0, &count), PH_OK);
  EXPECT_EQ(count, 0u);
}

TEST_F(StreamApi, knows_a_rank_that_is_none) {
  ph_stream* stream = stream_;
  EXPECT_EQ(ph_stream_connect(all_, 8, 1, &stream), PH_ERR_RANK);
  EXPECT_EQ(stream, nullptr);
  ph_error error{};
  ph_streams_error(all_, &error);
  EXPECT_EQ(error.status, PH_ERR_RANK);
}

TEST_F(StreamApi, in_a_forked_child_says_so_and_frees_its_copy) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::size_t count = 0;
    ph_stream* stream = nullptr;
    const bool is_said = ph_stream_connect(all_, 0, 1, &stream) == PH_ERR_FORKED &&
                         ph_stream_read(stream_, &count, 1, &count) == PH_ERR_FORKED &&
                         ph_stream_accept(listener_, &stream, 0) == PH_ERR_FORKED &&
                         ph_streams_close(all_, 0) == PH_OK;
    ::_exit(is_said ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace photon
