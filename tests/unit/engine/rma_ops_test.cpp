// Puts and gets by NICs at their initiator: what is posted and when, names, the order of
// ids, and who waits for fragments.
#include <algorithm>
#include <numeric>

#include "posted_unit.hpp"

namespace photon::engine::test {
namespace {

class PostedBy : public testing::TestWithParam<Posting> {};
INSTANTIATE_TEST_SUITE_P(Postings, PostedBy, all_postings(), posting_name);

TEST_P(PostedBy, a_put_is_posted_in_fragments_that_cover_it_once) {
  Nics two(GetParam());
  ASSERT_EQ(two.put_fragments(3), PH_OK);
  ASSERT_EQ(two.posted().size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const PostedFragment& fragment = two.posted()[i];
    EXPECT_EQ(fragment.rank, 1u);
    EXPECT_EQ(fragment.key, two.region.key);
    EXPECT_EQ(fragment.address, two.region.address + i * kFragment);
    EXPECT_EQ(fragment.source, two.sources[0].data() + i * kFragment);
    EXPECT_EQ(fragment.destination, nullptr);
    EXPECT_EQ(fragment.size_bytes, i < 2 ? kFragment : kFragment - 96);
  }
}

// All orders in which three fragments may be over.
TEST_P(PostedBy, ids_come_after_the_last_fragment_in_whatever_order_they_land) {
  std::vector<std::size_t> order = {0, 1, 2};
  do {
    Nics two(GetParam());
    ASSERT_EQ(two.put_fragments(3), PH_OK);
    const auto fragments = two.posted();
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(two.local(), Ids());
      EXPECT_EQ(two.remote(), Ids());
      const auto place = std::count_if(order.begin(), order.begin() + static_cast<long>(i),
                                       [&](std::size_t one) { return one < order[i]; });
      two.land(order[i] - static_cast<std::size_t>(place));
      two.serve();
    }
    EXPECT_EQ(two.local(), Ids{two.local_id});
    EXPECT_EQ(two.remote(), Ids{two.remote_id});
    EXPECT_EQ(first_difference(two.memory.bytes().first(3 * kFragment - 96), 7),
              3 * kFragment - 96);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(PostedBy, the_id_goes_first_where_fragments_are_named_and_last_where_they_are_not) {
  Nics two(GetParam());
  const std::uint64_t line = 1;
  ASSERT_EQ(two.put_fragments(3), PH_OK);
  if (GetParam() == Posting::unnamed) {
    EXPECT_EQ(two.at(line).tag_word(), 0u) << "nothing was sent yet";
    for (const auto& fragment : two.posted()) EXPECT_FALSE(fragment.imm);
    two.land_all();
    EXPECT_EQ(two.sent(line).kind, wire::Kind::put);
    return;
  }
  EXPECT_EQ(two.sent(line).kind, kCounted);
  EXPECT_EQ(two.word_sent(line, 0), 3u);
  EXPECT_EQ(two.word_sent(line, 1), two.remote_id);
  for (const auto& fragment : two.posted()) EXPECT_EQ(fragment.imm, line) << "rank 0";
  two.land_all();
  EXPECT_EQ(two.at(line + 1).tag_word(), 0u) << "nothing more is sent";
}

TEST_P(PostedBy, a_put_of_one_fragment_is_one_fragment) {
  Nics two(GetParam());
  ASSERT_EQ(two.put_fragments(1), PH_OK);
  ASSERT_EQ(two.posted().size(), 1u);
  EXPECT_EQ(two.posted()[0].size_bytes, kFragment);
  two.land_all();
  EXPECT_EQ(two.remote(), Ids{two.remote_id});
}

TEST_P(PostedBy, long_ids_travel_whole) {
  Nics two(GetParam());
  const std::string id = "an id of more bytes than eight";
  const auto bytes = filled(2 * kFragment, 7);
  ph_put_args args = two.put(bytes);
  args.local = args.remote = {id.data(), static_cast<std::uint32_t>(id.size())};
  ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
  two.land_all();
  two.serve(1);
  two.expect_long_ids(id);
}

TEST_P(PostedBy, a_full_queue_takes_the_next_fragment_when_one_is_over) {
  FakeOptions chosen = nics(GetParam());
  chosen.nic_queue = 2;
  Nics two(chosen);
  ASSERT_EQ(two.put_fragments(5), PH_OK);
  for (unsigned over = 0; over < 3; ++over) {
    EXPECT_EQ(two.seat().posted_count, 2 + over);
    two.land();
    two.serve();
  }
  EXPECT_EQ(two.seat().posted_count, 5u);
  two.land_all();
  EXPECT_EQ(two.seat().posted_count, 5u);
  EXPECT_EQ(two.local(), Ids{two.local_id});
  EXPECT_EQ(two.remote(), Ids{two.remote_id});
}

TEST_P(PostedBy, flags_say_which_ids_are_told) {
  constexpr std::uint32_t kFlags[] = {0,
                                      PH_NO_LCE,
                                      PH_NO_RCE,
                                      PH_NO_LCE | PH_NO_RCE,
                                      PH_DELIVERED,
                                      PH_DELIVERED | PH_NO_RCE,
                                      PH_ORDER_NONE};
  for (const std::uint32_t flags : kFlags) {
    SCOPED_TRACE(flags);
    Nics two(GetParam());
    ASSERT_EQ(two.put_fragments(2, flags), PH_OK);
    if ((flags & PH_NO_RCE) != 0) {
      for (const auto& fragment : two.posted()) EXPECT_FALSE(fragment.imm);
    }
    two.land();
    two.serve();
    EXPECT_EQ(two.local(), Ids());
    two.land_all();  // rank 1's application does nothing, also for PH_DELIVERED
    EXPECT_EQ(two.local(), (flags & PH_NO_LCE) != 0 ? Ids() : Ids{two.local_id});
    EXPECT_EQ(two.remote(), (flags & PH_NO_RCE) != 0 ? Ids() : Ids{two.remote_id});
  }
}

TEST_P(PostedBy, a_get_lands_and_then_tells_both_sides) {
  Nics two(GetParam());
  fill(two.memory.bytes(), 3);
  std::vector<std::byte> landing(3 * kFragment - 5);
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing)), PH_OK);
  two.serve();
  ASSERT_EQ(two.posted().size(), 3u);
  for (const auto& fragment : two.posted()) {
    EXPECT_EQ(fragment.source, nullptr);
    EXPECT_FALSE(fragment.imm) << "only writes tell the target";
  }
  two.land(2);
  two.land(0);
  two.serve();
  EXPECT_EQ(two.local(), Ids());
  EXPECT_EQ(two.remote(), Ids());
  two.land_all();
  EXPECT_EQ(two.local(), Ids{two.local_id});
  EXPECT_EQ(two.remote(), Ids{two.remote_id});
  EXPECT_EQ(first_difference(landing, 3), landing.size());
}

