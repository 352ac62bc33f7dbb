// What is said to a member that calls on, where others have freed the team, or the prepared
// operation: with a provider, with coll_check, and by messages alone.
#include "many_members.hpp"
#include "scripted_provider.hpp"

namespace photon::test {
namespace {

using service::coll::encode;
using service::coll::Head;
using service::coll::Op;

base::Config checked(bool is_checked) {
  base::Config settings;
  settings.coll_check = is_checked ? base::Switch::on : base::Switch::off;
  return settings;
}

// Four members of a team that is not that of all ranks; the provider does barriers.
class LateMembers : public ManyMembers {
 public:
  explicit LateMembers(bool is_provided, bool is_checked = false, bool shares = false)
      : ManyMembers(kAllMembers, checked(is_checked)) {
    for (Rank rank = 0; rank < kAllMembers; ++rank) {
      port(rank).shares = shares;
      scripts[rank].advance_says = PH_OK;
      if (!is_provided) continue;
      port(rank).settings.coll = base::word("scripted");
      EXPECT_EQ((*this)[rank].add_provider(nullptr, scripts[rank].table), PH_OK);
    }
    teams = split();
  }
  void begin(Rank rank, const ph_coll_args& args) {
    ASSERT_EQ((*this)[rank].begin(*teams[rank], args, &ops[rank]), PH_OK);
  }
  // All do a barrier, which is over.
  void do_barrier() {
    for (Rank rank = 0; rank < kAllMembers; ++rank) begin(rank, coll_args(PH_COLL_BARRIER));
    settle();
    for (Rank rank = 0; rank < kAllMembers; ++rank) end(rank, PH_OK, "");
  }
  void free(Rank rank) { ASSERT_EQ((*this)[rank].free(*teams[rank]), PH_OK); }
  void settle() {
    for (int i = 0; i < 20; ++i) {
      for (Rank rank = 0; rank < kAllMembers; ++rank) port(rank).wants_turn();
      run();
    }
  }
  void end(Rank rank, ph_status status, const std::string& words) {
    ASSERT_EQ(ops[rank]->state, OpState::over) << rank;
    EXPECT_EQ((*this)[rank].done(*ops[rank]), status) << rank;
    expect_words(rank, status == PH_OK ? "" : words);
  }
  void expect_words(Rank rank, const std::string& words) {
    const std::string& said = port(rank).last_error().what;
    EXPECT_NE(said.find(words), std::string::npos) << said;
  }

