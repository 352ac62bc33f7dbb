// How members come to see each other's lines, and what becomes of a page afterwards.
#include "service/coll/board.hpp"

#include "coll_lines.hpp"

namespace photon::test {
namespace {

// Whoever cannot see one other's page: all go by messages, and come to the same end.
TEST(CollBoards, are_not_used_where_one_member_does_not_see_all) {
  for (Rank blind = 0; blind < Members::kCount; ++blind) {
    Members members;
    share_all(members);
    members.port(blind).is_blind_for = (blind + 1) % Members::kCount;
    for (int round = 0; round < 3; ++round) expect_sum_by_lines(members, 1, 0);
    Sum sum(1, 5);
    Round round;
    ASSERT_EQ(round.begin(members, 0, sum.args), PH_OK);
    EXPECT_NE(members.port(0).waiting(), 0u) << "a message has gone";
    for (Rank rank = 1; rank < Members::kCount; ++rank)
      ASSERT_EQ(round.begin(members, rank, sum.args), PH_OK);
    members.run();
    for (Rank rank = 0; rank < Members::kCount; ++rank) EXPECT_EQ(round.done(members, rank), PH_OK);
  }
}

// One with another setting answers all the same.
TEST(CollBoards, are_not_used_where_one_member_wants_none) {
  for (Rank other = 0; other < Members::kCount; ++other) {
    Members members;
    share_all(members);
    members.port(other).settings.coll_lines = base::Switch::off;
    for (int round = 0; round < 3; ++round) expect_sum_by_lines(members, 1, other);
  }
}

TEST(CollBoards, need_a_page_for_a_team_and_one_for_each_prepared_operation) {
  Members members;
  share_all(members);
  for (int round = 0; round < 50; ++round) expect_sum_by_lines(members, 1, 0);
  EXPECT_EQ(members.port(0).shared(), 1u);
}

struct Prepared {
  std::array<Cast, Members::kCount> casts;
  std::array<Operation*, Members::kCount> ops{};

  Prepared(Members& members, std::int64_t value) {
    casts[0].value[0] = value;
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      casts[rank].args.out = casts[rank].value.data();
      casts[rank].args.flags = PH_NO_LCE;
      EXPECT_EQ(members[rank].prepare(members.world(rank), casts[rank].args, ops[rank]), PH_OK);
    }
  }
  void start(Members& members, Rank rank) { EXPECT_EQ(members[rank].start(*ops[rank]), PH_OK); }
  void free(Members& members, Rank rank) { EXPECT_EQ(members[rank].free(*ops[rank]), PH_OK); }
  void run_once(Members& members) {
    for (Rank rank = 0; rank < Members::kCount; ++rank) start(members, rank);
    members.run();
  }
};

TEST(CollBoards, of_prepared_operations_may_be_used_in_any_order) {
  Members members;
  share_all(members);
  Prepared one(members, 5);
  Prepared two(members, 6);
  one.run_once(members);
  two.run_once(members);
  one.casts[0].value[0] = 7;
  two.casts[0].value[0] = 8;
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    Prepared& first = rank % 2 == 0 ? one : two;
    first.start(members, rank);
    (rank % 2 == 0 ? two : one).start(members, rank);
  }
  members.run();
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    EXPECT_EQ(one.casts[rank].value[0], 7);
    EXPECT_EQ(two.casts[rank].value[0], 8);
    one.free(members, rank);
    two.free(members, rank);
  }
  members.expect_nothing_held();
}

// The root has said it, freed the operation, and prepared others: who is late finds what it said.
TEST(CollBoards, are_given_to_no_other_before_the_slowest_member_has_read) {
  Members members;
  share_all(members);
  Prepared old(members, 5);
  old.run_once(members);
  old.casts[0].value[0] = 6;
  old.start(members, 0);
  ASSERT_FALSE(old.ops[0]->is_under_way()) << "its line is there";
  old.free(members, 0);
  const std::size_t pages = members.port(0).shared();
  Prepared next(members, 9);
  next.run_once(members);
  EXPECT_EQ(members.port(0).shared(), pages + 1) << "the old page is still to be read";
  for (Rank rank = 1; rank < Members::kCount; ++rank) {
    EXPECT_EQ(next.casts[rank].value[0], 9);
    old.start(members, rank);
    EXPECT_EQ(old.casts[rank].value[0], 6) << rank;
    old.free(members, rank);
  }
  Prepared last(members, 10);
  last.run_once(members);
  EXPECT_EQ(members.port(0).shared(), pages + 1) << "now it serves again";
  EXPECT_EQ(last.casts[3].value[0], 10);
}

TEST(CollBoards, of_what_was_freed_leave_nothing_behind) {
  Members members;
  share_all(members);
  for (int round = 0; round < 200; ++round) {
    Prepared one(members, round);
    one.run_once(members);
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      ASSERT_EQ(one.casts[rank].value[0], round) << rank;
      one.free(members, rank);
    }
  }
  EXPECT_LE(members.port(0).shared(), 3u);
  members.expect_nothing_held();
}

// Each field that a member could get wrong; it alone is cut off.
TEST(CollBoards, that_are_told_twice_or_wrongly_cut_their_sender_off) {
  struct Case {
    std::uint32_t tag;
    std::uint64_t word;
    int times;
  };
  for (const Case& one : {Case{2, 0, 1}, Case{1, 0, 1}, Case{0, 64, 2}, Case{0, 3, 1}}) {
    Members members;
    share_all(members);
    Sum sum(1, 5);
    Round round;
    ASSERT_EQ(round.begin(members, 0, sum.args), PH_OK);
    using namespace service::coll;
    Head head;
    head.op = static_cast<std::uint8_t>(Op::lines);
    head.name = {0, 0, 0, 0, one.tag};
    const HeadWords words = encode(head);
    bool is_good = true;
    for (int i = 0; i < one.times; ++i)
      is_good = members.port(0).deliver(
          {2, words_of({words[0], words[1], words[2], one.word, 1}), {}, {}, 0, 0});
    const bool may_stand = one.tag == 0 && one.times == 1;  // an address that cannot be seen
    EXPECT_EQ(is_good, may_stand) << one.tag << ", " << one.word;
    EXPECT_EQ(members.port(0).state(2), may_stand ? PH_OK : PH_ERR_PROTOCOL);
    EXPECT_EQ(members.port(0).state(1), PH_OK);
  }
}

}  // namespace
}  // namespace photon::test
