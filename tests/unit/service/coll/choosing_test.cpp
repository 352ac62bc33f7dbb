// How settings choose algorithms, and what becomes of members that choose otherwise.
#include "service/coll/choosing.hpp"

#include "coll_unit.hpp"

namespace photon::test {
namespace {

using schedule::Algorithm;

base::Config config_with(const char* name, const char* value) {
  const ph_option option{name, value};
  const auto read = base::read_config({&option, 1});
  EXPECT_TRUE(read) << (read ? "" : read.error().what);
  return read ? *read : base::Config{};
}

// Members of which one has other settings, made anew with them.
class ChoosingMembers {
 public:
  explicit ChoosingMembers(Rank other, const base::Config& settings) {
    for (Rank rank = 0; rank < FakePort::kSize; ++rank) {
      ports_[rank] = std::make_unique<MemberPort>(rank);
      if (rank == other || other == FakePort::kSize) ports_[rank]->settings = settings;
      all_[rank] = std::make_unique<Collectives>(*ports_[rank]);
      ports_[rank]->serve(*all_[rank]);
    }
  }
  Collectives& operator[](Rank rank) { return *all_[rank]; }
  MemberPort& port(Rank rank) { return *ports_[rank]; }
  Team& world(Rank rank) {
    Team* team = nullptr;
    EXPECT_EQ(all_[rank]->world(team), PH_OK);
    return *team;
  }
  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Rank rank = 0; rank < FakePort::kSize; ++rank) {
        ports_[rank]->run_turns();
        Said said;
        if (ports_[rank]->take(said)) {
          EXPECT_TRUE(ports_[said.to]->deliver({rank, said.header, said.payload, {}, 0, 0}));
          moved = true;
        } else if (ports_[rank]->gets() != 0) {
          ports_[rank]->end_get();
          moved = true;
        }
      }
    }
  }

 private:
  std::array<std::unique_ptr<MemberPort>, FakePort::kSize> ports_;
  std::array<std::unique_ptr<Collectives>, FakePort::kSize> all_;
};

std::uint64_t operations_of(const Collectives& all, schedule::NamedKind kind, Algorithm algorithm) {
  std::uint64_t found = 0;
  all.choosing().tally().each([&](auto k, auto a, const service::coll::Tally::Row& row) {
    if (k == kind && a == algorithm) found += row.operations;
  });
  return found;
}

// How the operations end that each member begins by `args_of(rank)`, and the words of one that
// failed.
struct Outcome {
  std::array<ph_status, FakePort::kSize> statuses{};
  std::string words;
};

template <class ArgsOf>
Outcome outcome_of(ChoosingMembers& members, ArgsOf args_of) {
  std::array<Operation*, FakePort::kSize> ops{};
  for (Rank rank = 0; rank < FakePort::kSize; ++rank)
    EXPECT_EQ(members[rank].begin(members.world(rank), args_of(rank), &ops[rank]), PH_OK)
        << members.port(rank).last_error().what;
  members.run();
  Outcome outcome;
  for (Rank rank = 0; rank < FakePort::kSize; ++rank) {
    const bool is_over = ops[rank] != nullptr && ops[rank]->state == OpState::over;
    EXPECT_TRUE(is_over) << rank;
    if (!is_over) continue;
    outcome.statuses[rank] = members[rank].done(*ops[rank]);
    if (outcome.statuses[rank] != PH_OK) outcome.words = members.port(rank).last_error().what;
  }
  return outcome;
}

void expect_all(const Outcome& outcome, ph_status status) {
  for (const ph_status one : outcome.statuses) EXPECT_EQ(one, status) << outcome.words;
}

TEST(Choosing, a_setting_names_the_algorithm_of_its_kind) {
  const auto choices = service::coll::choices_of(config_with("coll_bcast", "chain"));
  ASSERT_TRUE(choices) << choices.error().what;
  const schedule::Call call{.kind = schedule::Kind::bcast, .size = 4, .count = 1};
  EXPECT_EQ(choices->choose(call, {}).algorithm, Algorithm::chain);
}

TEST(Choosing, a_table_that_is_none_is_refused_with_its_line) {
  base::Config config;
  config.coll_table = base::path("some/file");
  config.coll_table_text = std::make_shared<const std::string>("photon-coll-table 1\nbcast\n");
  const auto choices = service::coll::choices_of(config);
  ASSERT_FALSE(choices);
  EXPECT_EQ(choices.error().status, PH_ERR_CONFIG);
  EXPECT_EQ(choices.error().what.find("setting coll_table = \"some/file\": line 2: "), 0u)
      << choices.error().what;
}

TEST(Choosing, operations_take_what_is_named_and_are_counted) {
  ChoosingMembers members(FakePort::kSize, config_with("coll_allreduce", "ring"));
  std::vector<Sum> sums;
  for (Rank rank = 0; rank < FakePort::kSize; ++rank) sums.emplace_back(3, rank);
  const Outcome outcome = outcome_of(members, [&](Rank rank) { return sums[rank].args; });
  expect_all(outcome, PH_OK);
  EXPECT_EQ(sums[2].out[1], 0 + 1 + 2 + 3 + 4);
  const auto kind = *schedule::find_kind("allreduce");
  EXPECT_EQ(operations_of(members[1], kind, Algorithm::ring), 1u);
  EXPECT_EQ(operations_of(members[1], kind, Algorithm::direct), 0u);
}

