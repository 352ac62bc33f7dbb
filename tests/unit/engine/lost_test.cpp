// What had gone to a peer when it was lost, and that it was cut off.
#include <cerrno>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

class Lost : public testing::Test {
 protected:
  void lose(ph_status status = PH_ERR_PEER) {
    two_.ranks.net().seats[0].gone[1] = {status, ETIMEDOUT, "its cable was cut", 1};
    two_.ranks[0].serve();
  }
  void put(std::uint64_t id, std::span<const std::byte> source, std::uint32_t flags = 0) {
    ph_put_args args = put_args(source, ph_at(&two_.region, 0), id, id);
    args.flags = flags;
    ASSERT_EQ(two_.ranks[0].put(1, args), PH_OK);
  }
  ph_status flush() {
    LaneGuard guard(two_.ranks.lane(0));
    return two_.ranks[0].flush(guard, PH_ANY_RANK, 1000);
  }
  ph_status finalize() {
    LaneGuard guard(two_.ranks.lane(0));
    return two_.ranks[0].finalize(guard);
  }
  const std::string& said() { return two_.ranks[0].last_error().what; }

  Two two_{options(Reach::Kind::none, false)};
  const std::vector<std::byte> small_ = filled(8, 4);
};

TEST_F(Lost, each_put_that_had_gone_is_told_though_its_local_id_was_given) {
  for (std::uint64_t id = 1; id <= 3; ++id) put(id, small_);
  put(4, filled(1500, 3));  // by the bulk ring
  put(5, small_, PH_NO_LCE);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 4u);
  lose();
  const auto found = two_.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 5u);
  for (std::uint64_t id = 1; id <= 5; ++id) {
    EXPECT_EQ(found[id - 1].id, id);
    EXPECT_EQ(found[id - 1].status, PH_ERR_PEER);
    EXPECT_EQ(found[id - 1].peer, 1u);
  }
  EXPECT_EQ(two_.ranks[0].resource_use().events, 0);
}

TEST_F(Lost, who_sleeps_for_any_local_id_is_told) {
  put(1, small_);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 1u);
  auto& seat = two_.ranks.net().seats[0];
  seat.at_sleep = [&seat] {
    seat.gone[1] = {PH_ERR_PEER, 0, "its cable was cut", 1};
    return true;
  };
  LaneGuard guard(two_.ranks.lane(0));
  EXPECT_EQ(two_.ranks[0].wait(guard, {PH_ANY_RANK, PH_EITHER, nullptr}, 20'000'000), PH_OK);
}

// Where nobody else is left who could send.
TEST_F(Lost, who_sleeps_for_an_id_of_anybody_is_told_when_all_others_are_lost) {
  lose();
  LaneGuard guard(two_.ranks.lane(0));
  EXPECT_EQ(two_.ranks[0].wait(guard, {PH_ANY_RANK, PH_REMOTE, nullptr}, 20'000'000), PH_ERR_PEER);
}

TEST(LostOthers, who_waits_for_his_own_nic_goes_on_waiting) {
  Two two(options(Reach::Kind::posted, false));
  std::vector<std::byte> bytes(30000);
  const ph_region mine = two.ranks.add(0, bytes);
  const auto source = filled(30000, 3);
  ph_put_args args = put_args(source, ph_at(&mine, 0), two.local_id, two.remote_id);
  args.flags = PH_NO_RCE;
  ASSERT_EQ(two.ranks[0].put(0, args), PH_OK);
  while (two.ranks.net().seats[0].posted_count < 8) {  // pieces
    two.ranks[0].serve();
    while (two.ranks.net().seats[0].posted.size() > 1) two.ranks.net().land(0);
  }
  two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, ETIMEDOUT, "its cable was cut", 1};
  two.ranks[0].serve();
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].wait(guard, {PH_ANY_RANK, PH_LOCAL, nullptr}, 1000), PH_TIMEOUT);
  two.ranks.net().land(0);
  EXPECT_EQ(two.ranks[0].wait(guard, {PH_ANY_RANK, PH_LOCAL, nullptr}, 1000), PH_OK);
}

TEST_F(Lost, what_the_peer_is_known_to_have_read_is_not_called_lost) {
  for (std::uint64_t id = 1; id <= 20; ++id) {
    put(id, small_);
    two_.ranks.turn();
    two_.ranks.probe(1, PH_REMOTE);
  }
  put(21, small_, PH_DELIVERED);
  for (int i = 0; i < 3; ++i) two_.ranks.turn();
  two_.ranks.probe(0, PH_LOCAL);
  lose();
  EXPECT_EQ(two_.count(0, PH_LOCAL), 0u);
  EXPECT_EQ(flush(), PH_OK);
  EXPECT_EQ(finalize(), PH_OK);
}

TEST_F(Lost, who_left_in_order_has_lost_nothing_of_ours) {
  put(1, small_);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 1u);
  {
    LaneGuard guard(two_.ranks.lane(1));
    ASSERT_EQ(two_.ranks[1].finalize(guard), PH_OK);
  }
  two_.ranks[0].serve();
  EXPECT_EQ(two_.count(0, PH_LOCAL), 0u);
  EXPECT_EQ(finalize(), PH_OK);
}

