// What stays right when memory runs out in the middle, and when nobody calls again.
#include <new>
#include <thread>

#include "engine_unit.hpp"
#include "shortage.hpp"

namespace photon::engine::test {
namespace {

using photon::test::Shortage;

// What else the remote id needs is the target's progress only (docs/flow-control.md).
TEST(BulkEndAlone, the_remote_id_goes_with_the_local_one_and_needs_the_initiator_no_more) {
  for (const bool through_ring : {true, false}) {
    SCOPED_TRACE(through_ring);
    FakeOptions chosen = options(Reach::Kind::call);
    chosen.config.requests = 128;
    Two two(chosen);
    const auto source = filled(60000, 7);
    const auto chunk = filled(1024, 8);  // fills the bulk ring, so that the put has no chunk in it
    for (int i = 0; i < (through_ring ? 0 : 8); ++i)
      ASSERT_EQ(two.ranks[0].put(1, two.put(chunk, PH_NO_LCE | PH_NO_RCE)), PH_OK);
    ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
    std::vector<ph_completion> found;
    for (int i = 0; i < 1'000'000 && found.empty(); ++i) found = two.ranks.probe(0, PH_LOCAL);
    ASSERT_EQ(found.size(), 1u);
    for (int i = 0; i < 500; ++i) two.ranks[1].serve();
    EXPECT_EQ(two.count(1, PH_REMOTE), 1u);
  }
}

//
TEST(StalledSleepBusy, a_put_to_a_peer_that_has_work_already_wakes_the_sleeper_too) {
  Two two(options(Reach::Kind::call));
  const auto source = filled(60000, 7);
  for (int i = 0; i < 5; ++i)  // the ledger has 4: one id waits, which makes the peer busy
    ASSERT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_LCE)), PH_OK);
  ph_status status = PH_OK;
  std::thread sleeper([&] {
    LaneGuard guard(two.ranks.lane(0));
    status = two.ranks[0].wait(guard, {1, PH_LOCAL, nullptr}, 15'000'000);
  });
  two.ranks.fake(0).await_sleeper();
  {
    LaneGuard guard(two.ranks.lane(0));
    EXPECT_EQ(two.ranks[0].put(1, two.put(source, PH_NO_RCE)), PH_OK);
  }
  sleeper.join();
  EXPECT_EQ(status, PH_OK) << "it was slept through";
  EXPECT_EQ(two.count(0, PH_LOCAL), 1u);
}

// The 65th completion makes the queue grow, after the request was taken.
TEST(NoMemory, a_packed_put_without_credit_that_finds_no_room_for_its_local_id_has_not_begun) {
  for (int allowed = 0; allowed < 3; ++allowed) {
    SCOPED_TRACE(allowed);
    FakeOptions chosen = options();
    chosen.config.requests = 128;
    Two two(chosen);
    const auto bytes = filled(8, 4);
    for (int i = 0; i < 4; ++i) ASSERT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_LCE)), PH_OK);
    for (int i = 0; i < 64; ++i) {
      ASSERT_EQ(two.ranks[0].put(1, two.put(bytes, PH_NO_RCE)), PH_OK);
      two.ranks.turn();
    }
    ASSERT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_LCE)), PH_OK);
    bool accepted = false;
    try {
      const Shortage shortage(allowed);
      EXPECT_EQ(two.ranks[0].put(1, two.put(bytes)), PH_OK);
      accepted = true;
    } catch (const std::bad_alloc&) {
    }
    EXPECT_EQ(two.ranks.probe(0, PH_LOCAL, 128).size(), 64u);
    for (int i = 0; i < (accepted ? 6 : 5); ++i) two.ranks.take(1, PH_REMOTE);
    for (int i = 0; i < 300; ++i) two.ranks.turn();
    EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
    EXPECT_EQ(two.count(0, PH_LOCAL), accepted ? 1u : 0u);
    for (int i = 0; i < 128; ++i)
      ASSERT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_RCE)), PH_OK) << i;
    EXPECT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_RCE)), PH_AGAIN);
  }
}

// The first record whose key nobody here can check makes the table of such records, behind
// the chunk's bytes: the two ends of the bulk ring disagree from then on.
TEST(NoMemory, a_first_chunk_whose_key_cannot_be_checked_leaves_the_bulk_ring_as_it_was) {
  for (const std::size_t size : {100ul, 700ul, 30000ul}) {
    bool accepted = false;
    for (int allowed = 0; allowed < 20 && !accepted && !HasFailure(); ++allowed) {
      SCOPED_TRACE(std::to_string(size) + " bytes, allocations " + std::to_string(allowed));
      EngineGroup ranks(options(Reach::Kind::none, false));
      Guarded memory(30000);
      const ph_region region = ranks.add(1, memory.bytes());
      const auto bytes = filled(size, 4);
      const std::uint64_t id = 5;
      ph_put_args nothing = put_args({}, {}, id, id);
      nothing.flags = PH_NO_LCE | PH_NO_RCE;  // contact, and no record
      ASSERT_EQ(ranks[0].put(1, nothing), PH_OK);
      try {
        const Shortage shortage(allowed);
        EXPECT_EQ(ranks[0].put(1, put_args(bytes, ph_at(&region, 0), id, id)), PH_OK);
        accepted = true;
      } catch (const std::bad_alloc&) {
      }
      for (int i = 0; i < 300; ++i) ranks.turn();
      EXPECT_EQ(ranks.probe(0, PH_LOCAL).size(), accepted ? 1u : 0u);
      EXPECT_EQ(ranks.probe(1, PH_REMOTE).size(), accepted ? 1u : 0u);
      const auto later = filled(3000, 5);
      ASSERT_EQ(ranks[0].put(1, put_args(later, ph_at(&region, 0), id, id)), PH_OK);
      ranks.take(1, PH_REMOTE);
      EXPECT_EQ(first_difference(memory.bytes().first(3000), 5), 3000u);
    }
    EXPECT_TRUE(accepted);
  }
}

// Half a peer was known: the next call took it for one with a link.
TEST(NoMemory, a_first_contact_that_fails_can_be_made_again) {
  for (const Ground ground : {Ground::shm, Ground::shm_two}) {
    bool accepted = false;
    for (int allowed = 0; allowed < 60 && !accepted; ++allowed) {
      SCOPED_TRACE(allowed);
      EngineGroup ranks(2, ground, options());
      const std::uint64_t id = 5;
      try {
        const Shortage shortage(allowed);
        accepted = ranks[0].put(1, put_args({}, {}, id, id)) == PH_OK;
      } catch (const std::bad_alloc&) {
      }
      if (!accepted) {
        ASSERT_EQ(ranks[0].put(1, put_args({}, {}, id, id)), PH_OK);
      }
      EXPECT_EQ(ranks.take(1, PH_REMOTE).id, id);
      EXPECT_EQ(ranks.take(0, PH_LOCAL).id, id);
    }
    EXPECT_TRUE(accepted);
  }
}

}  // namespace
}  // namespace photon::engine::test
