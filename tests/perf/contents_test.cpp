// What photon-perf sends and how its receiver proves what it has read.
#include "contents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "checksum.hpp"
#include "failure.hpp"

namespace photon::perf {
namespace {

constexpr std::array<std::size_t, 12> kSizes{1,   7,   8,    9,    63,   127,
                                             128, 255, 1000, 4088, 4096, 65543};

// One direction: what side 0 writes is read by side 1.
struct Way {
  explicit Way(std::size_t size_bytes, bool is_fresh) : source(size_bytes), landing(size_bytes) {
    buffers.size_bytes = size_bytes;
    buffers.is_fresh = is_fresh;
    buffers.source = source.data();
  }

  void send(std::uint64_t number) {
    sender.write(source.data(), number);
    landing = source;
  }

  Buffers buffers;
  std::vector<std::byte> source;
  std::vector<std::byte> landing;
  Contents sender{buffers, 0};
  Contents receiver{buffers, 1};
};

TEST(PerfContents, of_fresh_messages_are_read_as_they_were_written) {
  for (const auto size_bytes : kSizes) {
    Way way(size_bytes, true);
    for (std::uint64_t number = 1; number <= 5; ++number) {
      way.send(number);
      EXPECT_NO_THROW(way.receiver.read(way.landing.data(), number)) << size_bytes;
    }
    EXPECT_NO_THROW(way.receiver.expect_all(5));
  }
}

TEST(PerfContents, of_fresh_messages_end_at_their_size) {
  for (const auto size_bytes : kSizes) {
    Way way(size_bytes, true);
    std::vector<std::byte> longer(size_bytes + 64, std::byte{0x5a});
    way.sender.write(longer.data(), 1);
    EXPECT_TRUE(std::all_of(longer.begin() + static_cast<std::ptrdiff_t>(size_bytes), longer.end(),
                            [](std::byte byte) { return byte == std::byte{0x5a}; }))
        << size_bytes;
  }
}

TEST(PerfContents, of_an_earlier_message_are_not_those_of_this_one) {
  for (const auto size_bytes : kSizes) {
    Way way(size_bytes, true);
    way.send(1);
    EXPECT_THROW(way.receiver.read(way.landing.data(), 2), Failure) << size_bytes;
  }
}

TEST(PerfContents, with_one_stale_line_are_seen_wherever_it_lies) {
  constexpr std::size_t kLine = 64;
  Way way(4096, true);
  for (std::size_t at = 0; at < way.source.size(); at += kLine) {
    way.send(1);
    const auto stale = way.landing;
    way.send(2);
    std::memcpy(way.landing.data() + at, stale.data() + at, kLine);
    EXPECT_THROW(way.receiver.read(way.landing.data(), 2), Failure) << at;
  }
}

TEST(PerfContents, of_the_own_side_are_not_taken_for_those_of_the_peer) {
  Way way(4096, true);
  way.receiver.write(way.landing.data(), 1);
  EXPECT_THROW(way.receiver.read(way.landing.data(), 1), Failure);
}

TEST(PerfContents, that_stay_the_same_are_compared_at_the_end) {
  for (const auto size_bytes : kSizes) {
    Way way(size_bytes, false);
    fill_pattern(way.source.data(), size_bytes, 1);
    const auto before = way.source;
    way.buffers.peer_checksum = checksum_of(way.source.data(), size_bytes);
    for (std::uint64_t number = 1; number <= 3; ++number) {
      way.send(number);
      way.receiver.read(way.landing.data(), number);
    }
    EXPECT_EQ(way.source, before);
    EXPECT_NO_THROW(way.receiver.expect_all(3));
    way.landing[size_bytes / 2] ^= std::byte{1};
    way.receiver.read(way.landing.data(), 4);
    EXPECT_THROW(way.receiver.expect_all(4), Failure);
  }
}

}  // namespace
}  // namespace photon::perf