TEST_P(PostedBy, a_notice_accepted_get_waits_for_the_owners_ledger) {
  Nics two(GetParam());
  std::vector<std::byte> landing(2 * kFragment);
  two.fill_ledger();
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing, PH_NOTICE_ACCEPTED)), PH_OK);
  two.land_all();
  EXPECT_EQ(two.local(), Ids());
  EXPECT_EQ(two.remote().size(), 4u);
  two.serve();
  EXPECT_EQ(two.local(), Ids{two.local_id});
  EXPECT_EQ(two.remote(), Ids{two.remote_id});
}

// Bytes wait for no application (docs/flow-control.md, "Two credits"); ids do.
TEST_P(PostedBy, without_ledger_credit_the_bytes_land_without_the_application) {
  Nics two(GetParam());
  two.fill_ledger();
  ASSERT_EQ(two.put_as(1, 11, 2), PH_OK);
  ASSERT_EQ(two.put_as(2, 12, 2, PH_ORDER_NONE), PH_OK);
  ASSERT_EQ(two.posted().size(), 4u);
  for (const auto& fragment : two.posted()) EXPECT_FALSE(fragment.imm);
  two.land_all();
  EXPECT_EQ(two.local(), Ids());
  EXPECT_EQ(two.remote(), (Ids{100, 101, 102, 103}));
  two.serve();
  EXPECT_EQ(two.remote(), (Ids{11, 12}));
  EXPECT_EQ(two.local(), (Ids{1, 2}));
}