TEST_F(Lost, a_flush_says_so_once_and_the_next_call_to_that_rank_each_time) {
  put(1, small_);
  lose();
  two_.ranks.probe(0, PH_LOCAL);
  EXPECT_EQ(flush(), PH_ERR_PEER);
  EXPECT_NE(said().find("rank 1"), std::string::npos) << said();
  EXPECT_NE(said().find("its cable was cut"), std::string::npos) << said();
  EXPECT_EQ(flush(), PH_OK);
  EXPECT_EQ(two_.ranks[0].put(1, two_.put(small_)), PH_ERR_PEER);
  EXPECT_EQ(finalize(), PH_OK) << "it was told";
}

TEST_F(Lost, finalize_says_so_where_nobody_has_flushed) {
  put(1, small_);
  lose();
  two_.ranks.probe(0, PH_LOCAL);
  EXPECT_EQ(finalize(), PH_ERR_PEER);
  EXPECT_NE(said().find("may not have arrived"), std::string::npos) << said();
}

// They go to visible keys, and nobody has noted what their callers call them.
TEST(LostCreditGrant, finalize_and_flush_say_that_there_were_some) {
  for (const bool flushes : {false, true}) {
    Two two;
    for (std::uint64_t id = 1; id <= 3; ++id) ASSERT_EQ(two.ranks[0].notify(1, id), PH_OK);
    two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, ETIMEDOUT, "its cable was cut", 1};
    two.ranks[0].serve();
    LaneGuard guard(two.ranks.lane(0));
    if (flushes) {
      EXPECT_EQ(two.ranks[0].flush(guard, PH_ANY_RANK, 1000), PH_ERR_PEER);
    }
    EXPECT_EQ(two.ranks[0].finalize(guard), flushes ? PH_OK : PH_ERR_PEER);
  }
}

TEST_F(Lost, to_a_process_that_has_ended_nothing_could_have_been_delivered) {
  put(1, small_);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 1u);
  two_.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "has ended", 1};
  two_.ranks[0].serve();
  EXPECT_EQ(two_.count(0, PH_LOCAL), 1u) << "the put is told all the same";
  EXPECT_EQ(flush(), PH_OK);
  EXPECT_EQ(finalize(), PH_OK);
}

// Rank 1 has read, and is known to have read, all that went before.
class LostAnnouncement : public Lost {
 protected:
  ph_status announce(ph_buffer_kind kind) {
    for (int i = 0; i < 15; ++i) {  // with the meeting's, a quarter of the ring
      EXPECT_EQ(two_.ranks[0].put(1, notice()), PH_OK);
      two_.ranks.take(1, PH_REMOTE);
    }
    ph_announce_args args{};
    args.size = sizeof args;
    args.kind = kind;
    args.tag = 3;
    args.buffer = bytes_.data();
    args.size_bytes = bytes_.size();
    args.local = id_of(two_.local_id);
    return api::announce(two_.ranks[0], 1, args);
  }
  std::vector<std::byte> bytes_ = filled(8, 4);
};

class EarlyAnnouncement : public LostAnnouncement,
                          public testing::WithParamInterface<ph_buffer_kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EarlyAnnouncement,
                         testing::Values(PH_SEND_BUFFER, PH_SEND_REQUEST));

TEST_P(EarlyAnnouncement, is_told_though_its_local_id_was_given) {
  ASSERT_EQ(announce(GetParam()), PH_OK);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 1u);
  lose();
  const auto found = two_.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, two_.local_id);
  EXPECT_EQ(found[0].status, PH_ERR_PEER);
  EXPECT_EQ(two_.ranks[0].resource_use().events, 0);
  EXPECT_EQ(two_.ranks[0].resource_use().requests, 0u);
  EXPECT_EQ(finalize(), PH_ERR_PEER);
}

TEST_F(LostAnnouncement, that_its_peer_has_finished_is_not_called_lost) {
  ASSERT_EQ(announce(PH_SEND_BUFFER), PH_OK);
  EXPECT_EQ(two_.count(0, PH_LOCAL), 1u);
  ph_buffer buffer{};
  ASSERT_TRUE(two_.ranks.eventually([&] {
    return api::test_buffer(two_.ranks[1], {PH_SEND_BUFFER, 0, 3, 8}, buffer) == PH_OK;
  }));
  ASSERT_EQ(api::finish(two_.ranks[1], buffer), PH_OK);
  two_.ranks.turn();
  lose();
  EXPECT_EQ(two_.count(0, PH_LOCAL), 0u);
  EXPECT_EQ(finalize(), PH_OK);
}

TEST_F(Lost, who_is_cut_off_for_nonsense_is_told_why) {
  auto& line = two_.ranks.net().way(1, 0).lines[1];                         // the meeting took one
  line.head.store(1 | std::uint64_t{77} << 16, std::memory_order_release);  // no such kind
  two_.ranks[0].serve();
  const auto& told = two_.ranks.net().seats[1].cut_off;
  ASSERT_EQ(told.count(0), 1u);
  EXPECT_NE(told.at(0).find("malformed record"), std::string::npos) << told.at(0);
}

}  // namespace
}  // namespace photon::engine::test
