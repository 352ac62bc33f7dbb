// All streams of a lane: ports, and what becomes of those who ask there.
#include "stream/streams.hpp"

#include <gtest/gtest.h>

#include <array>
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

// Another rank may have all the room of the lane: here what goes to a mailbox that nobody empties.
class CrowdedStreams : public Streams {
 protected:
  void SetUp() override {
    const ph_option small{"ring_lines", "64"};
    const ph_config config{sizeof config, nullptr, &small, 1};
    ASSERT_EQ(ph_context_create(&config, &context_, nullptr), PH_OK);
    ASSERT_EQ(ph_streams_open(context_, nullptr, &all_), PH_OK);
    ph_listener* listener = nullptr;
    ASSERT_EQ(ph_stream_listen(all_, 5, &listener), PH_OK);
    ASSERT_EQ(ph_stream_connect(all_, 0, 5, &asks_), PH_OK);
    ASSERT_EQ(ph_stream_accept(listener, &answers_, 1'000'000), PH_OK);
    std::uint32_t ready = 0;
    ASSERT_EQ(ph_stream_wait(asks_, PH_STREAM_WRITABLE, &ready, 1'000'000), PH_OK);
    ph_mailbox_args args{};
    args.size = sizeof args;
    args.address = kElsewhere;
    args.threshold = memory_.size();
    args.unit = PH_MAILBOX_BYTES;
    args.placing = PH_MAILBOX_MANAGED;
    args.source = PH_ANY_RANK;
    ph_mailbox box{};
    ASSERT_EQ(ph_mailbox_open(context_, &args, &box), PH_OK);
    const ph_mailbox_buffer buffer{sizeof buffer, memory_.data(), memory_.size(), 0, nullptr, 0};
    ASSERT_EQ(ph_mailbox_post(context_, box, &buffer), PH_OK);
  }
  void TearDown() override { ph_context_destroy(context_); }

  void crowd() {
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = kElsewhere;
    args.source = "x";
    args.size_bytes = 1;
    args.epoch = PH_ANY_EPOCH;
    args.flags = PH_NO_LCE;
    ph_status status = PH_OK;
    while (status == PH_OK) status = ph_mailbox_append(context_, 0, &args);
    ASSERT_EQ(status, PH_AGAIN);
  }

  static constexpr std::uint64_t kElsewhere = 99;
  std::array<std::byte, 4096> memory_{};
  ph_stream* asks_ = nullptr;
  ph_stream* answers_ = nullptr;
};

TEST_F(CrowdedStreams, close_when_there_is_room_again) {
  crowd();
  EXPECT_EQ(ph_streams_close(all_, 10'000'000), PH_OK);
}

TEST_F(CrowdedStreams, are_written_to_when_there_is_room_again) {
  crowd();
  std::size_t count = 0;
  EXPECT_EQ(ph_stream_write(asks_, "hello", 5, &count), PH_AGAIN);
  EXPECT_EQ(ph_stream_write(asks_, "hello", 5, &count), PH_OK) << "it makes progress itself";
  EXPECT_EQ(ph_streams_close(all_, 10'000'000), PH_OK);
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
