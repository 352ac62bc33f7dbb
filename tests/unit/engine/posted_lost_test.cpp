// Peers that are lost, or leave, with fragments under way.
#include <map>

#include "posted_unit.hpp"

namespace photon::engine::test {
namespace {

class PostedLost : public testing::TestWithParam<Posting> {
 protected:
  void lose(Nics& two) { two.seat().gone[1] = {PH_ERR_PEER, 0, "it has ended", 1}; }
};
INSTANTIATE_TEST_SUITE_P(Postings, PostedLost, all_postings(), posting_name);

TEST_P(PostedLost, each_operation_ends_once_with_an_error_after_the_nics_let_go) {
  FakeOptions chosen = nics(GetParam());
  chosen.nic_queue = 6;
  Nics two(chosen);
  std::vector<std::byte> landing(2 * kFragment);
  ASSERT_EQ(two.put_as(1, 11, 2), PH_OK);
  ASSERT_EQ(two.put_as(2, 12, 2, PH_NO_RCE), PH_OK);
  two.local_id = 3;
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing)), PH_OK);
  ASSERT_EQ(two.put_as(4, 14, 3, PH_NO_LCE), PH_OK);  // the queue is full
  ASSERT_EQ(two.put_as(5, 15, 3, PH_ORDER_NONE), PH_OK);
  ASSERT_EQ(two.posted().size(), 6u);
  two.land(1);   // told before it is lost
  two.refuse();  // and so is this
  two.land(2);
  lose(two);
  using Ended = std::map<std::uint64_t, unsigned>;
  Ended ended;
  const auto take = [&] {
    two.serve();
    for (const ph_completion& one : two.ranks.probe(0, PH_LOCAL)) {
      ++ended[one.id];
      EXPECT_EQ(one.status, one.id == 1 ? PH_ERR_KEY : PH_ERR_PEER) << one.id;
    }
  };
  take();
  EXPECT_EQ(ended, (Ended{{1, 1}, {4, 1}, {5, 1}})) << "of 2 and 3 NICs still use the memory";
  ASSERT_EQ(two.posted().size(), 3u);
  two.refuse(PH_ERR_PEER);
  take();
  EXPECT_EQ(ended.count(2), 0u);
  two.refuse(PH_ERR_PEER);
  take();
  EXPECT_EQ(ended, (Ended{{1, 1}, {2, 1}, {4, 1}, {5, 1}}));
  two.land();
  take();
  EXPECT_EQ(ended, (Ended{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}));
}

TEST_P(PostedLost, finalize_waits_until_nics_let_go_of_a_lost_peers_operations) {
  Nics two(GetParam());
  ASSERT_EQ(two.put_fragments(2), PH_OK);
  lose(two);
  two.serve();
  ASSERT_EQ(two.posted().size(), 2u);
  two.seat().at_sleep = [&] {
    if (two.posted().empty()) return false;
    two.refuse(PH_ERR_PEER);
    return true;
  };
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_ERR_PEER);
  EXPECT_TRUE(two.posted().empty());
}

// Until a NIC has let go of its memory an operation is not over, and there is something to wait
// for.
TEST_P(PostedLost, a_wait_for_its_local_ids_does_not_end_before_they_came) {
  Nics two(GetParam());
  ASSERT_EQ(two.put_fragments(1), PH_OK);
  lose(two);
  two.serve();
  const auto wait = [&](std::uint32_t kinds) {
    LaneGuard guard(two.ranks.lane(0));
    return two.ranks[0].wait(guard, {1, kinds, nullptr}, 0);
  };
  EXPECT_EQ(wait(PH_LOCAL), PH_TIMEOUT);
  EXPECT_EQ(wait(PH_REMOTE), PH_ERR_PEER);
  two.land();
  EXPECT_EQ(wait(PH_LOCAL), PH_OK);
  EXPECT_EQ(two.ranks.probe(0, PH_LOCAL).size(), 1u);
  EXPECT_EQ(wait(PH_LOCAL), PH_ERR_PEER);
}

// A rank that leaves says so in its ring; then its key is stale, and its NIC refuses.
TEST_P(PostedLost, a_refusal_by_one_that_left_is_told_as_that) {
  Nics two(GetParam());
  two.serve(1);
  ASSERT_EQ(two.put_fragments(2), PH_OK);
  {
    LaneGuard guard(two.ranks.lane(1));
    EXPECT_EQ(two.ranks[1].finalize(guard), PH_OK);
  }
  two.refuse(PH_ERR_KEY);
  two.refuse(PH_ERR_KEY);
  two.ranks[0].serve();
  two.ranks[0].serve();
  const auto found = two.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, PH_ERR_DEPARTED);
}

