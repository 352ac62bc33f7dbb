// Leaving: what was accepted goes first, then a word, and no longer than agreed.
#include <chrono>
#include <thread>
#include <vector>

#include "lending_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Finalize, what_was_queued_goes_out_before_the_good_bye) {
  Two two(options(), Ground::shm);
  const auto source = filled(40000, 4);  // several times the bulk ring
  const auto args = two.put(source);
  ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
  std::thread other([&] {
    ph_path path{};
    path.state = "";
    while (std::string(path.state) != "departed") {
      LaneGuard guard(two.ranks.lane(1));
      two.ranks[1].serve();
      EXPECT_EQ(two.ranks[1].describe(0, path), PH_OK);
    }
  });
  {
    LaneGuard guard(two.ranks.lane(0));
    EXPECT_EQ(two.ranks[0].finalize(guard), PH_OK);
  }
  other.join();
  EXPECT_EQ(first_difference(two.memory.bytes().first(40000), 4), 40000u);
  EXPECT_EQ(two.count(1, PH_REMOTE), 1u);
}

TEST(Finalize, it_ends_after_its_time_and_names_the_rank_that_did_not_take_what_was_sent) {
  FakeOptions chosen = options();
  chosen.config.finalize_timeout_ms = 30;
  Two two(chosen);
  const auto source = filled(40000, 4);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  const auto begin = std::chrono::steady_clock::now();
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_TIMEOUT);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_NE(two.ranks[0].last_error().what.find("ranks 1 "), std::string::npos)
      << two.ranks[0].last_error().what;
}

// Its key could be seen when it was sent at last, and nobody looked at it again.
TEST(Finalize, it_waits_for_the_verdict_on_a_put_that_was_accepted_unchecked) {
  Two two(options(Reach::Kind::none, false));
  auto& net = two.ranks.net();
  std::vector<std::byte> landing(8);
  for (int i = 0; i < 63; ++i)  // with the first contact's: all lines of the ring
    ASSERT_EQ(two.ranks[0].get(1, two.get(landing, PH_NO_LCE | PH_NO_RCE)), PH_OK);
  const auto source = filled(8, 4);
  ph_put_args args = two.put(source, PH_NO_RCE);
  args.target.key ^= std::uint64_t{1} << 40;
  ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
  net.link(0, 1).peer_regions = net.seats[1].regions.data();
  net.seats[0].new_links.insert(1);
  two.ranks[0].serve();
  ASSERT_EQ(two.ranks[0].put(1, args), PH_ERR_KEY) << "now it can be seen";
  net.seats[0].at_sleep = [&] {
    two.ranks[1].serve();
    return true;
  };
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_ERR_KEY);
}

// That a payload has landed is motion, though its id waits as long as rank 1 does not probe.
TEST(Finalize, it_does_not_give_up_while_payloads_land_whose_ids_are_late) {
  FakeOptions chosen = options();
  chosen.config.overflow_total_bytes = 1 << 30;
  chosen.config.ring_lines = 64;
  chosen.config.finalize_timeout_ms = 60;
  Two two(chosen);
  auto& seat = two.ranks.net().seats[0];
  seat.own_time_ns = 1;  // it passes between two looks, and at no other time
  seat.at_sleep = [] { return true; };
  const auto source = filled(192, 4);  // in several lines each
  for (std::uint64_t id = 0; id < 64; ++id)
    ASSERT_EQ(two.ranks[0].put(1, put_args(source, ph_at(&two.region, 192 * id), id, id)), PH_OK);
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard,
                                  [&] {
                                    seat.own_time_ns += 20'000'000;
                                    two.ranks[1].serve();
                                    if (two.ranks[0].resource_use().requests == 0)
                                      two.ranks.probe(1, PH_REMOTE);
                                  }),
            PH_OK)
      << two.ranks[0].last_error().what;
}

