// Pieces that a card refuses, and peers that are lost with pieces under way.
#include <algorithm>
#include <map>

#include "posted_unit.hpp"

namespace photon::engine::test {
namespace {

class PostedRefused : public testing::TestWithParam<Posting> {
 protected:
  // The only local completion, with an error; nothing more comes, here or there.
  static void expect_failed(Cards& two, ph_status why) {
    const auto found = two.ranks.probe(0, PH_LOCAL);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].status, why);
    EXPECT_EQ(found[0].id, two.local_id);
    EXPECT_EQ(found[0].outstanding, 0u);
    EXPECT_EQ(two.ranks[0].last_error().status, why);
    EXPECT_EQ(two.ranks[0].last_error().rank, 1u);
    two.serve();
    EXPECT_EQ(two.remote(), Ids());
    EXPECT_EQ(two.local(), Ids());
  }
  // Everything goes on: names, ledger credit, records.
  static void expect_the_way_is_good(Cards& two) {
    for (std::uint64_t i = 0; i < 9; ++i) {
      ASSERT_EQ(two.put_as(i, 50 + i, 2), PH_OK);
      two.land_all();
      EXPECT_EQ(two.local(), Ids{i});
      EXPECT_EQ(two.remote(), Ids{50 + i});
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Postings, PostedRefused, all_postings(), posting_name);

// Each of three pieces, in all orders in which they may be over.
TEST_P(PostedRefused, a_refused_piece_takes_its_id_with_it) {
  for (std::size_t refused = 0; refused < 3; ++refused) {
    std::vector<std::size_t> order = {0, 1, 2};
    do {
      SCOPED_TRACE(refused);
      Cards two(GetParam());
      ASSERT_EQ(two.put_pieces(3), PH_OK);
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(two.ranks.probe(0, PH_LOCAL).empty()) << "pieces are under way";
        const auto place = std::count_if(order.begin(), order.begin() + static_cast<long>(i),
                                         [&](std::size_t one) { return one < order[i]; });
        const std::size_t index = order[i] - static_cast<std::size_t>(place);
        if (order[i] == refused)
          two.refuse(PH_ERR_RANGE, index);
        else
          two.land(index);
        two.serve();
        EXPECT_EQ(two.remote(), Ids());
      }
      expect_failed(two, PH_ERR_RANGE);
      EXPECT_NE(two.ranks[0].last_error().what.find("put of 12192 bytes"), std::string::npos);
      expect_the_way_is_good(two);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_P(PostedRefused, nothing_is_posted_after_a_refusal_and_the_error_comes_after_the_last) {
  FakeOptions chosen = cards(GetParam());
  chosen.card_queue = 3;
  Cards two(chosen);
  ASSERT_EQ(two.put_pieces(8), PH_OK);
  ASSERT_EQ(two.seat().posted_count, 3u);
  two.refuse();
  two.serve();
  EXPECT_EQ(two.seat().posted_count, 3u);
  EXPECT_TRUE(two.ranks.probe(0, PH_LOCAL).empty()) << "the cards still read its source";
  two.land();
  two.serve();
  EXPECT_TRUE(two.ranks.probe(0, PH_LOCAL).empty());
  two.refuse(PH_ERR_ACCESS);
  two.serve();
  EXPECT_EQ(two.seat().posted_count, 3u);
  expect_failed(two, PH_ERR_KEY);  // the first that was refused
  expect_the_way_is_good(two);
}

TEST_P(PostedRefused, all_pieces_posted_so_far_may_be_over_before_the_next_could_go) {
  FakeOptions chosen = cards(GetParam());
  chosen.card_queue = 1;
  Cards two(chosen);
  ASSERT_EQ(two.put_pieces(3), PH_OK);
  two.land();
  two.serve();
  two.refuse();
  two.serve();
  EXPECT_EQ(two.seat().posted_count, 2u);
  expect_failed(two, PH_ERR_KEY);
  expect_the_way_is_good(two);
}

TEST_P(PostedRefused, an_error_is_told_whatever_the_flags) {
  constexpr std::uint32_t kFlags[] = {PH_NO_LCE, PH_NO_LCE | PH_NO_RCE, PH_DELIVERED, PH_ORDER_NONE,
                                      PH_NO_RCE};
  for (const std::uint32_t flags : kFlags) {
    SCOPED_TRACE(flags);
    Cards two(GetParam());
    ASSERT_EQ(two.put_pieces(2, flags), PH_OK);
    two.land();
    two.refuse();
    two.serve();
    expect_failed(two, PH_ERR_KEY);
    expect_the_way_is_good(two);
  }
}

TEST_P(PostedRefused, a_refused_get_tells_nobody_but_its_caller) {
  FakeOptions chosen = cards(GetParam());
  chosen.card_queue = 2;
  Cards two(chosen);
  std::vector<std::byte> landing(5 * kPiece);
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing, PH_NOTICE_ACCEPTED)), PH_OK);
  two.serve();
  two.refuse(PH_ERR_ACCESS, 1);
  two.serve();
  EXPECT_EQ(two.seat().posted_count, 2u);
  EXPECT_TRUE(two.ranks.probe(0, PH_LOCAL).empty()) << "a card still writes to its destination";
  two.land();
  two.serve();
  expect_failed(two, PH_ERR_ACCESS);
  EXPECT_NE(two.ranks[0].last_error().what.find("get of 20480 bytes"), std::string::npos);
  expect_the_way_is_good(two);
}

TEST_P(PostedRefused, ids_behind_a_refused_put_come) {
  Cards two(GetParam());
  ASSERT_EQ(two.put_as(1, 11, 1), PH_OK);
  ASSERT_EQ(two.put_as(2, 12, 1), PH_OK);
  ASSERT_EQ(two.ranks[0].put(1, two.notice(13)), PH_OK);
  EXPECT_EQ(two.remote(), Ids());
  two.refuse();
  two.land_all();
  EXPECT_EQ(two.ranks.probe(0, PH_LOCAL).size(), 2u);
  EXPECT_EQ(two.remote(), (Ids{12, 13}));
  expect_the_way_is_good(two);
}

TEST_P(PostedRefused, a_fence_and_a_flush_end_after_a_refusal) {
  Cards two(GetParam());
  ASSERT_EQ(two.put_pieces(2), PH_OK);
  EXPECT_EQ(two.ranks[0].fence(1), PH_OK);
  two.refuse();
  two.refuse();
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].flush(guard, 1, 20'000'000), PH_OK);
  expect_failed(two, PH_ERR_KEY);
}