// Its NIC had moved the bytes, and ours says so late: what was probed did not fail.
TEST_P(PostedLost, a_put_that_landed_before_its_peer_left_did_not_fail) {
  for (const std::uint32_t flags : {0u, std::uint32_t{PH_DELIVERED}, std::uint32_t{PH_NO_RCE}}) {
    Nics two(GetParam());
    two.serve(1);
    ASSERT_EQ(two.put_fragments(2, flags), PH_OK);
    two.land();
    {
      LaneGuard guard(two.ranks.lane(1));
      EXPECT_EQ(two.ranks[1].finalize(guard), PH_OK);
    }
    two.ranks[0].serve();
    EXPECT_TRUE(two.ranks.probe(0, PH_LOCAL).empty()) << "a NIC still reads its source";
    two.land();
    two.ranks[0].serve();
    const auto found = two.ranks.probe(0, PH_LOCAL);
    ASSERT_EQ(found.size(), 1u);
    const bool is_lost = GetParam() == Posting::unnamed && (flags & PH_NO_RCE) == 0;
    EXPECT_EQ(found[0].status, is_lost ? PH_ERR_DEPARTED : PH_OK) << "its id had not gone";
  }
}

// A NIC only finds that nobody is there.
TEST_P(PostedLost, how_a_peer_ended_is_said_by_its_end) {
  for (const bool in_order : {false, true}) {
    Nics two(GetParam());
    two.serve(1);
    ASSERT_EQ(two.put_fragments(2), PH_OK);
    two.refuse(PH_ERR_PEER);
    two.refuse(PH_ERR_PEER);
    two.ranks[0].serve();
    EXPECT_TRUE(two.ranks.probe(0, PH_LOCAL).empty());
    if (in_order) {
      LaneGuard guard(two.ranks.lane(1));
      EXPECT_EQ(two.ranks[1].finalize(guard), PH_OK);
    } else {
      lose(two);
    }
    two.serve();
    const auto found = two.ranks.probe(0, PH_LOCAL);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].status, in_order ? PH_ERR_DEPARTED : PH_ERR_PEER);
    EXPECT_EQ(found[0].id, two.local_id);
  }
}

TEST_P(PostedLost, an_id_that_waited_for_credit_is_told_as_lost) {
  Nics two(GetParam());
  two.fill_ledger();
  ASSERT_EQ(two.put_fragments(2), PH_OK);
  two.land_all();
  EXPECT_EQ(two.local(), Ids()) << "its id has not gone";
  lose(two);
  two.serve();
  const auto found = two.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, PH_ERR_PEER);
  EXPECT_EQ(found[0].id, two.local_id);
}

// A transport that tells twice, or of what nobody posted.
TEST_P(PostedLost, answers_for_nothing_change_nothing) {
  Nics two(GetParam());
  ASSERT_EQ(two.put_as(1, 11, 2), PH_OK);
  const std::uint64_t token = two.posted()[0].token;
  two.land_all();
  EXPECT_EQ(two.local(), Ids{1});
  EXPECT_EQ(two.remote(), Ids{11});
  ASSERT_EQ(two.put_as(2, 12, 2), PH_OK);  // in the same place of the table
  for (const std::uint64_t stale : {token, token ^ 1, ~std::uint64_t{0}, std::uint64_t{0}})
    two.seat().done.push_back({1, stale, PH_ERR_KEY});
  two.serve();
  EXPECT_TRUE(two.ranks.probe(0, PH_LOCAL).empty());
  two.land_all();
  EXPECT_EQ(two.local(), Ids{2});
  EXPECT_EQ(two.remote(), Ids{12});
}

// Its engine stands still; the test writes the token of what a NIC moves into its ring.
TEST_P(PostedLost, a_peer_that_answers_what_a_nic_moves_is_cut_off) {
  struct Forgery {
    wire::Kind kind;
    std::uint64_t second, third;
  };
  FakeOptions chosen = nics(GetParam());
  chosen.nic_queue = 1;  // so that there is a rest that could be answered
  for (const Forgery& forged :
       {Forgery{wire::Kind::get_data, 0, 64}, Forgery{wire::Kind::get_data, kFragment, 64},
        Forgery{wire::Kind::get_failed, static_cast<std::uint64_t>(PH_ERR_KEY), 0}})
    for (const bool is_get : {true, false}) {
      Nics two(chosen);
      Guarded landing(2 * kFragment);
      if (is_get) {
        ASSERT_EQ(two.ranks[0].get(1, two.get(landing.bytes())), PH_OK);
      } else {
        ASSERT_EQ(two.put_fragments(2), PH_OK);
      }
      two.serve();
      transport::Credits all_free{};
      LineProducer producer(two.ranks.link(1, 0).tx_lines, &all_free, 6);
      producer.publish(wire::encode(wire::Kind::put, wire::kNoId, 0), 1);  // met: it was read
      const std::uint64_t words[] = {two.posted().at(0).token, forged.second, forged.third};
      for (int i = 0; i < 3; ++i) producer.line(0).words[i].set(words[i]);
      producer.publish(wire::encode(forged.kind, wire::kNoId, 0), 1);
      two.serve();
      EXPECT_EQ(two.ranks[0].put(1, two.notice(1)), PH_ERR_PROTOCOL);
      EXPECT_TRUE(two.ranks.probe(0, PH_LOCAL).empty()) << "a NIC is still at it";
      two.refuse(PH_ERR_PEER);
      two.serve();
      const auto found = two.ranks.probe(0, PH_LOCAL);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_EQ(found[0].status, PH_ERR_PROTOCOL);
      EXPECT_TRUE(landing.untouched());
    }
}

}  // namespace
}  // namespace photon::engine::test
