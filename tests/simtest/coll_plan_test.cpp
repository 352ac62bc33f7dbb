// What is proved, and by which program.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "command.hpp"
#include "simtest/coll_plan.hpp"

namespace photon::simtest::coll {
namespace {

using schedule::Algorithm;
using schedule::Kind;

const std::string kCollTool = PHOTON_BIN_DIR "/photon-coll";

bool tells(const test::CommandResult& result, const std::string& words) {
  return result.output.find(words) != std::string::npos;
}

TEST(CollPlan, a_drawn_part_holds_and_meets_every_algorithm) {
  Filter filter = everything();
  for (std::uint32_t size = 1; size <= 33; ++size) filter.sizes.push_back(size);
  std::set<std::pair<Kind, Algorithm>> met;
  for (std::uint64_t i = 0; i < 6000; ++i) {
    const auto one = drawn_case(filter, 7, i);
    ASSERT_TRUE(one);
    const Proof proof = prove(*one);
    EXPECT_EQ(proof.fault, "") << text_of(*one);
    if (proof.is_known) met.insert({one->kind, one->algorithm});
  }
  for (const Kind kind : filter.kinds)
    for (const Algorithm algorithm : filter.algorithms) {
      schedule::Call call;
      call.kind = kind;
      call.algorithm = algorithm;
      call.size = 4;
      EXPECT_TRUE(!schedule::knows(call) || met.contains({kind, algorithm}))
          << name_of(kind) << " by " << name_of(algorithm);
    }
}

TEST(CollPlan, every_case_of_small_teams_holds) {
  Filter filter = everything();
  filter.sizes = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::uint64_t known = 0;
  every_case(filter, 3, [&known](const CollCase& one) {
    const Proof proof = prove(one);
    EXPECT_EQ(proof.fault, "") << text_of(one);
    known += proof.is_known ? 1 : 0;
    return true;
  });
  EXPECT_GT(known, 5000U);
}

TEST(CollPlan, all_members_choose_alike_and_what_is_known) {
  std::uint64_t questions = 0;
  for (std::uint32_t size = 1; size <= 130; size += size < 20 ? 1 : 11)
    EXPECT_EQ(check_choices(size, questions), "");
  EXPECT_GT(questions, 1000U);
}

TEST(CollPlan, sizes_are_all_to_130_then_near_powers_and_primes) {
  const auto sizes = planned_sizes();
  const std::set<std::uint32_t> all(sizes.begin(), sizes.end());
  for (std::uint32_t size = 1; size <= 130; ++size) EXPECT_TRUE(all.contains(size));
  for (const std::uint32_t size : {131U, 255U, 256U, 257U, 511U, 513U, 1021U, 1023U, 1024U, 1025U})
    EXPECT_TRUE(all.contains(size)) << size;
  for (const std::uint32_t size : {132U, 133U, 254U, 1000U, 1026U})
    EXPECT_FALSE(all.contains(size)) << size;
}

TEST(CollPlan, a_case_is_its_text) {
  Filter filter = everything();
  for (std::uint64_t i = 0; i < 500; ++i) {
    const auto one = drawn_case(filter, 1, i);
    ASSERT_TRUE(one);
    const auto again = case_of(text_of(*one));
    ASSERT_TRUE(again) << text_of(*one);
    EXPECT_EQ(text_of(*again), text_of(*one));
  }
  for (const char* const wrong :
       {"", "allreduce", "allreduce:none", "none:ring", "allreduce:ring:size=0",
        "allreduce:ring:size=x", "allreduce:ring:size=4:root=1", "bcast:linear:size=4:root=4",
        "allreduce:ring:size=4:order=most", "bcast:linear:size=4:places=all", "allreduce:ring:size",
        "bcast:linear:size=4:blocks=drawn", "scatter:linear:size=4:blocks=room",
        "alltoall:linear:size=4:blocks=room:places=all", "bcast:linear:size=4:order=loop",
        "bcast:linear:size=5000", "bcast:linear:size=4:length=3"})
    EXPECT_FALSE(case_of(wrong)) << wrong;
}

// Nothing is kept from phase to phase but its number.
TEST(CollPlan, a_ring_over_1025_members_costs_no_more_memory_than_one_over_4) {
  const auto kept_bytes = [](std::uint32_t size, std::uint64_t& steps) {
    schedule::Call call;
    call.kind = Kind::allgather;
    call.algorithm = Algorithm::ring;
    call.size = size;
    call.rank = size / 2;
    call.count = 100;
    const std::size_t before = ::mallinfo2().uordblks;
    std::size_t most = before;
    schedule::Phase phase;
    for (std::uint64_t i = 0; i < schedule::phases_of(call); ++i) {
      schedule::phase_at(call, i, phase);
      steps += phase.count;
      most = std::max(most, ::mallinfo2().uordblks);
    }
    return most - before + schedule::temp_of(call);
  };
  std::uint64_t few = 0;
  std::uint64_t many = 0;
  EXPECT_EQ(kept_bytes(4, few), 0U);
  EXPECT_EQ(kept_bytes(1025, many), 0U);
  EXPECT_GT(many, 200 * few);
}

TEST(CollTool, proves_what_it_is_asked_for_and_says_what_it_ran) {
  const test::CommandResult result =
      test::run_command(kCollTool +
                        " verify --all --kinds allreduce,barrier --algorithms ring,dissemination "
                        "--sizes 1..6,9");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_TRUE(tells(result, "allreduce      ring ")) << result.output;
  EXPECT_TRUE(tells(result, "barrier        dissemination ")) << result.output;
  EXPECT_FALSE(tells(result, "bcast")) << result.output;
  EXPECT_TRUE(tells(result, " 0 faults")) << result.output;
}

TEST(CollTool, draws_as_many_cases_as_it_is_told) {
  const test::CommandResult result =
      test::run_command(kCollTool + " verify --cases 50 --sizes 2..9 --kinds bcast --seed 5");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_TRUE(tells(result, "seed 5\n")) << result.output;
  EXPECT_TRUE(tells(result, "50 cases, ")) << result.output;
}

TEST(CollTool, repeats_one_case_alone) {
  const test::CommandResult result =
      test::run_command(kCollTool + " verify --case bcast:binomial:size=7:root=3:count=5:seed=2");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_TRUE(tells(result, "\n1 cases, 6 messages in ")) << result.output;
}

TEST(CollTool, writes_a_schedule_as_text) {
  const test::CommandResult result = test::run_command(
      kCollTool + " dump --kind barrier --algorithm dissemination --size 3 --count 0");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_EQ(result.output,
            "schedule barrier dissemination size 3 root 0 count 0 element-bytes 1 segment 0 order "
            "any in-place no\n"
            "rank 0\nl0: send 1 0 0\nl1: receive 2 0 0\n"
            "l2: send 2 0 0 after l1\nl3: receive 1 0 0 after l1\n"
            "rank 1\nl0: send 2 0 0\nl1: receive 0 0 0\n"
            "l2: send 0 0 0 after l1\nl3: receive 2 0 0 after l1\n"
            "rank 2\nl0: send 0 0 0\nl1: receive 1 0 0\n"
            "l2: send 1 0 0 after l1\nl3: receive 0 0 0 after l1\n");
}

TEST(CollTool, says_what_is_wrong_with_a_call) {
  constexpr const char* kWrong[][2] = {
      {"", "subcommand"},
      {"verify --sizes 5..1", "--sizes 5..1: give A..B"},
      {"verify --sizes 0", "--sizes 0: give A..B"},
      {"verify --sizes 3,", "--sizes 3,: give A..B"},
      {"verify --sizes 1..5000", "--sizes 1..5000: give A..B"},
      {"verify --kinds bcasts", "--kinds"},
      {"verify --algorithms rings", "--algorithms"},
      {"verify --seconds 0", "--seconds"},
      {"verify --case bcast:linear:size=0", "--case bcast:linear:size=0: it is none"},
      {"dump --kind bcast", "--algorithm"},
      {"dump --kind bcast --algorithm pairwise", "pairwise does not know bcast"},
      {"dump --kind bcast --algorithm linear --size 3 --root 3", "the team has 3 members"},
      {"dump --kind bcast --algorithm linear --size 0", "--size"},
  };
  for (const auto& [arguments, words] : kWrong) {
    const test::CommandResult result = test::run_command(kCollTool + " " + arguments + " 2>&1");
    EXPECT_EQ(result.exit_status, 2) << arguments;
    EXPECT_TRUE(tells(result, words)) << arguments << ": " << result.output;
  }
}

}  // namespace
}  // namespace photon::simtest::coll