TEST_P(PostedRefused, finalize_tells_of_a_refusal_that_nobody_probed) {
  Cards two(GetParam());
  ASSERT_EQ(two.put_pieces(2), PH_OK);
  two.refuse();
  two.refuse();
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_ERR_KEY);
  EXPECT_NE(two.ranks[0].last_error().what.find("rank 1"), std::string::npos);
}

// The news of the refusal waits for a line behind other answers: the record that takes the next
// line must not be taken for the old one. Rank 1 stands still until the ring is full.
TEST(PostedRefusedNames, a_name_is_not_given_again_before_its_withdrawal_is_sent) {
  Cards two;
  ASSERT_EQ(two.put_as(1, 11, 1), PH_OK);  // its record stands at line 1
  two.serve(1);
  two.fill_ring();
  ASSERT_EQ(two.tail(), 64u) << "one answer, and line 65 stands where line 1 stood";
  std::vector<std::byte> bytes(64);
  const ph_region mine = two.ranks.add(0, bytes);
  for (int i = 0; i < 2; ++i) {  // rank 0 owes two answers
    ph_put_args asked = put_args({bytes.data(), 8}, ph_at(&mine, 0), two.local_id, two.remote_id);
    asked.flags = PH_DELIVERED | PH_NO_RCE;
    ASSERT_EQ(two.ranks[1].put(0, asked), PH_OK);
  }
  two.serve();
  two.refuse();
  two.serve();
  ASSERT_EQ(two.ranks.probe(0, PH_LOCAL).size(), 1u);
  ASSERT_EQ(two.put_as(2, 12, 1), PH_OK);
  for (int i = 0; i < 20; ++i) two.ranks.turn();
  two.land_all();
  EXPECT_EQ(two.remote(), Ids{12});
  EXPECT_EQ(two.ranks[1].put(0, two.notice(1)), PH_OK) << two.ranks[1].last_error().what;
}

