// Ranks that are well and yet did not join the job: photonrun says who, for a job of several ranks
// that each ran on its own looks like a success.
#include "launch_ranks.hpp"

namespace photon::test {
namespace {

const RankBody joins_and_leaves_body("joins_and_leaves", [] {
  const auto boot = join();
  EXPECT_TRUE(boot->leave());
});

std::string joining_lines(std::vector<std::string> arguments) {
  Launched job(arguments);
  EXPECT_EQ(job.wait(), 0) << job.out << job.err;
  return job.err;
}

TEST(PhotonrunJoining, of_all_ranks_is_no_news) {
  EXPECT_EQ(joining_lines(ranks_of("joins_and_leaves", "3")), "");
}

TEST(PhotonrunJoining, that_an_emptied_environment_prevents_is_told) {
  const std::string err = joining_lines(ranks_of("joins_and_leaves", "2", {"env", "-i"}));
  EXPECT_TRUE(err.starts_with("photonrun: no rank joined the job: each ran on its own. ")) << err;
  EXPECT_TRUE(says(err, "PHOTON_LAUNCH_FD") && says(err, "env -i")) << err;
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
}

TEST(PhotonrunJoining, names_the_ranks_that_did_not_where_others_did) {
  const std::string some = "case $PHOTON_RANK in 1|2|4) exit 0;; esac; exec \"$0\" \"$@\"";
  const std::string err = joining_lines(ranks_of("joins_and_leaves", "5", {"sh", "-c", some}));
  EXPECT_TRUE(err.starts_with("photonrun: ranks 1-2, 4 did not join the job. ")) << err;
}

TEST(PhotonrunJoining, of_a_job_of_one_rank_makes_no_difference) {
  EXPECT_EQ(joining_lines({"-n", "1", "true"}), "");
}

TEST(PhotonrunJoining, is_no_matter_where_a_rank_failed) {
  Launched job({"-n", "2", "sh", "-c", "exit 3"});
  EXPECT_EQ(job.wait(), 3);
  EXPECT_FALSE(says(job.err, "joined")) << job.err;
}

TEST(PhotonrunJoining, is_told_by_the_root_of_ranks_of_all_hosts) {
  Launched job({"-H", "localhost:2", "true"});
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(std::count(job.err.begin(), job.err.end(), '\n'), 1) << job.err;
  EXPECT_TRUE(job.err.starts_with("photonrun: no rank joined the job")) << job.err;
}

}  // namespace
}  // namespace photon::test