// Among three that choose alike the fourth is found, whoever would have sent it something.
TEST(Choosing, members_that_choose_otherwise_fail_everywhere_and_both_are_named) {
  for (Rank other = 0; other < FakePort::kSize; ++other) {
    ChoosingMembers members(other, config_with("coll_gather", "binomial"));
    std::array<std::int64_t, 4> all{};
    const Outcome outcome = outcome_of(members, [&](Rank rank) {
      auto args = coll_args(PH_COLL_GATHER);
      args.in = rank == 0 ? PH_IN_PLACE : static_cast<const void*>(&members);
      args.out = rank == 0 ? all.data() : nullptr;
      args.count = 1;
      args.type = PH_INT64;
      return args;
    });
    // Some may have been over before: from now on nothing is begun, at any member.
    for (Rank rank = 0; rank < FakePort::kSize; ++rank) {
      EXPECT_EQ(members[rank].begin(members.world(rank), coll_args(PH_COLL_BARRIER)),
                PH_ERR_ARGUMENT);
      const std::string& words = members.port(rank).last_error().what;
      EXPECT_NE(words.find("member " + std::to_string(other) + " (rank"), std::string::npos)
          << words;
      EXPECT_NE(words.find("coll_table and coll_<kind> have to be the same"), std::string::npos)
          << words;
    }
    EXPECT_TRUE(outcome.statuses[0] == PH_OK || outcome.statuses[0] == PH_ERR_ARGUMENT);
  }
}

TEST(Choosing, a_hash_of_choices_that_is_too_short_cuts_its_sender_off) {
  Members members;
  Team& team = members.world(0);
  const auto head = service::coll::encode({static_cast<std::uint8_t>(service::coll::Op::choices),
                                           {team.slot, team.number, 0, 0, 0},
                                           0});
  EXPECT_FALSE(members.port(0).deliver({1, words_of({head[0], head[1], head[2]}), {}, {}, 0, 0}));
}

// Sums of all on a team that is split off the world's, or on that, and how they were done.
std::pair<std::int64_t, Algorithm> sum_over_two_hosts(bool knows_others, bool is_split) {
  Members members;
  std::array<Team*, FakePort::kSize> teams{};
  for (Rank rank = 0; rank < FakePort::kSize; ++rank) {
    members.port(rank).has_hosts = true;
    members.port(rank).knows_others = knows_others;
  }
  for (bool is_made = false; !is_made;) {
    is_made = true;
    for (Rank rank = 0; rank < FakePort::kSize; ++rank) {
      if (!is_split) teams[rank] = &members.world(rank);
      if (teams[rank] != nullptr) continue;
      const ph_status status = members[rank].split(members.world(rank), 0, rank, teams[rank]);
      EXPECT_TRUE(status == PH_OK || status == PH_TIMEOUT) << status;
      is_made = is_made && status == PH_OK;
    }
    members.run();
  }
  std::vector<Sum> sums;
  for (Rank rank = 0; rank < FakePort::kSize; ++rank) sums.emplace_back(3, rank);
  for (Rank rank = 0; rank < FakePort::kSize; ++rank)
    EXPECT_EQ(members[rank].begin(*teams[rank], sums[rank].args), PH_OK);
  members.run();
  Algorithm by = Algorithm::linear;
  members[3].choosing().tally().each(
      [&](schedule::NamedKind, Algorithm algorithm, const auto&) { by = algorithm; });
  return {sums[3].out[0], by};
}

TEST(Choosing, hosts_have_leaders_where_members_know_who_is_on_which) {
  using Sums = std::pair<std::int64_t, Algorithm>;
  EXPECT_EQ(sum_over_two_hosts(true, false), Sums(6, Algorithm::leaders));
  EXPECT_EQ(sum_over_two_hosts(false, false), Sums(6, Algorithm::recursive_doubling));
  EXPECT_EQ(sum_over_two_hosts(false, true), Sums(6, Algorithm::leaders)) << "a split tells all";
}

// A bootstrap that tells one of them otherwise: of nobody's host, or of other ones.
TEST(Choosing, members_that_know_otherwise_of_hosts_fail_and_none_goes_on_alone) {
  for (const bool knows_some : {true, false}) {
    ChoosingMembers members(FakePort::kSize, base::Config{});
    for (Rank rank = 0; rank < FakePort::kSize; ++rank) {
      members.port(rank).has_hosts = knows_some || rank != 1;
      members.port(rank).knows_others = rank != 1;
    }
    std::vector<Sum> sums;
    for (Rank rank = 0; rank < FakePort::kSize; ++rank) sums.emplace_back(3, rank);
    for (Rank rank = 0; rank < FakePort::kSize; ++rank)
      EXPECT_EQ(members[rank].begin(members.world(rank), sums[rank].args), PH_OK);
    members.run();
    for (Rank rank = 0; rank < FakePort::kSize; ++rank) {
      EXPECT_EQ(members[rank].begin(members.world(rank), coll_args(PH_COLL_BARRIER)),
                PH_ERR_ARGUMENT);
      const std::string& words = members.port(rank).last_error().what;
      EXPECT_NE(words.find("what their bootstrap says of hosts"), std::string::npos) << words;
    }
  }
}

