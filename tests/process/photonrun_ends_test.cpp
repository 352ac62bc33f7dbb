// However photonrun is ended, nothing is left behind.
#include <algorithm>

#include "launched.hpp"

namespace photon::test {
namespace {

// Ranks that say they run, each with a child of its own, and then wait for ever.
const char* const kWaiting = "sleep 1000 & echo ready; wait; sleep 1000";
// The same behind a wrapper that makes a pid namespace.
const char* const kWrapped = "exec unshare --pid --fork sh -c 'sleep 1000 & echo ready; wait'";

std::vector<std::string> ranks(const std::string& script) {
  return {"-n", "3", "sh", "-c", script};
}

pid_t child_of(pid_t parent) {
  std::ifstream file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) +
                     "/children");
  pid_t child = 0;
  file >> child;
  return child;
}

class PhotonrunEnds : public testing::TestWithParam<int> {};

TEST_P(PhotonrunEnds, by_a_signal_takes_all_ranks_along) {
  Launched job(ranks(kWaiting));
  job.await_lines(3);
  job.await_processes(2 + 3 + 3);
  job.signal(GetParam());
  EXPECT_EQ(job.wait(), 128 + GetParam());
  EXPECT_NE(job.err.find("photonrun: ended by signal"), std::string::npos) << job.err;
  job.expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Signals, PhotonrunEnds, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT));

TEST(Photonrun, killed_by_force_takes_all_ranks_along) {
  Launched job(ranks(kWaiting));
  job.await_lines(3);
  job.signal(SIGKILL);
  EXPECT_EQ(job.wait(), 128 + SIGKILL);
  job.await_nothing_left();
}

TEST(Photonrun, killed_by_force_takes_wrapped_ranks_along) {
  Launched probe({"-n", "1", "unshare", "--pid", "--fork", "true"});
  if (probe.wait() != 0) GTEST_SKIP() << "unshare --pid is not permitted here";
  Launched job(ranks(kWrapped));
  job.await_lines(3);
  job.signal(SIGKILL);
  EXPECT_EQ(job.wait(), 128 + SIGKILL);
  job.await_nothing_left();
}

TEST(Photonrun, whose_launcher_is_killed_by_force_takes_all_ranks_along) {
  Launched job(ranks(kWaiting));
  job.await_lines(3);
  const pid_t launcher = child_of(job.pid());
  ASSERT_GT(launcher, 0);
  ::kill(launcher, SIGKILL);
  EXPECT_EQ(job.wait(), 128 + SIGKILL);
  EXPECT_NE(job.err.find("the launcher was killed by signal 9"), std::string::npos) << job.err;
  job.expect_nothing_left();
}

TEST(Photonrun, ends_wrapped_ranks_on_a_signal) {
  Launched probe({"-n", "1", "unshare", "--pid", "--fork", "true"});
  if (probe.wait() != 0) GTEST_SKIP() << "unshare --pid is not permitted here";
  Launched job(ranks(kWrapped));
  job.await_lines(3);
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait(), 128 + SIGTERM);
  job.expect_nothing_left();
}

TEST(Photonrun, ends_what_ranks_leave_behind) {
  // A daemon: another session, reparented, its output elsewhere.
  Launched job(ranks("setsid sleep 1000 </dev/null >/dev/null 2>&1 & exit 0"));
  EXPECT_EQ(job.wait(), 0);
  job.expect_nothing_left();
}

TEST(Photonrun, ends_at_once_when_a_second_signal_comes) {
  Launched job(ranks("trap '' INT TERM; echo ready; while :; do sleep 1000; done"));
  job.await_lines(3);
  job.signal(SIGINT);
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait(), 128 + SIGINT);
  job.expect_nothing_left();
}

TEST(Photonrun, forwards_signals_that_do_not_end_the_job) {
  Launched job(ranks("trap 'echo got it; exit 0' USR1; echo ready; while :; do sleep 0.05; done"));
  job.await_lines(3);
  job.signal(SIGUSR1);
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(std::count(job.out.begin(), job.out.end(), 'g'), 3) << job.out;
  job.expect_nothing_left();
}

TEST(Photonrun, stops_and_continues_with_its_ranks) {
  Launched job(ranks("trap 'echo on; exit 0' CONT; echo ready; while :; do sleep 0.05; done"));
  job.await_lines(3);
  job.signal(SIGTSTP);
  int status = 0;
  ASSERT_EQ(::waitpid(job.pid(), &status, WUNTRACED), job.pid());
  EXPECT_TRUE(WIFSTOPPED(status));
  job.signal(SIGCONT);
  EXPECT_EQ(job.wait(), 0);
  job.expect_nothing_left();
}

TEST(Photonrun, ends_stopped_ranks) {
  Launched job(ranks("echo ready; kill -STOP $$"));
  job.await_lines(3);
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait(), 128 + SIGTERM);
  job.expect_nothing_left();
}

TEST(Photonrun, killed_by_force_ends_an_inner_job_too) {
  const std::string inner =
      std::string("exec ") + PHOTON_BIN_DIR + "/photonrun -n 2 sh -c 'echo ready; exec sleep 1000'";
  Launched job(ranks(inner));
  job.await_lines(6);
  job.signal(SIGKILL);
  EXPECT_EQ(job.wait(), 128 + SIGKILL);
  job.await_nothing_left();
}

TEST(Photonrun, whose_reader_leaves_ends_like_any_writer) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  const std::string bin = PHOTON_BIN_DIR;
  // yes writes until somebody closes the connection; head is that somebody.
  Launched job({"-n", "1", "sh", "-c", bin + "/photonrun -n 2 --label yes | head -n 1"});
  EXPECT_EQ(job.wait(), 0);
  EXPECT_NE(job.err.find("was killed by signal 13"), std::string::npos) << job.err;
  ::close(ends[1]);
  job.expect_nothing_left();
}

}  // namespace
}  // namespace photon::test