// Nobody will ever probe them, so nobody may wait for room for more.
TEST(Finalize, ids_of_ones_own_do_not_hold_it_up) {
  Two two;
  std::vector<std::byte> bytes(64);
  const ph_region mine = two.ranks.add(0, bytes);
  for (std::uint64_t id = 0; id < 9; ++id) {  // a ledger of 4
    ASSERT_EQ(two.ranks[0].put(0, put_args({bytes.data(), 8}, ph_at(&mine, 0), id, id)), PH_OK);
  }
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_OK);
}

TEST(Finalize, ranks_that_finalize_together_do_not_wait_for_each_others_applications) {
  Two two(options(), Ground::shm);
  const ph_region back = two.ranks.add(0, two.memory.bytes().first(64));
  const auto source = filled(8, 4);
  for (std::uint64_t id = 0; id < 20; ++id) {
    ASSERT_EQ(two.ranks[0].put(1, put_args(source, ph_at(&two.region, 0), id, id)), PH_OK);
    ASSERT_EQ(two.ranks[1].put(0, put_args(source, ph_at(&back, 0), id, id)), PH_OK);
  }
  std::thread other([&] {
    LaneGuard guard(two.ranks.lane(1));
    EXPECT_EQ(two.ranks[1].finalize(guard), PH_OK);
  });
  {
    LaneGuard guard(two.ranks.lane(0));
    EXPECT_EQ(two.ranks[0].finalize(guard), PH_OK);
  }
  other.join();
}

// ph_finalize() comes to the lanes of a context one by one; nobody probes in any of them.
TEST(Finalize, a_lane_that_it_has_still_to_come_to_gives_credit_for_ids_that_nobody_takes) {
  Two two;
  for (std::uint64_t id = 0; id < 9; ++id)  // a ledger of 4
    ASSERT_EQ(two.ranks[0].notify(1, id), PH_OK);
  two.ranks.net().seats[0].at_sleep = [&] {
    two.ranks[1].serve_leaving();
    return true;
  };
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_OK);
}

TEST(Finalize, a_lane_that_it_has_still_to_come_to_gives_back_what_nobody_takes) {
  Lending lending;
  std::vector<std::byte> bytes(5000);
  ASSERT_EQ(lending.announce(PH_RECV_BUFFER, bytes), PH_OK);
  for (int i = 0; i < 100 && lending.ended == PH_AGAIN; ++i) {
    lending.ranks[1].serve_leaving();
    lending.ended = lending.test();
  }
  EXPECT_EQ(lending.ended, PH_ERR_DEPARTED);
}

// rma.h: the second completion of an error never comes under PH_DELIVERED.
TEST(Finalize, what_was_delivered_has_not_failed_when_its_target_leaves) {
  Two two;
  const auto source = filled(8, 4);
  for (std::uint64_t id = 0; id < 4; ++id)  // a ledger of 4
    ASSERT_EQ(two.ranks[0].put(1, put_args(source, ph_at(&two.region, 0), id, id)), PH_OK);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source, PH_DELIVERED)), PH_OK);
  two.ranks.turn();
  two.ranks.turn();
  EXPECT_EQ(two.count(0, PH_LOCAL), 5u);
  {
    LaneGuard guard(two.ranks.lane(1));
    ASSERT_EQ(two.ranks[1].finalize(guard), PH_OK);
  }
  two.ranks[0].serve();
  EXPECT_EQ(two.ranks[0].put(1, two.put(source)), PH_ERR_DEPARTED);
  EXPECT_EQ(two.count(0, PH_LOCAL), 0u);
}

TEST(Finalize, all_keys_are_stale_afterwards) {
  Two two;
  LaneGuard guard(two.ranks.lane(1));
  EXPECT_EQ(two.ranks[1].finalize(guard), PH_OK);
  for (const auto& entry : two.ranks.net().seats[1].regions) EXPECT_EQ(entry.key(), 0u);
}

}  // namespace
}  // namespace photon::engine::test