TEST(CollCheck, a_setting_of_one_member_alone_is_named) {
  ChoosingMembers members(2, config_with("coll_check", "on"));
  const Outcome outcome = outcome_of(members, [](Rank) { return coll_args(PH_COLL_BARRIER); });
  expect_all(outcome, PH_ERR_ARGUMENT);
  EXPECT_NE(outcome.words.find("coll_check has to be the same on all ranks"), std::string::npos)
      << outcome.words;
}

TEST(CollCheck, counts_that_all_members_must_have_alike_are_compared) {
  for (const bool is_checked : {false, true}) {
    ChoosingMembers members(FakePort::kSize, config_with("coll_check", is_checked ? "on" : "off"));
    std::array<std::array<std::uint64_t, 4>, 4> counts;
    counts.fill({1, 1, 1, 1});
    // Member 3 has no block, and neither 2 nor 3 sends one of another's to the other one.
    counts[2] = {1, 1, 1, 2};
    std::array<std::array<std::int64_t, 8>, 4> out{};
    std::int64_t in[8] = {};
    const Outcome outcome = outcome_of(members, [&](Rank rank) {
      auto args = coll_args(PH_COLL_ALLGATHERV);
      args.in = in;
      args.in_counts = &counts[rank][rank];
      args.out = out[rank].data();
      args.out_counts = counts[rank].data();
      args.type = PH_INT64;
      return args;
    });
    EXPECT_EQ(outcome.statuses[2], PH_ERR_ARGUMENT) << "what comes is not as long, in any case";
    if (is_checked) expect_all(outcome, PH_ERR_ARGUMENT);
    EXPECT_NE(outcome.words.find("member 2 (rank 2)"), std::string::npos) << outcome.words;
    EXPECT_EQ(outcome.words.find("their counts differ") != std::string::npos, is_checked)
        << outcome.words;
    EXPECT_EQ(outcome.words.find("(call 1)") != std::string::npos, is_checked) << outcome.words;
  }
}

// Each waits for the other and sends nothing: without the check both would wait for ever.
TEST(CollCheck, members_that_wait_for_each_other_in_vain_are_told) {
  ChoosingMembers members(FakePort::kSize, config_with("coll_check", "on"));
  std::array<std::int64_t, 4> all{};
  std::int64_t one = 1;
  const Outcome outcome = outcome_of(members, [&](Rank rank) {
    auto args = coll_args(rank == 0 ? PH_COLL_REDUCE : PH_COLL_BCAST);
    args.in = rank == 0 ? &one : nullptr;
    args.out = &all[rank];
    args.count = 1;
    args.type = PH_INT64;
    if (rank == 0) args.op = PH_OP_ADD;
    return args;
  });
  expect_all(outcome, PH_ERR_ARGUMENT);
  EXPECT_NE(outcome.words.find("reduce of 1 int64"), std::string::npos) << outcome.words;
  EXPECT_NE(outcome.words.find("bcast of 1 int64"), std::string::npos) << outcome.words;
}

TEST(CollCheck, functions_that_commute_at_one_member_alone_are_named) {
  ChoosingMembers members(FakePort::kSize, config_with("coll_check", "on"));
  std::array<ph_fold, 4> folds;
  std::vector<Sum> sums;
  for (Rank rank = 0; rank < FakePort::kSize; ++rank) {
    folds[rank] = {sizeof(ph_fold), [](void*, const void*, const void*, void*, std::uint64_t) {},
                   nullptr, 0, rank != 1};
    sums.emplace_back(1, 0);
    sums[rank].args.op = static_cast<ph_op>(0);
    sums[rank].args.fold = &folds[rank];
  }
  const Outcome outcome = outcome_of(members, [&](Rank rank) { return sums[rank].args; });
  expect_all(outcome, PH_ERR_ARGUMENT);
  EXPECT_NE(outcome.words.find("whether they commute"), std::string::npos) << outcome.words;
}

TEST(CollCheck, equal_calls_pass_and_leave_nothing_behind) {
  ChoosingMembers members(FakePort::kSize, config_with("coll_check", "on"));
  for (int i = 0; i < 100; ++i) {
    std::vector<Sum> sums;
    for (Rank rank = 0; rank < FakePort::kSize; ++rank) sums.emplace_back(5, rank);
    const Outcome outcome = outcome_of(members, [&](Rank rank) { return sums[rank].args; });
    expect_all(outcome, PH_OK);
    ASSERT_EQ(sums[3].out[4], 0 + 1 + 2 + 3 + 16);
  }
  for (Rank rank = 0; rank < FakePort::kSize; ++rank) {
    EXPECT_EQ(members[rank].held(), 0u);
    EXPECT_TRUE(members.port(rank).holds_nothing());
  }
}

}  // namespace
}  // namespace photon::test
