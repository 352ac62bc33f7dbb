// Fragments that a NIC refuses.
#include <algorithm>

#include "posted_unit.hpp"

namespace photon::engine::test {
namespace {

class PostedRefused : public testing::TestWithParam<Posting> {
 protected:
  // The only local completion, with an error; nothing more comes, here or there.
  static void expect_failed(Nics& two, ph_status why) {
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
  static void expect_the_way_is_good(Nics& two) {
    for (std::uint64_t i = 0; i < 9; ++i) {
      ASSERT_EQ(two.put_as(i, 50 + i, 2), PH_OK);
      two.land_all();
      EXPECT_EQ(two.local(), Ids{i});
      EXPECT_EQ(two.remote(), Ids{50 + i});
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Postings, PostedRefused, all_postings(), posting_name);

// Each of three fragments, in all orders in which they may be over.
TEST_P(PostedRefused, a_refused_fragment_takes_its_id_with_it) {
  for (std::size_t refused = 0; refused < 3; ++refused) {
    std::vector<std::size_t> order = {0, 1, 2};
    do {
      SCOPED_TRACE(refused);
      Nics two(GetParam());
      ASSERT_EQ(two.put_fragments(3), PH_OK);
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(two.ranks.probe(0, PH_LOCAL).empty()) << "fragments are under way";
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
  FakeOptions chosen = nics(GetParam());
  chosen.nic_queue = 3;
  Nics two(chosen);
  ASSERT_EQ(two.put_fragments(8), PH_OK);
  ASSERT_EQ(two.seat().posted_count, 3u);
  two.refuse();
  two.serve();
  EXPECT_EQ(two.seat().posted_count, 3u);
  EXPECT_TRUE(two.ranks.probe(0, PH_LOCAL).empty()) << "the NICs still read its source";
  two.land();
  two.serve();
  EXPECT_TRUE(two.ranks.probe(0, PH_LOCAL).empty());
  two.refuse(PH_ERR_ACCESS);
  two.serve();
  EXPECT_EQ(two.seat().posted_count, 3u);
  expect_failed(two, PH_ERR_KEY);  // the first that was refused
  expect_the_way_is_good(two);
}

TEST_P(PostedRefused, all_fragments_posted_so_far_may_be_over_before_the_next_could_go) {
  FakeOptions chosen = nics(GetParam());
  chosen.nic_queue = 1;
  Nics two(chosen);
  ASSERT_EQ(two.put_fragments(3), PH_OK);
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
    Nics two(GetParam());
    ASSERT_EQ(two.put_fragments(2, flags), PH_OK);
    two.land();
    two.refuse();
    two.serve();
    expect_failed(two, PH_ERR_KEY);
    expect_the_way_is_good(two);
  }
}

TEST_P(PostedRefused, a_refused_get_tells_nobody_but_its_caller) {
  FakeOptions chosen = nics(GetParam());
  chosen.nic_queue = 2;
  Nics two(chosen);
  std::vector<std::byte> landing(5 * kFragment);
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing, PH_NOTICE_ACCEPTED)), PH_OK);
  two.serve();
  two.refuse(PH_ERR_ACCESS, 1);
  two.serve();
  EXPECT_EQ(two.seat().posted_count, 2u);
  EXPECT_TRUE(two.ranks.probe(0, PH_LOCAL).empty()) << "a NIC still writes to its destination";
  two.land();
  two.serve();
  expect_failed(two, PH_ERR_ACCESS);
  EXPECT_NE(two.ranks[0].last_error().what.find("get of 20480 bytes"), std::string::npos);
  expect_the_way_is_good(two);
}

TEST_P(PostedRefused, ids_behind_a_refused_put_come) {
  Nics two(GetParam());
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
  Nics two(GetParam());
  ASSERT_EQ(two.put_fragments(2), PH_OK);
  EXPECT_EQ(two.ranks[0].fence(1), PH_OK);
  two.refuse();
  two.refuse();
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].flush(guard, 1, 20'000'000), PH_OK);
  expect_failed(two, PH_ERR_KEY);
}

TEST_P(PostedRefused, finalize_tells_of_a_refusal_that_nobody_probed) {
  Nics two(GetParam());
  ASSERT_EQ(two.put_fragments(2), PH_OK);
  two.refuse();
  two.refuse();
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_ERR_KEY);
  EXPECT_NE(two.ranks[0].last_error().what.find("rank 1"), std::string::npos);
}

// The news of the refusal waits for a line behind other answers: the record that takes the next
// line must not be taken for the old one. Rank 1 stands still until the ring is full.
TEST(PostedRefusedNames, a_name_is_not_given_again_before_its_withdrawal_is_sent) {
  Nics two;
  ASSERT_EQ(two.put_as(1, 11, 1), PH_OK);  // its record stands at line 1
  two.serve(1);
  two.fill_ring();
  ASSERT_EQ(two.tail(), 63u) << "two answers, and line 65 stands where line 1 stood";
  std::vector<std::byte> bytes(64);
  const ph_region mine = two.ranks.add(0, bytes);
  for (int i = 0; i < 3; ++i) {  // rank 0 owes three answers
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

// Fragments overtake records: rank 1 would count the new one for the old line.
TEST(PostedRefusedNames, a_name_is_not_given_again_before_its_withdrawal_was_read) {
  Nics two;
  ASSERT_EQ(two.put_as(1, 11, 1), PH_OK);  // its record stands at line 1
  two.go_to_line(64);
  two.refuse();
  two.serve();
  ASSERT_EQ(two.tail(), 65u) << "the withdrawal";
  ASSERT_EQ(two.put_as(2, 12, 1), PH_OK);
  ASSERT_EQ(two.posted().size(), 1u);
  EXPECT_FALSE(two.posted()[0].imm);
  two.land_all();
  EXPECT_EQ(two.remote(), Ids{12});
  two.go_to_line(129);
  ASSERT_EQ(two.put_as(3, 13, 1), PH_OK);
  EXPECT_EQ(two.posted().at(0).imm, 129u);
  two.land_all();
  EXPECT_EQ(two.remote(), Ids{13});
}

}  // namespace
}  // namespace photon::engine::test
