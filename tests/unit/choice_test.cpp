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

}  // namespace
}  // namespace photon::schedule
