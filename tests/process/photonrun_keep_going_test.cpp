// photonrun --keep-going: a rank that ends is named, the others go on, and the status at the end is
// that of the first that failed.
#include "launched.hpp"

namespace photon::test {
namespace {

using Words = std::vector<std::string>;

const std::string kSurvivorJob = std::string(PHOTON_BIN_DIR) + "/survivor";

Words keep_going(Words options, const Words& command) {
  options.insert(options.begin(), "--keep-going");
  options.insert(options.end(), command.begin(), command.end());
  return options;
}

Words shell(const std::string& script) { return {"sh", "-c", script}; }

// Standard error holds these, one after the other.
void expect_in_order(const std::string& err, const Words& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    at = err.find(part, at);
    ASSERT_NE(at, std::string::npos) << "no " << part << " (behind those before it) in: " << err;
    at += part.size();
  }
}

TEST(PhotonrunKeepGoing,
     names_ranks_that_end_with_any_status_and_returns_that_of_the_first_failed) {
  Launched job(keep_going({"-n", "4"}, shell("case $PHOTON_RANK in 0) exit 0;; 1) exit 7;; esac; "
                                             "trap 'exit 5' USR1; echo ready; "
                                             "while :; do sleep 0.05; done")));
  job.await_error("rank 0 (pid ");
  job.await_error("exited with status 0; the others go on\n");
  job.await_lines(2);
  job.await_error(") exited with status 7; the others go on\n");
  job.signal(SIGUSR1);
  EXPECT_EQ(job.wait(), 7);
  EXPECT_TRUE(says(job.err, ") exited with status 5\n")) << job.err;
  EXPECT_TRUE(says(job.err, "photonrun: the first to fail: rank 1 (pid ")) << job.err;
  job.expect_nothing_left();
}

TEST(PhotonrunKeepGoing, is_silent_about_ranks_that_leave_in_order_and_are_well) {
  Launched job(keep_going({"-n", "3", "--env", "PHOTON_LOG=error"},
                          {std::string(PHOTON_BIN_DIR) + "/leaver", "at_once"}));
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(job.err, "");
}

// The others check that they are told PH_ERR_PEER for the dead one, and go on among each other.
class PhotonrunKeepGoingOn : public testing::TestWithParam<Words> {};

TEST_P(PhotonrunKeepGoingOn, ranks_that_are_left_hear_of_the_dead_one_and_end_well) {
  Launched job(keep_going(GetParam(), {kSurvivorJob, "kill", "probe", "launched"}));
  EXPECT_EQ(job.wait(), 128 + SIGKILL) << job.err;
  EXPECT_TRUE(says(job.err, "was killed by signal 9 (Killed)")) << job.err;
  EXPECT_TRUE(says(job.err, "; the others go on\n")) << job.err;
  EXPECT_FALSE(says(job.err, "rank 0 (pid ") || says(job.err, "rank 2 (pid ")) << job.err;
  job.expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Ways, PhotonrunKeepGoingOn,
                         testing::Values(Words{"-n", "3"}, Words{"-n", "3", "--label"},
                                         Words{"-H", "localhost:3"},
                                         Words{"-H", "localhost:3", "--label"}));

TEST(PhotonrunKeepGoing, ends_at_the_time_limit_and_by_a_signal_as_ever) {
  const Words ranks = shell("[ $PHOTON_RANK = 1 ] && exit 3; exec sleep 1000");
  Launched late(keep_going({"-n", "3", "--timeout", "0.5"}, ranks));
  EXPECT_EQ(late.wait(), 124);
  expect_in_order(late.err, {"status 3; the others go on\n", "after 0.5 s ranks 0, 2 still ran"});
  late.expect_nothing_left();
  Launched told(keep_going({"-n", "3"}, ranks));
  told.await_error("status 3; the others go on\n");
  told.signal(SIGINT);
  EXPECT_EQ(told.wait(), 128 + SIGINT);
  EXPECT_EQ(std::count(told.err.begin(), told.err.end(), '\n'), 2) << told.err;
  told.expect_nothing_left();
}

TEST(PhotonrunKeepGoing, a_program_that_cannot_be_started_is_named_for_each_rank) {
  Launched job(keep_going({"-n", "2"}, {"no-such-program"}));
  EXPECT_EQ(job.wait(), 127);
  EXPECT_TRUE(says(job.err, "rank 0 could not start no-such-program") &&
              says(job.err, "rank 1 could not start no-such-program"))
      << job.err;
}

TEST(PhotonrunKeepGoing, is_the_roots_option) {
  Launched job({"--join", "127.0.0.1:1", "--keep-going", "true"});
  EXPECT_EQ(job.wait(), 125);
  EXPECT_TRUE(says(job.err, "photonrun: --join excludes --keep-going") ||
              says(job.err, "photonrun: --keep-going excludes --join"))
      << job.err;
}

class PhotonrunKeepGoingHosts : public testing::Test {
 protected:
  PhotonrunKeepGoingHosts() { ::setenv("PHOTON_JOB_KEY", "a key of the tests, long enough", 1); }
  ~PhotonrunKeepGoingHosts() override { ::unsetenv("PHOTON_JOB_KEY"); }

  static std::string place_of(Launched& root) {
    const std::string before = "waiting at ";
    root.await_error(" for ");
    const std::size_t begin = root.err.find(before) + before.size();
    return root.err.substr(begin, root.err.find(' ', begin) - begin);
  }
  static pid_t launcher_of(const Launched& run) {
    std::ifstream file("/proc/" + std::to_string(run.pid()) + "/task/" + std::to_string(run.pid()) +
                       "/children");
    pid_t child = 0;
    file >> child;
    return child;
  }
};

TEST_F(PhotonrunKeepGoingHosts, a_rank_of_another_host_is_named_and_the_others_go_on) {
  const Words ranks = shell(
      "[ $PHOTON_RANK = 1 ] && exit 7; echo ready; trap 'exit 0' USR1; "
      "while :; do sleep 0.05; done");
  Launched root(keep_going({"--root", "127.0.0.1:0", "-n", "3", "--here", "1"}, ranks));
  Words join{"--join", place_of(root), "--here", "2"};
  join.insert(join.end(), ranks.begin(), ranks.end());
  Launched leaf(join);
  root.await_error("exited with status 7, on ");
  root.await_error("; the others go on\n");
  root.await_lines(1);
  leaf.await_lines(1);
  root.signal(SIGUSR1);
  EXPECT_EQ(root.wait(), 7) << root.err;
  EXPECT_EQ(leaf.wait(), 7) << leaf.err;
}

TEST_F(PhotonrunKeepGoingHosts, a_host_that_is_lost_is_named_and_the_others_go_on) {
  const Words ranks = shell("echo ready; trap 'exit 0' USR1; while :; do sleep 0.05; done");
  Launched root(keep_going({"--root", "127.0.0.1:0", "-n", "3", "--here", "1"}, ranks));
  Words join{"--join", place_of(root), "--here", "2"};
  join.insert(join.end(), ranks.begin(), ranks.end());
  Launched leaf(join);
  root.await_lines(1);
  leaf.await_lines(2);
  ::kill(launcher_of(leaf), SIGKILL);
  EXPECT_EQ(leaf.wait(), 128 + SIGKILL);
  root.await_error("and ranks 1-2 with it");
  root.signal(SIGUSR1);
  EXPECT_EQ(root.wait(), 128 + SIGKILL) << root.err;
  EXPECT_TRUE(says(root.err, "photonrun: the first to fail: lost ")) << root.err;
}

}  // namespace
}  // namespace photon::test
