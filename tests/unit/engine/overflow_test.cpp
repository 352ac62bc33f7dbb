// Ids beyond the ledger: order, limits, ends, garbage, and memory given back.
#include <cstring>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

using transport::Overflow;

FakeOptions overflowing(Reach::Kind reach = Reach::Kind::none) {
  FakeOptions chosen = options(reach);
  chosen.overflows = true;  // and ledger_slots is 4
  chosen.config.overflow_total_bytes = 1 << 30;
  return chosen;
}

// Rank 0 sends, rank 1 receives.
struct Flooded : Two {
  explicit Flooded(const FakeOptions& chosen = overflowing()) : Two(chosen) {}

  ph_status notify() {
    const ph_status status = ranks[0].notify(1, next);
    if (status == PH_OK) ++next;
    return status;
  }
  void notify(unsigned times) {
    for (unsigned i = 0; i < times; ++i) ASSERT_EQ(notify(), PH_OK) << i;
  }
  // Rank 1 takes ids until there are no more; rank 0 is never called.
  void take_all() {
    for (;;) {
      const auto taken = ranks.probe(1, PH_REMOTE);
      if (taken.empty()) return;
      for (const ph_completion& one : taken) ASSERT_EQ(one.id, expected++);
    }
  }

  std::uint64_t next = 0;
  std::uint64_t expected = 0;
};

TEST(Overflow, notifications_beyond_the_ledger_arrive_in_order_without_their_sender) {
  Flooded two;
  two.notify(200);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  two.take_all();
  EXPECT_EQ(two.expected, 200u);
}

TEST(Overflow, the_ring_is_used_again_when_all_was_taken) {
  Flooded two;
  for (int round = 0; round < 50; ++round) {
    two.notify(round % 11);
    two.take_all();
    EXPECT_EQ(two.expected, two.next);
  }
}

TEST(Overflow, probes_that_take_one_id_meet_them_in_order) {
  Flooded two;
  for (int round = 0; round < 300; ++round) {
    two.notify(round % 3);
    if (two.expected != two.next) {
      const ph_completion one = two.ranks.take(1, PH_REMOTE);
      EXPECT_EQ(one.id, two.expected++);
    }
  }
  two.take_all();
  EXPECT_EQ(two.expected, two.next);
}

TEST(Overflow, a_full_ring_still_announces_it) {
  FakeOptions chosen = overflowing();
  chosen.config.ledger_slots = 1024;  // more than the ring has lines
  chosen.config.overflow_bytes = 16 << 10;
  Flooded two(chosen);
  two.notify(500);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  two.take_all();
  EXPECT_EQ(two.expected, 500u);
}

TEST(Overflow, ids_of_every_length_arrive) {
  FakeOptions chosen = overflowing();
  chosen.config.max_cid_size = 40;
  Two two(chosen);
  std::vector<std::byte> id(40);
  for (std::uint32_t size = 0; size <= 40; ++size) {
    fill(id, size);
    ph_put_args args = notice();
    args.remote = {id.data(), size};
    ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
  }
  for (std::uint32_t size = 0; size <= 40; ++size) {
    fill(id, size);
    const ph_completion one = two.ranks.take(1, PH_REMOTE);
    ASSERT_EQ(one.id_size_bytes, size);
    if (size > 8) {
      EXPECT_EQ(std::memcmp(one.long_id, id.data(), size), 0) << size;
    }
  }
  EXPECT_EQ(two.ranks[1].resource_use().blocks, 0u);
}

TEST(Overflow, ids_of_puts_whose_bytes_have_gone_follow_in_order) {
  Flooded two(overflowing(Reach::Kind::mapped));
  const auto source = filled(5000, 3);
  for (int i = 0; i < 20; ++i) {
    two.remote_id = two.next++;
    two.local_id = two.remote_id;
    ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
    two.notify(1);
  }
  EXPECT_EQ(two.ranks.probe(0, PH_LOCAL).size(), 20u);
  two.take_all();
  EXPECT_EQ(two.expected, 40u);
}

TEST(Overflow, what_finds_no_room_queues_and_then_says_so_and_nothing_is_lost) {
  FakeOptions chosen = overflowing();
  chosen.config.overflow_total_bytes = 10 * 16;
  chosen.config.requests = 16;
  Flooded two(chosen);
  unsigned taken = 0;
  while (two.notify() == PH_OK) ASSERT_LT(++taken, 100u);
  EXPECT_EQ(taken, 4u + 10u + 16u);
  for (int turns = 0; turns < 20; ++turns) {
    two.take_all();
    two.ranks.turn();
  }
  EXPECT_EQ(two.expected, two.next);
  EXPECT_EQ(two.notify(), PH_OK);
}

TEST(Overflow, room_comes_back_before_all_was_taken) {
  FakeOptions chosen = overflowing();  // 4 KiB: 256 ids
  Flooded two(chosen);
  two.notify(4 + 256);
  while (two.expected < 200) EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.expected++);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  two.notify(64);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  two.take_all();
  EXPECT_EQ(two.expected, two.next);
}

TEST(Overflow, a_sender_that_ends_leaves_its_ids_behind) {
  Flooded two;
  two.notify(100);
  two.ranks.net().seats[1].gone[0] = {PH_ERR_PEER, 0, "gone", 0};
  two.take_all();
  EXPECT_EQ(two.expected, 100u);
  EXPECT_TRUE(two.ranks.net().seats[1].let_go.contains(0));
}

TEST(Overflow, a_receiver_that_finalizes_drops_them) {
  Flooded two;
  two.notify(100);
  LaneGuard guard(two.ranks.lane(1));
  EXPECT_EQ(two.ranks[1].finalize(guard), PH_OK);
  EXPECT_EQ(two.ranks[1].resource_use().blocks, 0u);
}

struct Garbage {
  const char* name;
  void (*spoil)(Overflow& memory);
};

TEST(Overflow, garbage_ends_its_peer_and_nothing_else) {
  const Garbage kGarbage[] = {
      {"an id longer than the limit", [](Overflow& memory) { memory.words[0].set(9); }},
      {"an entry that ends beyond what is published",
       [](Overflow& memory) { memory.words[198].set(8 | std::uint64_t{1} << 40); }},
      {"more than fits",
       [](Overflow& memory) { memory.published->value.store(5000, std::memory_order_release); }}};
  for (const Garbage& garbage : kGarbage) {
    SCOPED_TRACE(garbage.name);
    Flooded two;
    two.notify(4 + 100);
    Overflow memory = two.ranks.net().way(0, 1).overflow();
    garbage.spoil(memory);
    for (int i = 0; i < 200; ++i) static_cast<void>(two.ranks.probe(1, PH_REMOTE));
    EXPECT_EQ(two.ranks[1].notify(0, 1), PH_ERR_PROTOCOL);
  }
}

TEST(Overflow, what_the_receiver_says_it_took_is_not_believed_beyond_what_was_sent) {
  Flooded two;
  two.notify(50);
  two.ranks.net().way(0, 1).taken.value.store(1 << 20, std::memory_order_release);
  two.notify(10);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
}

}  // namespace
}  // namespace photon::engine::test