  std::array<Scripted, kAllMembers> scripts;
  std::vector<Team*> teams;
  std::array<Operation*, kAllMembers> ops{};
};

// Its next member has freed the team, before the digest comes or while it waits there.
TEST(CollLate, tells_who_calls_on_a_team_that_its_next_member_has_freed) {
  for (const bool is_provided : {true, false})
    for (const bool comes_first : {true, false})
      for (const int calls : {0, 1, 2}) {
        LateMembers all(is_provided);
        for (int i = 0; i < calls; ++i) all.do_barrier();
        all.scripts[0].advance_says = PH_AGAIN;
        if (!comes_first) all.free(1);
        all.begin(0, coll_args(PH_COLL_BARRIER));
        if (comes_first) {
          all.settle();
          ASSERT_EQ(all.ops[0]->state, OpState::running) << "it may still be begun there";
          all.free(1);
        }
        all.settle();
        const std::string times = std::to_string(calls) + (calls == 1 ? " call" : " calls");
        all.end(0, PH_ERR_ARGUMENT,
                "member 0 (rank 0) has begun barrier, and member 1 (rank 1) has freed the team "
                "after " +
                    times + " on it");
      }
}

TEST(CollLate, tells_all_members_that_wait_for_it) {
  for (const bool is_provided : {true, false}) {
    LateMembers all(is_provided);
    all.do_barrier();
    for (Scripted& script : all.scripts) script.advance_says = PH_AGAIN;
    all.free(2);
    for (const Rank rank : {0U, 1U, 3U}) all.begin(rank, coll_args(PH_COLL_BARRIER));
    all.settle();
    for (const Rank rank : {0U, 1U, 3U})
      all.end(rank, PH_ERR_ARGUMENT, "and member 2 (rank 2) has freed the team after 1 call on it");
  }
}

// All have called as often; one of them has called something else, which its neighbour compares
// though the team is freed there.
TEST(CollLate, compares_calls_with_those_of_a_team_that_was_freed) {
  LateMembers all(true);
  all.do_barrier();
  Sum sum(5, 1);
  all.begin(1, coll_args(PH_COLL_BARRIER));
  all.settle();
  all.end(1, PH_OK, "");
  all.free(1);
  all.begin(0, sum.args);
  all.settle();
  all.end(0, PH_ERR_ARGUMENT,
          "member 1 (rank 1) has begun barrier, and member 0 (rank 0) allreduce");
}

TEST(CollLate, says_nothing_where_all_have_called_alike) {
  LateMembers all(true);
  all.begin(1, coll_args(PH_COLL_BARRIER));
  all.settle();
  all.end(1, PH_OK, "");
  all.free(1);
  for (const Rank rank : {2U, 3U, 0U}) {
    all.begin(rank, coll_args(PH_COLL_BARRIER));
    all.settle();
    all.end(rank, PH_OK, "");
    all.free(rank);
  }
}

// Its slot serves another team, or will.
TEST(CollLate, breaks_a_team_that_was_freed_and_forgotten_elsewhere) {
  for (const bool is_provided : {true, false}) {
    LateMembers all(is_provided);
    all.do_barrier();
    for (Scripted& script : all.scripts) script.advance_says = PH_AGAIN;
    all.free(1);
    Team* next = nullptr;
    EXPECT_EQ(all[1].split(all.world(1), 0, 0, next), PH_TIMEOUT);
    all.begin(0, coll_args(PH_COLL_BARRIER));
    all.settle();
    const std::string freed = "and member 1 (rank 1) has freed the team after 1 call on it";
    all.end(0, PH_ERR_ARGUMENT, "member 0 (rank 0) has begun barrier, " + freed);
    Operation* op = nullptr;
    for (const Rank rank : {0U, 2U, 3U}) {
      EXPECT_EQ(all[rank].begin(*all.teams[rank], coll_args(PH_COLL_BARRIER), &op),
                PH_ERR_ARGUMENT);
      all.expect_words(rank, "member 0 (rank 0) has begun more, " + freed);
    }
  }
}

// They ask for lines, or look at lines that are there; then the digest of coll_check tells.
TEST(CollLate, tells_who_calls_on_by_lines) {
  for (const bool comes_first : {true, false})
    for (const bool is_ready : {false, true}) {
      LateMembers all(false, is_ready, true);
      if (is_ready) all.do_barrier();
      if (!comes_first) all.free(2);
      for (const Rank rank : {0U, 1U, 3U}) all.begin(rank, coll_args(PH_COLL_BARRIER));
      all.settle();
      if (comes_first) all.free(2);
      all.settle();
      for (const Rank rank : {0U, 1U, 3U})
        all.end(rank, PH_ERR_ARGUMENT, "and member 2 (rank 2) has freed the team after ");
    }
}

// ---- prepared operations

class LatePrepared : public LateMembers {
 public:
  explicit LatePrepared(bool is_provided) : LateMembers(is_provided) {
    args.flags = PH_NO_LCE;
    for (Rank rank = 0; rank < kAllMembers; ++rank) prepare(rank);
  }
  void prepare(Rank rank) {
    ASSERT_EQ((*this)[rank].prepare(world(rank), args, prepared[rank]), PH_OK);
  }
  void start(Rank rank) { ASSERT_EQ((*this)[rank].start(*prepared[rank]), PH_OK); }
  void start_all() {
    for (Rank rank = 0; rank < kAllMembers; ++rank) start(rank);
    settle();
    for (Rank rank = 0; rank < kAllMembers; ++rank) expect_over(rank, PH_OK);
  }
  void drop(Rank rank) { ASSERT_EQ((*this)[rank].free(*prepared[rank]), PH_OK); }
  void expect_over(Rank rank, ph_status status) {
    ASSERT_EQ(prepared[rank]->state, OpState::over) << rank;
    EXPECT_EQ(prepared[rank]->blame.status, status) << rank;
  }
  void expect_said(Rank rank, const std::string& words) {
    expect_over(rank, PH_ERR_ARGUMENT);
    const std::string said = text_of(prepared[rank]->blame, world(rank));
    EXPECT_NE(said.find(words), std::string::npos) << said;
  }

