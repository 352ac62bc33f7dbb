// All streams of a lane: ports, and what becomes of those who ask there.
#include "stream/streams.hpp"

#include <gtest/gtest.h>

#include <string>

namespace photon::stream {
namespace {

class Streams : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK);
    ASSERT_EQ(ph_streams_open(context_, nullptr, &all_), PH_OK);
  }
  void TearDown() override {
    EXPECT_EQ(ph_streams_close(all_, 1'000'000), PH_OK);
    ph_context_destroy(context_);
  }
  // A message to the mailbox of a port.
  void ask(std::uint32_t port, std::span<const std::byte> bytes) {
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = port_address(port);
    args.source = bytes.data();
    args.size_bytes = bytes.size();
    args.epoch = PH_ANY_EPOCH;
    args.flags = PH_NO_LCE;
    ASSERT_EQ(ph_mailbox_append(context_, 0, &args), PH_OK);
  }

  ph_context* context_ = nullptr;
  ph_streams* all_ = nullptr;
};

TEST_F(Streams, open_a_port_once) {
  ph_listener* one = nullptr;
  ph_listener* other = nullptr;
  ASSERT_EQ(ph_stream_listen(all_, 5, &one), PH_OK);
  EXPECT_EQ(ph_stream_listen(all_, 5, &other), PH_ERR_STATE);
  EXPECT_EQ(other, nullptr);
  ph_error error{};
  ph_streams_error(all_, &error);
  EXPECT_EQ(error.status, PH_ERR_STATE);
  EXPECT_NE(std::string(error.text), "");
  ASSERT_EQ(ph_listener_close(one), PH_OK);
  EXPECT_EQ(ph_stream_listen(all_, 5, &other), PH_OK) << "it is closed";
}

TEST_F(Streams, of_one_lane_may_be_several) {
  ph_streams* more = nullptr;
  ASSERT_EQ(ph_streams_open(context_, nullptr, &more), PH_OK);
  ph_listener* listener = nullptr;
  ASSERT_EQ(ph_stream_listen(more, 5, &listener), PH_OK);
  ph_stream* asks = nullptr;
  ph_stream* answers = nullptr;
  ASSERT_EQ(ph_stream_connect(all_, 0, 5, &asks), PH_OK);
  ASSERT_EQ(ph_stream_accept(listener, &answers, 1'000'000), PH_OK);
  std::size_t count = 0;
  ASSERT_EQ(ph_stream_write(answers, "hello", 5, &count), PH_OK);
  EXPECT_EQ(ph_streams_close(more, 1'000'000), PH_OK);
  char text[8] = "";
  ph_status status = PH_AGAIN;
  while (status == PH_AGAIN) status = ph_stream_read(asks, text, sizeof text, &count);
  EXPECT_EQ(std::string(text, count), "hello");
  EXPECT_EQ(ph_stream_read(asks, text, sizeof text, &count), PH_OK);
  EXPECT_EQ(count, 0u);
}

TEST_F(Streams, pass_over_what_asks_for_no_connection) {
  ph_listener* listener = nullptr;
  ASSERT_EQ(ph_stream_listen(all_, 5, &listener), PH_OK);
  const std::uint64_t nonsense = 77;
  ask(5, std::as_bytes(std::span(&nonsense, 1)));
  Message message;
  message.kind = Kind::connect;
  message.address = end_address(9);
  message.sizes = {63, 1};  // too small
  ask(5, encode(message).bytes());
  ph_stream* stream = nullptr;
  EXPECT_EQ(ph_stream_accept(listener, &stream, 0), PH_AGAIN);
  EXPECT_EQ(ph_stream_accept(listener, &stream, 1000), PH_TIMEOUT);
  EXPECT_EQ(stream, nullptr);
}

TEST_F(Streams, hear_that_who_asked_has_gone) {
  ph_listener* listener = nullptr;
  ASSERT_EQ(ph_stream_listen(all_, 5, &listener), PH_OK);
  ph_stream* asks = nullptr;
  ASSERT_EQ(ph_stream_connect(all_, 0, 5, &asks), PH_OK);
  ASSERT_EQ(ph_stream_close(asks), PH_OK);
  ph_stream* answers = nullptr;
  ASSERT_EQ(ph_stream_accept(listener, &answers, 1'000'000), PH_OK);
  std::uint32_t ready = 0;
  ASSERT_EQ(ph_stream_wait(answers, PH_STREAM_READABLE, &ready, 10'000'000), PH_OK);
  char text = 0;
  std::size_t count = 0;
  EXPECT_EQ(ph_stream_read(answers, &text, 1, &count), PH_ERR_DEPARTED);
}

TEST_F(Streams, are_freed_after_finalize_too) {
  ph_stream* asks = nullptr;
  ASSERT_EQ(ph_stream_connect(all_, 0, 5, &asks), PH_OK);
  static_cast<void>(ph_finalize(context_));
  std::size_t count = 0;
  EXPECT_LT(ph_stream_write(asks, "x", 1, &count), PH_OK);
}

}  // namespace
}  // namespace photon::stream
