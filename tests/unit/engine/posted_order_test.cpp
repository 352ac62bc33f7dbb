// Which posted puts are named, when a name is still in use, and credits that are missing.
#include "posted_unit.hpp"

namespace photon::engine::test {
namespace {

// Rank 0's engine with the ids of a put to come: its bytes are under way, unnamed, and there is
// ledger credit again.
struct Unnamed : Nics {
  Unnamed() {
    fill_ledger();
    EXPECT_EQ(put_as(1, 11, 1), PH_OK);
    EXPECT_FALSE(posted().at(0).imm);
    EXPECT_EQ(remote().size(), 4u);
    serve();
  }
};

TEST(PostedOrder, a_put_that_is_not_at_its_turn_goes_unnamed_and_comes_in_order) {
  Unnamed two;
  ASSERT_EQ(two.put_as(2, 12, 2), PH_OK);
  ASSERT_EQ(two.posted().size(), 3u);
  for (const auto& fragment : two.posted()) EXPECT_FALSE(fragment.imm);
  two.land(1);
  two.land(1);
  two.serve();
  EXPECT_EQ(two.local(), Ids()) << "its bytes have landed, its id has not gone";
  EXPECT_EQ(two.remote(), Ids());
  two.land_all();
  EXPECT_EQ(two.local(), (Ids{1, 2}));
  EXPECT_EQ(two.remote(), (Ids{11, 12}));
}

TEST(PostedOrder, order_none_needs_no_turn) {
  Unnamed two;
  ASSERT_EQ(two.put_as(2, 12, 2, PH_ORDER_NONE), PH_OK);
  ASSERT_EQ(two.posted().size(), 3u);
  EXPECT_TRUE(two.posted()[1].imm);
  EXPECT_TRUE(two.posted()[2].imm);
  two.land(1);
  two.land(1);
  two.serve();
  EXPECT_EQ(two.remote(), Ids{12});
  two.land_all();
  EXPECT_EQ(two.remote(), Ids{11});
}

TEST(PostedOrder, after_an_unnamed_put_names_are_used_again) {
  Unnamed two;
  two.land_all();
  EXPECT_EQ(two.remote(), Ids{11});
  ASSERT_EQ(two.put_as(2, 12, 1), PH_OK);
  EXPECT_TRUE(two.posted().at(0).imm);
}

// Line 65 stands where line 1 stood; the fragments of its record are still under way.
TEST(PostedOrder, a_name_in_use_is_not_given_again_one_lap_later) {
  Nics two;
  ASSERT_EQ(two.put_as(1, 11, 2), PH_OK);
  ASSERT_EQ(two.posted().at(0).imm, 1u);
  two.serve(1);
  two.go_to_line(65);
  ASSERT_EQ(two.put_as(2, 12, 2), PH_OK);
  ASSERT_EQ(two.posted().size(), 4u);
  EXPECT_FALSE(two.posted()[2].imm);
  EXPECT_FALSE(two.posted()[3].imm);
  two.land(2);
  two.land(2);
  two.serve();
  EXPECT_EQ(two.remote(), Ids()) << "the first is still coming";
  two.land_all();
  EXPECT_EQ(two.remote(), (Ids{11, 12}));
  EXPECT_EQ(two.local(), (Ids{2, 1}));
}

TEST(PostedOrder, a_name_can_be_given_again_when_all_its_fragments_are_over) {
  Nics two;
  ASSERT_EQ(two.put_as(1, 11, 2), PH_OK);
  two.land_all();
  EXPECT_EQ(two.remote(), Ids{11});
  two.go_to_line(65);
  ASSERT_EQ(two.put_as(2, 12, 2), PH_OK);
  EXPECT_EQ(two.posted().at(0).imm, 65u);
  two.land_all();
  EXPECT_EQ(two.remote(), Ids{12});
}

TEST(PostedOrder, another_line_is_named_while_one_is_in_use) {
  Nics two;
  ASSERT_EQ(two.put_as(1, 11, 1), PH_OK);
  two.go_to_line(66);
  ASSERT_EQ(two.put_as(2, 12, 1), PH_OK);
  EXPECT_EQ(two.posted().at(1).imm, 66u);
  two.land(1);
  two.land_all();
  EXPECT_EQ(two.remote(), (Ids{11, 12}));
}

TEST(PostedOrder, without_a_line_for_its_record_nothing_is_posted_and_then_all) {
  Nics two;
  two.fill_ring();
  ASSERT_EQ(two.put_as(1, 11, 2), PH_OK);
  EXPECT_TRUE(two.posted().empty());
  two.serve(1);
  two.serve();
  EXPECT_EQ(two.posted().size(), 2u);
  two.land_all();
  EXPECT_EQ(two.local(), Ids{1});
  EXPECT_EQ(two.remote(), Ids{11});
}

// All peers share the queue of a NIC: one that always has more to post must not keep it.
TEST(PostedOrder, peers_take_turns_at_a_full_queue) {
  FakeOptions chosen = nics();
  chosen.nic_queue = 2;
  EngineGroup ranks(3, Ground::fake, chosen);
  ranks.meet(0, 1);
  ranks.meet(0, 2);
  std::vector<std::byte> memory(20 * kFragment);
  const ph_region one = ranks.add(1, memory);
  const ph_region other = ranks.add(2, memory);
  const auto bytes = filled(20 * kFragment, 7);
  ASSERT_EQ(ranks[0].put(1, put_args(bytes, ph_at(&one, 0), 1, 1)), PH_OK);
  ASSERT_EQ(ranks[0].put(2, put_args(bytes, ph_at(&other, 0), 2, 2)), PH_OK);
  auto& posted = ranks.net().seats[0].posted;
  unsigned fragments[3] = {};
  for (int i = 0; i < 20; ++i) {
    ranks[0].serve();
    ASSERT_FALSE(posted.empty());
    ++fragments[posted.front().rank];
    ranks.net().land(0, 0);
  }
  EXPECT_GE(fragments[1], 5u);
  EXPECT_GE(fragments[2], 5u);
}

// Those that end each time they had a place in the queue must not pass one that waits for its own.
TEST(PostedOrder, many_short_ones_leave_room_for_a_long_one) {
  FakeOptions chosen = nics();
  chosen.nic_queue = 2;
  EngineGroup ranks(6, Ground::fake, chosen);
  std::vector<std::byte> memory(20 * kFragment);
  ph_region regions[6] = {};
  for (Rank rank = 1; rank < 6; ++rank) {
    ranks.meet(0, rank);
    regions[rank] = ranks.add(rank, memory);
  }
  const auto bytes = filled(20 * kFragment, 7);
  const auto put_short = [&](Rank rank) {
    const std::uint64_t id = rank;
    auto args = put_args({bytes.data(), 4096}, ph_at(&regions[rank], 0), id, id);
    args.flags = PH_NO_RCE;
    ASSERT_EQ(ranks[0].put(rank, args), PH_OK);
  };
  for (Rank rank = 1; rank < 5; ++rank) put_short(rank);
  ASSERT_EQ(ranks[0].put(5, put_args(bytes, ph_at(&regions[5], 0), 5, 5)), PH_OK);
  auto& posted = ranks.net().seats[0].posted;
  unsigned fragments_of_the_long_one = 0;
  for (int i = 0; i < 50; ++i) {
    ASSERT_FALSE(posted.empty());
    if (posted.front().rank == 5) ++fragments_of_the_long_one;
    ranks.net().land(0, 0);
    ranks[0].serve();
    for (const ph_completion& one : ranks.probe(0, PH_LOCAL))
      if (one.peer != 5) put_short(one.peer);
  }
  EXPECT_GE(fragments_of_the_long_one, 5u);
}

// Both ways at once: whose id waits at both ends.
TEST(PostedOrder, two_ranks_post_to_each_other) {
  Nics two;
  const auto bytes = filled(2 * kFragment, 9);
  std::vector<std::byte> landing(2 * kFragment);
  const ph_region back = two.ranks.add(0, landing);
  ASSERT_EQ(two.put_as(1, 11, 2), PH_OK);
  const std::uint64_t local = 3, remote = 33;
  ASSERT_EQ(two.ranks[1].put(0, put_args(bytes, ph_at(&back, 0), local, remote)), PH_OK);
  two.serve(1);
  for (int i = 0; i < 2; ++i) two.ranks.net().land(1);
  two.land_all();
  two.serve(1);
  EXPECT_EQ(two.ranks.take(1, PH_LOCAL).id, 3u);
  EXPECT_EQ(two.ranks.take(0, PH_REMOTE).id, 33u);
  EXPECT_EQ(two.remote(), Ids{11});
  EXPECT_EQ(first_difference(landing, 9), landing.size());
}

TEST(PostedOrder, a_rank_posts_to_itself) {
  Nics two;
  std::vector<std::byte> landing(2 * kFragment);
  const ph_region mine = two.ranks.add(0, landing);
  const auto bytes = filled(2 * kFragment, 9);
  ASSERT_EQ(two.ranks[0].put(0, two.notice(1)), PH_OK);
  two.ranks.take(0, PH_REMOTE, 0);
  ASSERT_EQ(two.ranks[0].put(0, put_args(bytes, ph_at(&mine, 0), two.local_id, two.remote_id)),
            PH_OK);
  two.land_all();
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, two.local_id);
  EXPECT_EQ(two.ranks.take(0, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(first_difference(landing, 9), landing.size());
}

}  // namespace
}  // namespace photon::engine::test