TEST_P(PostedBy, ids_come_in_posting_order_however_the_fragments_land) {
  Nics two(GetParam());
  ASSERT_EQ(two.put_as(1, 11, 2), PH_OK);
  ASSERT_EQ(two.put_as(2, 12, 1), PH_OK);
  ASSERT_EQ(two.ranks[0].put(1, two.notice(13)), PH_OK);
  two.land(2);
  two.serve();
  EXPECT_EQ(two.remote(), Ids());
  two.land_all();
  EXPECT_EQ(two.remote(), (Ids{11, 12, 13}));
}

TEST_P(PostedBy, a_fence_waits_for_fragments) {
  Nics two(GetParam());
  ASSERT_EQ(two.put_fragments(2, PH_NO_RCE), PH_OK);
  EXPECT_EQ(two.ranks[0].fence(1), PH_OK);
  ASSERT_EQ(two.put_as(3, 33, 1), PH_OK);
  ASSERT_EQ(two.ranks[0].put(1, two.notice(34)), PH_OK);
  two.land();
  two.serve();
  EXPECT_EQ(two.posted().size(), 1u) << "of the first put";
  EXPECT_EQ(two.at(1).tag_word(), 0u) << "a record has gone past the fence";
  EXPECT_EQ(two.remote(), Ids());
  two.land_all();
  EXPECT_EQ(two.remote(), (Ids{33, 34}));
}

TEST_P(PostedBy, a_flush_waits_for_fragments_of_puts_and_gets) {
  for (const bool is_get : {false, true}) {
    Nics two(GetParam());
    std::vector<std::byte> landing(2 * kFragment);
    if (is_get) {
      ASSERT_EQ(two.ranks[0].get(1, two.get(landing, PH_NO_RCE)), PH_OK);
    } else {
      ASSERT_EQ(two.put_fragments(2, PH_NO_RCE), PH_OK);
    }
    for (const std::size_t left : {2u, 1u}) {
      two.serve();
      EXPECT_EQ(two.posted().size(), left);
      LaneGuard guard(two.ranks.lane(0));
      EXPECT_EQ(two.ranks[0].flush(guard, 1, 0), PH_TIMEOUT);
      two.land();
    }
    LaneGuard guard(two.ranks.lane(0));
    EXPECT_EQ(two.ranks[0].flush(guard, 1, 20'000'000), PH_OK);
    EXPECT_EQ(two.local(), Ids{two.local_id});
  }
}

TEST_P(PostedBy, finalize_waits_for_fragments) {
  Nics two(GetParam());
  ASSERT_EQ(two.put_fragments(3), PH_OK);
  const std::uint64_t tail = two.tail();
  two.seat().at_sleep = [&] {
    if (two.posted().empty()) return false;
    EXPECT_EQ(two.tail(), tail) << "it said bye before its fragments were over";
    two.land();
    return true;
  };
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_OK);
  EXPECT_TRUE(two.posted().empty());
  EXPECT_GT(two.tail(), tail);
  EXPECT_EQ(two.remote(), Ids{two.remote_id});
}

TEST_P(PostedBy, finalize_names_the_rank_whose_nic_does_not_answer) {
  FakeOptions chosen = nics(GetParam());
  chosen.config.finalize_timeout_ms = 30;
  Nics two(chosen);
  ASSERT_EQ(two.put_fragments(3), PH_OK);
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_TIMEOUT);
  EXPECT_NE(two.ranks[0].last_error().what.find("ranks 1 "), std::string::npos);
}

// A key is stale before the NICs are asked to let go of it, and they are before its slot is free.
TEST_P(PostedBy, unregister_makes_the_nics_let_go) {
  Nics two(GetParam());
  auto& owner = two.ranks.net().seats[1];
  const auto before = owner.quiesces_count;
  std::vector<std::byte> other(64);
  const ph_region kept = two.ranks.add(1, other);
  EXPECT_EQ(remove_region(two.ranks[1], two.region.key), PH_OK);
  EXPECT_GT(owner.quiesces_count, before);
  EXPECT_EQ(owner.live_keys, std::vector<std::uint64_t>{kept.key});
}

}  // namespace
}  // namespace photon::engine::test
