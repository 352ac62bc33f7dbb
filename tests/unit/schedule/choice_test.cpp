#include <gtest/gtest.h>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

constexpr Kind kEveryKind[] = {Kind::barrier,   Kind::bcast,         Kind::reduce,
                               Kind::allreduce, Kind::scan,          Kind::exscan,
                               Kind::gather,    Kind::scatter,       Kind::allgather,
                               Kind::alltoall,  Kind::reduce_scatter};

// Every combination of what is asked about a kind; how many were chosen for.
unsigned choose_for_all(Kind kind, std::uint32_t size) {
  unsigned chosen = 0;
  const std::vector<std::uint64_t> counts(size, 3);
  for (const std::uint64_t count : {0ULL, 1ULL, 1000ULL, 100'000ULL, 1ULL << 40, ~0ULL})
    for (unsigned terms = 0; terms < 32; ++terms) {
      Call call{.kind = kind, .size = size, .count = count};
      call.in_order = (terms & 1) != 0;
      call.keeps_order = (terms & 2) != 0;
      const Terms asked{.element_bytes = 8,
                        .commutes = (terms & 2) == 0,
                        .is_v = (terms & 4) != 0,
                        .reproducible = (terms & 8) != 0,
                        .counts_from_senders = (terms & 4) != 0 && (terms & 16) != 0};
      if (asked.is_v) call.in_blocks = call.out_blocks = {counts.data(), counts.data()};
      call.in_order = call.in_order || asked.reproducible;
      call.algorithm = choose(call, asked);
      EXPECT_TRUE(knows(call)) << name_of(kind) << " by " << name_of(call.algorithm) << ", size "
                               << size << ", terms " << terms;
      ++chosen;
    }
  return chosen;
}

TEST(ScheduleChoice, an_algorithm_that_is_chosen_knows_the_call) {
  for (const Kind kind : kEveryKind)
    for (const std::uint32_t size : {1U, 2U, 3U, 4U, 5U, 8U, 16U, 17U, 64U, 100U, 1024U, 1025U})
      EXPECT_EQ(choose_for_all(kind, size), 192U);
}

TEST(ScheduleChoice, a_member_that_has_no_arrays_takes_what_the_root_takes) {
  const std::vector<std::uint64_t> counts(64, 3);
  for (const Kind kind : {Kind::gather, Kind::scatter}) {
    Call root{.kind = kind, .size = 64, .count = 3};
    Call other = root;
    other.rank = 1;
    root.in_blocks = root.out_blocks = {counts.data(), counts.data()};
    const Terms terms{.is_v = true};
    EXPECT_EQ(choose(root, terms), choose(other, terms));
  }
}

TEST(ScheduleChoice, where_data_stand_at_one_member_does_not_matter) {
  for (const Kind kind : kEveryKind)
    for (const std::uint64_t count : {1U, 100'000U}) {
      Call call{.kind = kind, .size = 24, .rank = 0, .count = count};
      const Algorithm algorithm = choose(call, {});
      call.in_place = true;
      call.rank = 7;
      EXPECT_EQ(choose(call, {}), algorithm) << name_of(kind);
    }
}

TEST(ScheduleChoice, two_members_share_the_folds_of_a_long_vector) {
  Call call{.kind = Kind::allreduce, .size = 2, .count = 4096};
  EXPECT_EQ(choose(call, {.element_bytes = 8}), Algorithm::direct);
  call.count = 1;
  EXPECT_EQ(choose(call, {.element_bytes = 8}), Algorithm::recursive_doubling);
}

// Which source of choices counts, and what becomes of one that cannot do a call.
TEST(ScheduleChoice, a_name_goes_before_the_table_and_the_table_before_what_is_built_in) {
  auto choices = Choices::parse("photon-coll-table 1\nallreduce any 2 0 chain\n");
  ASSERT_TRUE(choices) << choices.error().what;
  const Call call{.kind = Kind::allreduce, .size = 5, .count = 1};
  EXPECT_EQ(Choices().choose(call, {}).source, Source::built_in);
  EXPECT_EQ(choices->choose(call, {}).algorithm, Algorithm::chain);
  const std::uint64_t before = choices->hash();
  ASSERT_TRUE(choices->name(*find_kind("allreduce"), Algorithm::ring));
  EXPECT_EQ(choices->choose(call, {}).algorithm, Algorithm::ring);
  EXPECT_EQ(choices->choose(call, {}).source, Source::setting);
  EXPECT_NE(choices->hash(), before);
}

TEST(ScheduleChoice, what_cannot_do_a_call_is_not_taken_and_is_named) {
  Choices choices;
  ASSERT_TRUE(choices.name(*find_kind("allreduce"), Algorithm::ring));
  const Call call{.kind = Kind::allreduce, .size = 5, .count = 1};
  const Choice choice = choices.choose(call, {.element_bytes = 8, .reproducible = true});
  EXPECT_TRUE(choice.is_instead());
  EXPECT_EQ(choice.wanted, Algorithm::ring);
  EXPECT_EQ(choice.algorithm, Algorithm::linear);
  EXPECT_FALSE(choices.choose(call, {}).is_instead());
}

TEST(ScheduleChoice, an_algorithm_of_another_kind_is_refused_with_those_that_there_are) {
  Choices choices;
  const auto named = choices.name(*find_kind("scan"), Algorithm::ring);
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().status, PH_ERR_CONFIG);
  EXPECT_EQ(named.error().what,
            "ring is no algorithm of scan, which has chain, recursive_doubling");
  EXPECT_FALSE(choices.name(*find_kind("allgatherv"), Algorithm::bruck))
      << "it does not know counts of its own";
}

TEST(ScheduleChoice, whatever_is_named_the_algorithm_taken_knows_the_call) {
  const std::vector<std::uint64_t> counts(1025, 3);
  unsigned asked = 0;
  for (NamedKind kind = 0; kind < kNamedKinds; ++kind)
    for (std::uint32_t i = 0; i < kAlgorithms; ++i) {
      Choices choices;
      if (!choices.name(kind, static_cast<Algorithm>(i))) continue;
      for (const std::uint32_t size : {1U, 2U, 3U, 6U, 16U, 17U, 1025U})
        for (unsigned bits = 0; bits < 4; ++bits) {
          Call call{.kind = kind_of(kind), .size = size, .count = 1000};
          call.in_order = (bits & 1) != 0;
          call.keeps_order = (bits & 2) != 0;
          const Terms terms{.element_bytes = 8,
                            .commutes = !call.keeps_order,
                            .is_v = has_counts(kind),
                            .reproducible = call.in_order};
          if (terms.is_v) call.in_blocks = call.out_blocks = {counts.data(), counts.data()};
          call.algorithm = choices.choose(call, terms).algorithm;
          EXPECT_TRUE(knows(call)) << name_of_kind(kind) << " by " << name_of(call.algorithm);
          ++asked;
        }
    }
  EXPECT_GT(asked, 1000u);
}

}  // namespace
}  // namespace photon::schedule
