#include "service/am/landing.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace photon::service::am {
namespace {

using Bytes = std::vector<std::byte>;

Bytes counting_bytes(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

ph_status no_done(void*, const ph_am_message*, const ph_am_part*) { return PH_OK; }

// A landing as a header handler names it, and memory for it.
struct Named {
  Bytes memory = Bytes(256);
  std::vector<ph_block> list;
  ph_am_landing landing{};
  Landing taken;

  Named() {
    landing.size = sizeof landing;
    landing.done = no_done;
    landing.argument = this;
  }
  void buffer(std::uint64_t size_bytes, std::uint64_t chunk_bytes = 0, std::uint32_t flags = 0) {
    landing.buffer = memory.data();
    landing.buffer_bytes = size_bytes;
    landing.chunk_bytes = chunk_bytes;
    landing.flags = flags;
  }
  // Blocks of these sizes, with a gap of one byte between them.
  void blocks(std::initializer_list<std::size_t> sizes) {
    std::byte* at = memory.data();
    for (const std::size_t size : sizes) {
      list.push_back({at, size});
      at += size + 1;
    }
    landing.blocks = list.data();
    landing.blocks_count = static_cast<std::uint32_t>(list.size());
  }
  ph_status take(std::uint64_t payload_bytes, bool is_here = false) {
    return taken.take(landing, payload_bytes, is_here);
  }
  std::size_t place(std::uint64_t offset) const {
    return static_cast<std::size_t>(taken.piece(offset).data() - memory.data());
  }
};

TEST(Landing, one_that_is_left_empty_says_used_in_place_of_a_carried_payload_alone) {
  Named named;
  EXPECT_EQ(named.take(10, true), PH_OK);
  EXPECT_EQ(named.taken.kind(), Landing::Kind::none);
  EXPECT_EQ(named.take(10, false), PH_ERR_ARGUMENT);
  EXPECT_EQ(named.taken.done(), &no_done) << "nobody can be told the error";
  EXPECT_EQ(named.taken.argument(), &named);
}

TEST(Landing, one_that_is_a_byte_too_small_is_a_range_error) {
  Named named;
  named.buffer(100);
  EXPECT_EQ(named.take(100), PH_OK);
  EXPECT_EQ(named.take(101), PH_ERR_RANGE);
  EXPECT_EQ(named.taken.kind(), Landing::Kind::none) << "it may be written to";
  Named several;
  several.blocks({30, 0, 70});
  EXPECT_EQ(several.take(100), PH_OK);
  EXPECT_EQ(several.take(101), PH_ERR_RANGE);
}

TEST(Landing, null_pointers_with_bytes_are_refused) {
  Named buffer;
  buffer.landing.buffer_bytes = 10;
  EXPECT_EQ(buffer.take(10), PH_ERR_ARGUMENT);
  Named list;
  list.landing.blocks_count = 1;
  EXPECT_EQ(list.take(10), PH_ERR_ARGUMENT);
  Named block;
  block.blocks({10, 10});
  block.list[1].data = nullptr;
  EXPECT_EQ(block.take(10), PH_ERR_ARGUMENT);
  block.list[1].size_bytes = 0;
  EXPECT_EQ(block.take(10), PH_OK) << "a block of no bytes needs no place";
}

TEST(Landing, two_places_at_once_and_unknown_flags_are_refused) {
  Named both;
  both.buffer(100);
  both.blocks({100});
  EXPECT_EQ(both.take(10), PH_ERR_ARGUMENT);
  Named dropped;
  dropped.buffer(100, 0, PH_AM_DROP);
  EXPECT_EQ(dropped.take(10), PH_ERR_ARGUMENT);
  Named flag;
  flag.buffer(100, 0, PH_NO_LCE);
  EXPECT_EQ(flag.take(10), PH_ERR_ARGUMENT);
  Named ring;
  ring.landing.flags = PH_AM_CYCLE | PH_AM_DROP;
  EXPECT_EQ(ring.take(10), PH_ERR_ARGUMENT);
}

TEST(Landing, lists_that_are_too_long_or_wrap_are_refused) {
  Named wraps;
  wraps.blocks({10, 10});
  wraps.list[0].size_bytes = ~std::size_t{0};
  EXPECT_EQ(wraps.take(10), PH_ERR_ARGUMENT);
  Named longest;
  longest.list.assign(PH_AM_BLOCKS + 1, {longest.memory.data(), 1});
  longest.landing.blocks = longest.list.data();
  longest.landing.blocks_count = PH_AM_BLOCKS;
  EXPECT_EQ(longest.take(PH_AM_BLOCKS), PH_OK);
  longest.landing.blocks_count = PH_AM_BLOCKS + 1;
  EXPECT_EQ(longest.take(PH_AM_BLOCKS), PH_ERR_ARGUMENT);
}

TEST(Landing, a_ring_has_two_whole_places_at_least) {
  Named named;
  const auto take = [&](std::uint64_t size_bytes, std::uint64_t chunk_bytes) {
    named.buffer(size_bytes, chunk_bytes, PH_AM_CYCLE);
    return named.take(1000);
  };
  EXPECT_EQ(take(20, 10), PH_OK);
  EXPECT_EQ(take(10, 10), PH_ERR_ARGUMENT);
  EXPECT_EQ(take(25, 10), PH_ERR_ARGUMENT);
  EXPECT_EQ(take(20, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(take(65536, 1), PH_OK);
  EXPECT_EQ(take(65537, 1), PH_ERR_ARGUMENT);
  named.landing.buffer = nullptr;
  EXPECT_EQ(take(0, 10), PH_ERR_ARGUMENT);
}

TEST(Landing, a_byte_of_a_buffer_lies_where_it_counts) {
  Named named;
  named.buffer(100, 30);
  ASSERT_EQ(named.take(100), PH_OK);
  EXPECT_EQ(named.place(0), 0u);
  EXPECT_EQ(named.place(99), 99u);
  EXPECT_EQ(named.taken.piece(25).size(), 5u) << "a piece ends with its part";
  EXPECT_EQ(named.taken.piece(90).size(), 10u) << "the last part is short";
  EXPECT_TRUE(named.taken.piece(100).empty());
}

TEST(Landing, a_byte_of_a_list_lies_in_its_block) {
  Named named;
  named.blocks({10, 0, 5, 20});
  ASSERT_EQ(named.take(33), PH_OK);
  EXPECT_EQ(named.place(9), 9u);
  EXPECT_EQ(named.place(10), 12u) << "two gaps lie before it";
  EXPECT_EQ(named.taken.piece(10).size(), 5u);
  EXPECT_EQ(named.place(16), 19u);
  EXPECT_EQ(named.taken.piece(16).size(), 17u) << "nothing lands behind the payload";
  EXPECT_EQ(named.taken.part(0).data, nullptr) << "it does not lie in one block";
}

TEST(Landing, the_list_of_blocks_may_go_when_it_was_taken) {
  Named named;
  named.blocks({10, 10});
  ASSERT_EQ(named.take(20), PH_OK);
  named.list.assign(2, {nullptr, 0});
  EXPECT_EQ(named.place(10), 11u);
}

TEST(Landing, parts_of_a_ring_lie_in_their_places_again_and_again) {
  Named named;
  named.buffer(30, 10, PH_AM_CYCLE);
  ASSERT_EQ(named.take(65), PH_OK);
  EXPECT_EQ(named.taken.places(), 3u);
  EXPECT_EQ(named.place(29), 29u);
  EXPECT_EQ(named.place(30), 0u);
  EXPECT_EQ(named.place(64), 4u);
  EXPECT_EQ(named.taken.part(60).data, named.memory.data());
  EXPECT_EQ(named.taken.part(60).size_bytes, 5u);
  EXPECT_EQ(named.taken.part(60).is_last, 1);
  EXPECT_EQ(named.taken.part(50).is_last, 0);
}

TEST(Landing, one_block_is_as_good_as_a_buffer) {
  Named named;
  named.blocks({0, 20, 0});
  ASSERT_EQ(named.take(20), PH_OK);
  EXPECT_EQ(named.taken.part(0).data, named.list[1].data);
}

TEST(Landing, one_that_drops_has_no_place_and_is_told_of_once) {
  Named named;
  named.landing.flags = PH_AM_DROP;
  named.landing.chunk_bytes = 60;
  ASSERT_EQ(named.take(100), PH_OK);
  EXPECT_TRUE(named.taken.piece(0).empty());
  EXPECT_EQ(named.taken.part(0).size_bytes, 100u) << "a peer could have a handler called for ever";
  EXPECT_EQ(named.taken.part(0).data, nullptr);
}

// What `land()` tells, and what has landed by then.
struct Told {
  std::vector<ph_am_part> parts;
  ph_status answer = PH_OK;
  std::size_t fails_at = ~std::size_t{0};

  ph_status operator()(const ph_am_part& part) {
    parts.push_back(part);
    return parts.size() - 1 == fails_at ? answer : PH_OK;
  }
};

TEST(Land, a_carried_payload_comes_part_by_part_to_its_blocks) {
  Named named;
  named.blocks({7, 50, 43});
  named.landing.chunk_bytes = 40;
  ASSERT_EQ(named.take(100, true), PH_OK);
  const Bytes payload = counting_bytes(100);
  Told told;
  EXPECT_EQ(land(named.taken, payload, std::ref(told)), PH_OK);
  ASSERT_EQ(told.parts.size(), 3u);
  EXPECT_EQ(told.parts[1].offset, 40u);
  EXPECT_EQ(told.parts[2].size_bytes, 20u);
  EXPECT_EQ(told.parts[2].is_last, 1);
  for (std::size_t i = 0; i < 100; ++i)
    ASSERT_EQ(*named.taken.piece(i).data(), payload[i]) << "byte " << i;
  EXPECT_EQ(named.memory[7], std::byte{0}) << "the gap was written to";
}

TEST(Land, a_ring_has_each_part_when_it_is_told_of) {
  Named named;
  named.buffer(20, 10, PH_AM_CYCLE);
  ASSERT_EQ(named.take(45, true), PH_OK);
  const Bytes payload = counting_bytes(45);
  Bytes seen;
  EXPECT_EQ(land(named.taken, payload,
                 [&](const ph_am_part& part) {
                   const auto* data = static_cast<const std::byte*>(part.data);
                   seen.insert(seen.end(), data, data + part.size_bytes);
                   return PH_OK;
                 }),
            PH_OK);
  EXPECT_EQ(seen, payload);
}

TEST(Land, an_error_of_a_part_is_told_once_more_as_the_end) {
  Named named;
  named.buffer(100, 40);
  ASSERT_EQ(named.take(100, true), PH_OK);
  const Bytes payload = counting_bytes(100);
  Told told{{}, PH_ERR_KEY, 1};
  EXPECT_EQ(land(named.taken, payload, std::ref(told)), PH_ERR_KEY);
  ASSERT_EQ(told.parts.size(), 3u);
  EXPECT_EQ(told.parts[2].status, PH_ERR_KEY);
  EXPECT_EQ(told.parts[2].size_bytes, 0u);
  EXPECT_EQ(told.parts[2].offset, 80u);
  EXPECT_EQ(told.parts[2].is_last, 1);
  EXPECT_EQ(named.memory[80], std::byte{0}) << "what is behind the error has landed";
}

TEST(Land, an_error_of_the_last_part_is_not_told_again) {
  Named named;
  named.buffer(100, 50);
  ASSERT_EQ(named.take(100, true), PH_OK);
  Told told{{}, PH_AGAIN, 1};
  EXPECT_EQ(land(named.taken, counting_bytes(100), std::ref(told)), PH_ERR_ARGUMENT)
      << "a positive status is no status of a message";
  EXPECT_EQ(told.parts.size(), 2u);
}

TEST(Land, no_bytes_are_one_part) {
  Named named;
  named.buffer(10);
  ASSERT_EQ(named.take(0, true), PH_OK);
  Told told;
  EXPECT_EQ(land(named.taken, {}, std::ref(told)), PH_OK);
  ASSERT_EQ(told.parts.size(), 1u);
  EXPECT_EQ(told.parts[0].is_last, 1);
  named.landing.chunk_bytes = 10;
  ASSERT_EQ(named.take(0, true), PH_OK);
  EXPECT_EQ(land(named.taken, {}, std::ref(told)), PH_OK);
  EXPECT_EQ(told.parts.size(), 2u);
}

TEST(Land, one_that_drops_needs_no_bytes) {
  Named named;
  named.landing.flags = PH_AM_DROP;
  ASSERT_EQ(named.take(100), PH_OK);
  Told told{{}, PH_ERR_KEY, 0};
  EXPECT_EQ(land(named.taken, {}, std::ref(told)), PH_ERR_KEY);
  ASSERT_EQ(told.parts.size(), 1u);
  EXPECT_EQ(told.parts[0].size_bytes, 100u);
}

TEST(Land, a_ring_takes_no_bytes_too) {
  Named named;
  named.buffer(20, 10, PH_AM_CYCLE);
  ASSERT_EQ(named.take(0, true), PH_OK);
  Told told;
  EXPECT_EQ(land(named.taken, {}, std::ref(told)), PH_OK);
  EXPECT_EQ(told.parts.size(), 1u);
}

TEST(Land, one_without_a_handler_gets_all_the_same_bytes) {
  Named named;
  named.buffer(100, 10);
  named.landing.done = nullptr;
  ASSERT_EQ(named.take(100, true), PH_OK);
  Told told;
  EXPECT_EQ(land(named.taken, counting_bytes(100), std::ref(told)), PH_OK);
  EXPECT_TRUE(told.parts.empty());
  named.memory.resize(100);
  EXPECT_EQ(named.memory, counting_bytes(100));
}

}  // namespace
}  // namespace photon::service::am
