// Output that cannot be written, or only slowly: nothing of it is lost with status 0, and photonrun
// stays awake.
#include "launched.hpp"

namespace photon::test {
namespace {

using Command = std::vector<std::string>;

// Starts photonrun with its outputs where a shell would put them.
Command into(const std::string& redirection) {
  return {"sh", "-c", "exec \"$@\" " + redirection, "sh"};
}

// Whoever reads its standard output has left before it starts.
Command to_nobody() {
  return {"python3", "-c",
          "import os, signal, sys; ends = os.pipe(); os.close(ends[0]); os.dup2(ends[1], 1); "
          "signal.signal(signal.SIGPIPE, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])"};
}

// Its outputs are a terminal that nobody reads, and which it cannot open again: the master of one.
Command to_terminal_that_stands_still() {
  return {"python3", "-c",
          "import os, sys, tty; master, slave = os.openpty(); tty.setraw(slave); "
          "os.set_inheritable(slave, True); os.dup2(master, 1); os.dup2(master, 2); "
          "os.execvp(sys.argv[1], sys.argv[1:])"};
}

// All ranks are well: what is lost is lost by photonrun.
class PhotonrunOutput : public testing::TestWithParam<Command> {
 protected:
  static Command job(const Command& rest) {
    Command all = GetParam();
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }
};

TEST_P(PhotonrunOutput, that_does_not_fit_on_its_device_is_no_success) {
  Launched run(job({"echo", "lost"}), into(">/dev/full"));
  EXPECT_EQ(run.wait(), 125);
  EXPECT_TRUE(says(run.err, "cannot write standard output: No space left on device")) << run.err;
  run.expect_nothing_left();
  Launched error(job({"sh", "-c", "echo lost >&2; echo kept"}), into("2>/dev/full"));
  EXPECT_EQ(error.wait(), 125);
  EXPECT_TRUE(says(error.out, "kept")) << error.out;
}

TEST_P(PhotonrunOutput, that_is_closed_is_no_success) {
  Launched run(job({"echo", "lost"}), into(">&-"));
  EXPECT_EQ(run.wait(), 125);
  EXPECT_TRUE(says(run.err, "cannot write standard output: it is closed; output is lost"))
      << run.err;
  run.expect_nothing_left();
  Launched error(job({"sh", "-c", "echo lost >&2; echo kept"}), into("2>&-"));
  EXPECT_EQ(error.wait(), 125);
  EXPECT_TRUE(says(error.out, "kept")) << error.out;
  Launched silent(job({"true"}), into(">&- 2>&-"));
  EXPECT_EQ(silent.wait(), 0);
}

TEST_P(PhotonrunOutput, whose_reader_has_left_ends_photonrun_as_sigpipe_would) {
  Launched run(job({"echo", "lost"}), to_nobody());
  EXPECT_EQ(run.wait(), 128 + SIGPIPE);
  EXPECT_EQ(run.err, "");
  run.expect_nothing_left();
}

TEST_P(PhotonrunOutput, of_a_rank_that_fails_leaves_it_its_status) {
  Launched run(job({"sh", "-c", "echo lost; exit 7"}), into(">/dev/full"));
  EXPECT_EQ(run.wait(), 7) << run.err;
}

TEST_P(PhotonrunOutput, that_nobody_needs_may_be_lost) {
  Launched run(job({"echo", "lost"}), into(">/dev/null"));
  EXPECT_EQ(run.wait(), 0) << run.err;
  Launched silent(job({"true"}), into(">/dev/full 2>&1"));
  EXPECT_EQ(silent.wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, PhotonrunOutput,
                         testing::Values(Command{"-n", "1", "--label"}, Command{"-H", "localhost"},
                                         Command{"-H", "localhost", "--label"}));

// Without a label ranks write by themselves, and see by themselves that it fails.
TEST(PhotonrunOutput, that_ranks_write_themselves_is_theirs) {
  Launched run({"-n", "1", "sh", "-c", "echo lost || exit 7"}, into(">/dev/full"));
  EXPECT_EQ(run.wait(), 7) << run.err;
}

TEST(PhotonrunOutput, that_is_closed_is_closed_for_ranks_that_write_themselves) {
  Launched run({"-n", "1", "sh", "-c", "echo lost || exit 7"}, into(">&-"));
  EXPECT_EQ(run.wait(), 7) << run.err;
}

// What photonrun has to say of a job that is well is no output of its ranks.
TEST(PhotonrunOutput, that_photonrun_alone_would_write_may_be_lost) {
  Launched run({"-n", "2", "--label", "--keep-going", "true"}, into("2>&-"));
  EXPECT_EQ(run.wait(), 0);
}

TEST(PhotonrunOutput, to_a_terminal_that_stands_still_does_not_keep_it_from_the_time) {
  Launched job({"-n", "1", "--label", "--timeout", "1", "yes"}, to_terminal_that_stands_still());
  EXPECT_EQ(job.wait_unread(), 124);
  job.expect_nothing_left();
}

}  // namespace
}  // namespace photon::test
