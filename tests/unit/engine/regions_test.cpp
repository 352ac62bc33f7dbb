// Registering, allocating and taking memory back, as the engine does it.
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Regions, a_removal_waits_for_a_copy_in_progress_and_keeps_the_slot_meanwhile) {
  Two two;
  auto& intent = two.ranks.net().way(0, 1).intent;
  intent.enter(two.region.key & 15, false);
  EXPECT_EQ(remove_region(two.ranks[1], two.region.key), PH_TIMEOUT);
  std::vector<std::byte> other(100);
  const ph_region fresh = two.ranks.add(1, other);
  EXPECT_NE(fresh.key & 15, two.region.key & 15) << "its slot was given away under the copy";
  intent.leave();
  EXPECT_EQ(remove_region(two.ranks[1], two.region.key), PH_OK);
}

TEST(Regions, a_removal_that_timed_out_leaves_no_region_to_find_or_to_count_up) {
  Two two;
  auto& intent = two.ranks.net().way(0, 1).intent;
  intent.enter(two.region.key & 15, false);
  EXPECT_EQ(remove_region(two.ranks[1], two.region.key), PH_TIMEOUT);
  const ph_region again = two.ranks.add(1, two.memory.bytes());
  EXPECT_NE(again.key, two.region.key) << "a stale key was handed out as a new registration";
  const auto source = filled(8, 1);
  intent.leave();
  EXPECT_EQ(two.ranks[0].put(1, put_args(source, ph_at(&again, 0), 1, 2)), PH_OK);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).status, PH_OK);
}

TEST(Regions, copies_of_the_dead_are_not_waited_for) {
  Two two;
  two.ranks.net().way(0, 1).intent.enter(two.region.key & 15, false);
  two.ranks.net().seats[1].gone[0] = {PH_ERR_PEER, 0, "gone", 0};
  two.ranks[1].serve();
  EXPECT_EQ(remove_region(two.ranks[1], two.region.key), PH_OK);
}

TEST(Regions, who_dies_during_a_copy_is_not_waited_for_though_nobody_has_heard_of_it_yet) {
  Two two;
  two.ranks.net().way(0, 1).intent.enter(two.region.key & 15, false);
  two.ranks.net().seats[1].gone[0] = {PH_ERR_PEER, 0, "gone", 0};
  EXPECT_EQ(remove_region(two.ranks[1], two.region.key), PH_OK);
}

// The caller knows that nothing is under way; an intent that still names the slot says otherwise.
TEST(Regions, a_revocation_waits_for_no_copy_and_frees_the_slot) {
  Two two;
  two.ranks.net().way(0, 1).intent.enter(two.region.key & 15, false);
  const unsigned quiesces = two.ranks.net().seats[1].quiesces_count;
  Removal removal;
  removal.is_sure = true;
  removal.call = "revoke";
  ASSERT_EQ(two.ranks[1].begin_removal(two.region.key, removal), PH_OK);
  EXPECT_EQ(photon::test::take_back(two.ranks[1], removal), PH_OK);
  EXPECT_EQ(two.ranks.net().seats[1].quiesces_count, quiesces + 1) << "NICs know the key no more";
  EXPECT_EQ(two.ranks[1].begin_removal(two.region.key, removal), PH_ERR_KEY);
  EXPECT_NE(two.ranks[1].last_error().what.find("revoke"), std::string::npos);
  std::vector<std::byte> other(100);
  EXPECT_EQ(two.ranks.add(1, other).key & 15, two.region.key & 15);
}

TEST(Regions, allocated_memory_is_registered_and_goes_by_free_only) {
  Two two;
  ph_region region{}, found{};
  ASSERT_EQ(two.ranks[1].allocate(100, region), PH_OK);
  EXPECT_EQ(region.address % 64, 0u);
  ASSERT_EQ(two.ranks[1].find_region({region.address + 10, 90, 0}, found), PH_OK);
  EXPECT_EQ(found.key, region.key);
  EXPECT_EQ(remove_region(two.ranks[1], region.key), PH_ERR_ARGUMENT);
  EXPECT_EQ(free_memory(two.ranks[1], reinterpret_cast<void*>(region.address + 64)),
            PH_ERR_NOT_FOUND);
  EXPECT_EQ(free_memory(two.ranks[1], reinterpret_cast<void*>(region.address)), PH_OK);
  EXPECT_EQ(two.ranks[1].find_region({region.address, 1, 0}, found), PH_ERR_NOT_FOUND);
  EXPECT_EQ(two.ranks[1].allocate(2 << 20, region), PH_ERR_MEMORY);
  EXPECT_NE(two.ranks[1].last_error().what.find("PHOTON_ARENA_BYTES"), std::string::npos);
}

}  // namespace
}  // namespace photon::engine::test