// Pieces overtake records: rank 1 would count the new one for the old line.
TEST(PostedRefusedNames, a_name_is_not_given_again_before_its_withdrawal_was_read) {
  Cards two;
  ASSERT_EQ(two.put_as(1, 11, 1), PH_OK);  // its record stands at line 1
  two.go_to_line(64);
  two.refuse();
  two.serve();
  ASSERT_EQ(two.tail(), 65u) << "the withdrawal";
  ASSERT_EQ(two.put_as(2, 12, 1), PH_OK);
  ASSERT_EQ(two.posted().size(), 1u);
  EXPECT_FALSE(two.posted()[0].name);
  two.land_all();
  EXPECT_EQ(two.remote(), Ids{12});
  two.go_to_line(129);
  ASSERT_EQ(two.put_as(3, 13, 1), PH_OK);
  EXPECT_EQ(two.posted().at(0).name, 129u);
  two.land_all();
  EXPECT_EQ(two.remote(), Ids{13});
}

class PostedLost : public testing::TestWithParam<Posting> {
 protected:
  void lose(Cards& two) { two.seat().gone[1] = {PH_ERR_PEER, 0, "it has ended", 1}; }
};
INSTANTIATE_TEST_SUITE_P(Postings, PostedLost, all_postings(), posting_name);

TEST_P(PostedLost, each_operation_ends_once_with_an_error_after_the_cards_let_go) {
  FakeOptions chosen = cards(GetParam());
  chosen.card_queue = 6;
  Cards two(chosen);
  std::vector<std::byte> landing(2 * kPiece);
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
  EXPECT_EQ(ended, (Ended{{1, 1}, {4, 1}, {5, 1}})) << "of 2 and 3 cards still use the memory";
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

TEST_P(PostedLost, finalize_waits_until_cards_let_go_of_a_lost_peers_operations) {
  Cards two(GetParam());
  ASSERT_EQ(two.put_pieces(2), PH_OK);
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

// A card only finds that nobody is there.
TEST_P(PostedLost, how_a_peer_ended_is_said_by_its_end) {
  for (const bool in_order : {false, true}) {
    Cards two(GetParam());
    two.serve(1);
    ASSERT_EQ(two.put_pieces(2), PH_OK);
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
  Cards two(GetParam());
  two.fill_ledger();
  ASSERT_EQ(two.put_pieces(2), PH_OK);
  two.land_all();
  EXPECT_EQ(two.local(), Ids{two.local_id});
  lose(two);
  two.serve();
  const auto found = two.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, PH_ERR_PEER);
  EXPECT_EQ(found[0].id, two.local_id);
}

// A transport that tells twice, or of what nobody posted.
TEST_P(PostedLost, answers_for_nothing_change_nothing) {
  Cards two(GetParam());
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

// Its engine stands still; the test writes the token of what a card moves into its ring.
TEST_P(PostedLost, a_peer_that_answers_what_a_card_moves_is_cut_off) {
  struct Forgery {
    wire::Kind kind;
    std::uint64_t second, third;
  };
  FakeOptions chosen = cards(GetParam());
  chosen.card_queue = 1;  // so that there is a rest that could be answered
  for (const Forgery& forged :
       {Forgery{wire::Kind::get_data, 0, 64}, Forgery{wire::Kind::get_data, kPiece, 64},
        Forgery{wire::Kind::get_failed, static_cast<std::uint64_t>(PH_ERR_KEY), 0}})
    for (const bool is_get : {true, false}) {
      Cards two(chosen);
      Guarded landing(2 * kPiece);
      if (is_get) {
        ASSERT_EQ(two.ranks[0].get(1, two.get(landing.bytes())), PH_OK);
      } else {
        ASSERT_EQ(two.put_pieces(2), PH_OK);
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
      EXPECT_TRUE(two.ranks.probe(0, PH_LOCAL).empty()) << "a card is still at it";
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
