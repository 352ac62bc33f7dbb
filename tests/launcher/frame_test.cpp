#include "frame.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace photonrun {
namespace {

Bytes bytes_of(const Frame& frame) {
  Bytes stream;
  append(frame, stream);
  return stream;
}

// Reads it back in pieces of every length.
Frame through(const Frame& frame) {
  const Bytes stream = bytes_of(frame);
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    FrameReader reader;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      EXPECT_FALSE(reader.next());
      reader.add(std::span(stream).subspan(at, std::min(piece, stream.size() - at)));
    }
    auto got = reader.next();
    EXPECT_TRUE(got);
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.is_broken());
    if (piece == stream.size() && got) return std::move(*got);
  }
  return {};
}

TEST(Frame, a_packet_comes_through_as_it_was_in_pieces_of_any_length) {
  Packet packet =
      make_packet({.type = PH_LAUNCH_DELIVER, .rank = 3}, std::as_bytes(std::span("hello", 5)));
  const Packet got = packet_of(through(packet_frame({2, 7}, std::move(packet))));
  EXPECT_EQ(got.header.rank, 3u);
  EXPECT_EQ(got.header.type, PH_LAUNCH_DELIVER);
  ASSERT_EQ(got.body->size(), 5u);
  EXPECT_EQ(std::memcmp(got.body->data(), "hello", 5), 0);
}

TEST(Frame, an_end_and_its_words_come_through_made_printable_and_cut) {
  const Frame got = through(ended_frame(2, {.by_signal = 1, .value = 9}, "killed\n\x1b[2J"));
  ASSERT_TRUE(end_of(got));
  EXPECT_EQ(end_of(got)->value, 9);
  EXPECT_EQ(words_of(got), "killed??[2J");
  const Frame end = words_frame(FrameKind::end, 15, std::string(5000, 'x'));
  EXPECT_EQ(words_of(end).size(), kMaxFrameWords);
}

TEST(Frame, ends_that_no_process_can_have_are_none) {
  EXPECT_FALSE(end_of(ended_frame(2, {.by_signal = 0, .value = 256}, "")));
  EXPECT_FALSE(end_of(ended_frame(2, {.by_signal = 1, .value = 0}, "")));
  EXPECT_FALSE(end_of(ended_frame(2, {.by_signal = 7, .value = 1}, "")));
}

TEST(Frame, a_start_outside_of_the_job_is_none) {
  EXPECT_TRUE(start_of(start_frame({.size = 4, .first = 2, .here = 2, .hidden_secret = {}})));
  EXPECT_FALSE(start_of(start_frame({.size = 4, .first = 2, .here = 3, .hidden_secret = {}})));
  EXPECT_TRUE(start_of(start_frame({.size = 4, .first = 0, .here = 1, .hidden_secret = {}})));
  EXPECT_FALSE(start_of(start_frame({.size = 4, .first = 5, .here = 1, .hidden_secret = {}})));
  EXPECT_FALSE(start_of(plain_frame(FrameKind::kill, {})));
}

TEST(Frame, heads_that_make_no_sense_break_the_stream_at_once) {
  const auto breaks = [](FrameHead head) {
    FrameReader reader;
    reader.add(std::as_bytes(std::span(&head, 1)));
    EXPECT_FALSE(reader.next());
    return reader.is_broken();
  };
  EXPECT_TRUE(breaks({.kind = static_cast<FrameKind>(0)}));
  EXPECT_TRUE(breaks({.kind = static_cast<FrameKind>(99)}));
  EXPECT_TRUE(breaks({.kind = FrameKind::kill, .bytes = 1}));
  EXPECT_TRUE(breaks({.kind = FrameKind::start, .bytes = sizeof(Start) - 1}));
  EXPECT_TRUE(breaks({.kind = FrameKind::packet, .bytes = 0xffffffff}));
  EXPECT_FALSE(breaks({.kind = FrameKind::packet, .bytes = sizeof(ph_launch_header)}));
}

TEST(Frame, a_packet_that_calls_itself_longer_breaks_the_stream) {
  Packet packet = make_packet({.type = PH_LAUNCH_DELIVER}, {});
  packet.header.body_bytes = 1;
  FrameReader reader;
  reader.add(bytes_of(packet_frame({0, 1}, std::move(packet))));
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.is_broken());
}

}  // namespace
}  // namespace photonrun
