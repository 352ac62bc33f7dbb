#include "simtest/task_case.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "simtest/task_oracle.hpp"
#include "tests/simtest/brief.hpp"

namespace photon::simtest {
namespace {

TaskCase case_of(std::uint64_t seed) {
  TaskCase one;
  one.seed = seed;
  one.profile = kProfiles[seed % std::size(kProfiles)];
  one.ranks = static_cast<std::uint32_t>(1 + seed / 5 % 6);
  return one;
}

// Each task runs once, at its PE, with its bytes; those that are small in the order of the sends.
TEST(SimTasks, run_once_with_their_bytes_whatever_the_network_does) {
  TaskResult all;
  const std::uint64_t seeds = seeds_of(100);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const TaskResult result = run_task_case(case_of(seed));
    EXPECT_EQ(result.finding, "") << "seed " << seed;
    all.tasks += result.tasks;
    all.sleeps += result.sleeps;
    all.waited += result.waited;
  }
  EXPECT_GE(all.tasks, 190 * seeds);
  EXPECT_GT(all.sleeps, seeds);
  if (!kIsBrief) {
    EXPECT_GT(all.waited, 0u);  // some found no room
  }
}

TEST(SimTasks, a_seed_gives_the_same_run_again) {
  for (std::uint64_t seed = 1; seed <= seeds_of(20); ++seed) {
    const TaskResult first = run_task_case(case_of(seed));
    const TaskResult second = run_task_case(case_of(seed));
    EXPECT_EQ(first.digest, second.digest) << "seed " << seed;
    EXPECT_EQ(first.simulated_ns, second.simulated_ns) << "seed " << seed;
  }
}

// Records of messages that are lost, come twice or change places: the oracle finds each.
TEST(SimTasks, planted_faults_are_found) {
  using Kind = transport::sim::Fault::Kind;
  for (const Kind kind : {Kind::lose_message, Kind::repeat_message, Kind::reorder_am}) {
    bool is_found = false;
    for (std::uint64_t seed = 1; seed <= 40 && !is_found; ++seed) {
      TaskCase one = case_of(seed);
      one.profile = base::SimProfile::stream;
      one.ranks = 3;
      one.fault = {.kind = kind, .after = 40 + seed};
      is_found = !run_task_case(one).finding.empty();
    }
    EXPECT_TRUE(is_found) << static_cast<int>(kind);
  }
}

// A message as it lies in memory: 32 bytes of the library's, then the body.
class Fed {
 public:
  Fed(const TaskFront& front, std::uint64_t size_bytes, std::uint32_t source) {
    std::memcpy(&memory_[1], &size_bytes, sizeof size_bytes);
    const std::array<std::uint32_t, 2> pes{0, source};
    std::memcpy(&memory_[2], pes.data(), sizeof pes);
    TaskOracle::fill(message(), front);
  }
  ph_task_message* message() { return reinterpret_cast<ph_task_message*>(memory_.data()); }
  std::byte* body() { return static_cast<std::byte*>(ph_task_body(message())); }

 private:
  alignas(64) std::array<std::uint64_t, 32> memory_{};
};

constexpr std::uint64_t kSizeBytes = 100;

TEST(SimTaskOracle, what_was_sent_is_no_finding) {
  TaskOracle oracle;
  const TaskFront front{77, 0, oracle.next_order(1, 2)};
  oracle.made(front, {1, 2, kSizeBytes});
  Fed fed(front, kSizeBytes, 1);
  EXPECT_TRUE(oracle.met(2, fed.message(), 0));
  EXPECT_EQ(oracle.left(), 0u);
  EXPECT_EQ(oracle.finding(), "");
}

TEST(SimTaskOracle, a_task_that_runs_twice_is_found) {
  TaskOracle oracle;
  const TaskFront front{77, 0, kUnordered};
  oracle.made(front, {1, 2, kSizeBytes});
  Fed fed(front, kSizeBytes, 1);
  EXPECT_TRUE(oracle.met(2, fed.message(), 0));
  EXPECT_FALSE(oracle.met(2, fed.message(), 0));
  EXPECT_NE(oracle.finding(), "");
}

TEST(SimTaskOracle, a_task_at_another_pe_is_found) {
  TaskOracle oracle;
  const TaskFront front{77, 0, kUnordered};
  oracle.made(front, {1, 2, kSizeBytes});
  Fed fed(front, kSizeBytes, 1);
  EXPECT_FALSE(oracle.met(3, fed.message(), 0));
}

TEST(SimTaskOracle, a_wrong_byte_size_or_source_is_found) {
  const TaskFront front{77, 0, kUnordered};
  for (int wrong = 0; wrong < 3; ++wrong) {
    TaskOracle oracle;
    oracle.made(front, {1, 2, kSizeBytes});
    Fed fed(front, wrong == 1 ? kSizeBytes - 1 : kSizeBytes, wrong == 2 ? 0 : 1);
    if (wrong == 0) fed.body()[kSizeBytes - 1] ^= std::byte{1};
    EXPECT_FALSE(oracle.met(2, fed.message(), 0)) << wrong;
  }
}

TEST(SimTaskOracle, a_task_that_passes_another_one_is_found) {
  TaskOracle oracle;
  const TaskFront first{77, 0, oracle.next_order(1, 2)};
  const TaskFront second{78, 0, oracle.next_order(1, 2)};
  oracle.made(first, {1, 2, kSizeBytes});
  oracle.made(second, {1, 2, kSizeBytes});
  Fed fed(second, kSizeBytes, 1);
  EXPECT_FALSE(oracle.met(2, fed.message(), 0));
}

}  // namespace
}  // namespace photon::simtest
