// Random programs do the same preloaded as with MPI's own windows: program random_ops. What they
// compare with is one MPI for all, since the programs are the same.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

#include "mpi_job.hpp"

namespace photon::test {
namespace {

struct RandomJob {
  int seed;
  int ranks;
  std::string sides{};    // as MpiJob has them
  std::string setting{};  // as MpiJob has it
};

class MpiRandom : public testing::TestWithParam<std::tuple<std::string, RandomJob>> {};

std::string name_of(const testing::TestParamInfo<MpiRandom::ParamType>& info) {
  const auto& [flavour, job] = info.param;
  return flavour + "_seed_" + std::to_string(job.seed) + "_ranks_" + std::to_string(job.ranks) +
         (job.sides.empty() ? "" : "_at_" + job.sides) + (job.setting.empty() ? "" : "_served");
}

// MPICH's own windows, if it is here: Open MPI 4.1 gets sums of several ranks wrong now and then.
// Each is run once for all flavours.
CommandResult run_plain(MpiJob job) {
  job.is_preloaded = false;
  job.sides = job.setting = "";
  job.flavour = "mpich";
  if (!missing_for(job).empty()) job.flavour = "openmpi";
  static std::map<std::string, CommandResult> done;
  const auto [place, is_new] = done.try_emplace(mpi_command(job));
  if (is_new) place->second = run_mpi(job, "2>/dev/null");
  return place->second;
}

TEST_P(MpiRandom, SameAsPlain) {
  const auto& [flavour, random] = GetParam();
  MpiJob job{flavour, "random_ops", random.ranks, std::to_string(random.seed) + " 8"};
  job.sides = random.sides;
  job.setting = random.setting;
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  const CommandResult plain = run_plain(job);
  ASSERT_EQ(plain.exit_status, 0) << plain.output;
  ASSERT_NE(plain.output.find("tickets"), std::string::npos) << plain.output;
  // The words on standard error are wanted when it fails, and then alone.
  const CommandResult ours = run_mpi(job, "2>/dev/null");
  ASSERT_EQ(ours.exit_status, 0) << mpi_command(job) << "\n" << run_mpi(job).output;
  EXPECT_EQ(plain.output, ours.output);
}

INSTANTIATE_TEST_SUITE_P(Flavours, MpiRandom,
                         testing::Combine(mpi_flavours(),
                                          testing::Values(RandomJob{1, 2}, RandomJob{2, 2},
                                                          RandomJob{3, 2}, RandomJob{4, 2},
                                                          RandomJob{5, 3}, RandomJob{6, 4})),
                         name_of);

// What is served by the target's thread: memory of another host, and here memory that is copied
// elsewhere.
INSTANTIATE_TEST_SUITE_P(
    Served, MpiRandom,
    testing::Combine(mpi_flavours(), testing::Values(RandomJob{7, 2, "ab"}, RandomJob{9, 4, "aabb"},
                                                     RandomJob{7, 2, "", kNoCopies},
                                                     RandomJob{8, 3, "", kNoCopies})),
    name_of);

}  // namespace
}  // namespace photon::test