  ph_coll_args args = coll_args(PH_COLL_BARRIER);
  std::array<Operation*, kAllMembers> prepared{};
};

TEST(CollLate, tells_who_starts_what_its_next_member_has_freed) {
  for (const bool is_provided : {true, false})
    for (const bool comes_first : {true, false})
      for (const int starts : {0, 2}) {
        LatePrepared all(is_provided);
        for (int i = 0; i < starts; ++i) all.start_all();
        for (Scripted& script : all.scripts) script.advance_says = PH_AGAIN;
        if (!comes_first) all.drop(1);
        all.start(0);
        all.start(3);
        if (comes_first) {
          all.settle();
          all.drop(1);
        }
        all.settle();
        for (const Rank rank : {0U, 3U})
          all.expect_said(rank, "and member 1 (rank 1) has freed prepared operation 1 after " +
                                    std::to_string(starts) + " starts");
      }
}

TEST(CollLate, compares_a_start_with_the_latest_of_what_was_freed) {
  for (const bool is_same : {true, false}) {
    LatePrepared all(true);
    all.start_all();
    all.start(1);
    all.settle();
    all.drop(1);
    Sum sum(5, 1);
    if (!is_same) {
      ASSERT_EQ(all[0].change(*all.prepared[0], sum.args), PH_OK);
    }
    all.start(0);
    all.settle();
    if (is_same)
      all.expect_over(0, PH_OK);
    else
      all.expect_said(0, "member 1 (rank 1) has begun barrier, and member 0 (rank 0) allreduce");
  }
}

// As many as the window has places are known, whatever else was prepared and freed.
TEST(CollLate, forgets_what_was_freed_before_a_window_of_others) {
  for (const bool is_forgotten : {false, true}) {
    LatePrepared all(true);
    for (Scripted& script : all.scripts) script.advance_says = PH_AGAIN;
    all.drop(1);
    const std::uint64_t window = all.port(1).settings.coll_window;
    for (std::uint64_t i = 0; i + (is_forgotten ? 0 : 1) < window; ++i) {
      all.prepare(1);
      all.drop(1);
    }
    all.start(0);
    all.settle();
    EXPECT_EQ(all.prepared[0]->state, is_forgotten ? OpState::running : OpState::over);
  }
}

TEST(CollLate, tells_of_a_freed_team_who_starts_what_it_did_not_prepare_there) {
  LateMembers all(false);
  all.do_barrier();
  all.free(1);
  auto args = coll_args(PH_COLL_BARRIER);
  args.flags = PH_NO_LCE;
  Operation* op = nullptr;
  ASSERT_EQ(all[0].prepare(*all.teams[0], args, op), PH_OK);
  ASSERT_EQ(all[0].start(*op), PH_OK);
  all.settle();
  ASSERT_EQ(op->state, OpState::over);
  const std::string said = text_of(op->blame, *all.teams[0]);
  EXPECT_NE(said.find("has freed the team after 1 call on it"), std::string::npos) << said;
}

// ---- peers that do not keep to the rules

TEST(CollLate, cuts_off_who_was_never_in_the_team_that_it_names) {
  ManyMembers members(3);
  std::vector<Team*> teams(3);
  for (int look = 0; look < 2; ++look) {
    for (Rank rank = 0; rank < 3; ++rank)
      static_cast<void>(members[rank].split(members.world(rank), rank / 2, 0, teams[rank]));
    members.run();
  }
  const std::uint32_t slot = teams[0]->slot;
  const std::uint32_t number = teams[0]->number;
  ASSERT_EQ(members[0].free(*teams[0]), PH_OK);
  const Head head{static_cast<std::uint8_t>(Op::words), {slot, number, 0, 0, 0}, 7};
  const auto words = encode(head);
  const Bytes header = words_of({words[0], words[1], words[2]});
  EXPECT_FALSE(members.port(0).deliver({2, header, {}, {}, 0, 0}));
  EXPECT_EQ(members.port(0).state(2), PH_ERR_PROTOCOL);
  EXPECT_TRUE(members.port(0).deliver({1, header, {}, {}, 0, 0}));
}

}  // namespace
}  // namespace photon::test
