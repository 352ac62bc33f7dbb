// A job of several hosts around its beginning and its end, where one of its photonruns or what
// started it goes wrong. Hosts are all this one; no sshd is needed.
#include <sys/stat.h>

#include "launched.hpp"

namespace photon::test {
namespace {

bool tells(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class HostsStart : public testing::Test {
 protected:
  HostsStart() { ::setenv("PHOTON_JOB_KEY", kKey, 1); }
  ~HostsStart() override { ::unsetenv("PHOTON_JOB_KEY"); }

  // Has joined a root, and waits for "begin" on its input.
  static void let_join(Launched& leaf) { leaf.write_input(std::string(kKey) + "\n"); }
  static std::string place_of_root(Launched& root) {
    root.await_error(" for ");
    const std::size_t begin = root.err.find("waiting at ") + 11;
    return root.err.substr(begin, root.err.find(' ', begin) - begin);
  }
  // Stands for ssh: a script.
  static std::string stand_in(const std::string& text) {
    const std::string path = testing::TempDir() + "photon-stand-in." + std::to_string(::getpid());
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    ::chmod(path.c_str(), S_IRWXU);
    return path;
  }

  static constexpr const char* kKey = "a key of the tests, long enough";
};

TEST_F(HostsStart, a_leaf_that_hears_no_begin_ends) {
  Launched root({"--root", "127.0.0.1:0", "-n", "2", "--here", "1", "sleep", "60"});
  Launched leaf(
      {"--join", place_of_root(root), "--seat", "1", "--here", "1", "--wait", "1", "true"});
  let_join(leaf);
  EXPECT_EQ(leaf.wait(), 125);
  EXPECT_TRUE(tells(leaf.err, "does not say \"begin\"")) << leaf.err;
  EXPECT_NE(root.wait(), 0);
}

TEST_F(HostsStart, a_leaf_whose_root_dies_before_begin_ends) {
  Launched root(
      {"--root", "127.0.0.1:0", "-n", "2", "--here", "1", "sh", "-c", "echo up; sleep 60"});
  Launched leaf(
      {"--join", place_of_root(root), "--seat", "1", "--here", "1", "--wait", "3600", "true"});
  let_join(leaf);
  root.await_lines(1);  // the job has begun there
  root.signal(SIGKILL);
  EXPECT_EQ(root.wait(), 137);
  EXPECT_EQ(leaf.wait(), 125);
  EXPECT_TRUE(tells(leaf.err, "ended before it said \"begin\"")) << leaf.err;
}

TEST_F(HostsStart, a_starter_that_ends_badly_after_the_job_is_no_success) {
  for (const char* const end : {"kill -9 $$", "exit 255", "exit 3"}) {
    const std::string ssh = stand_in(std::string("for last; do :; done\nsh -c \"$last\"\n") + end);
    Launched job({"-H", "127.0.0.2", "--ssh", ssh, "echo", "done"});
    EXPECT_NE(job.wait(), 0) << end;
    EXPECT_TRUE(tells(job.err, "output may be lost")) << end << ": " << job.err;
    job.await_nothing_left();
    std::filesystem::remove(ssh);
  }
}

TEST_F(HostsStart, a_starter_whose_children_write_without_end_is_told_all_the_same) {
  // Faster together than anybody reads.
  const std::string ssh = stand_in(
      "for i in 1 2 3 4 5 6; do yes '' >&2 & done\n"
      "until [ \"$(cat /proc/$!/comm)\" = yes ]; do :; done; exit 255");
  Launched job({"-H", "127.0.0.2", "--ssh", ssh, "true"});
  EXPECT_EQ(job.wait(), 125);
  EXPECT_TRUE(tells(job.err, "ssh to 127.0.0.2 failed")) << job.err.substr(0, 1000);
  job.await_nothing_left();
  std::filesystem::remove(ssh);
}

TEST_F(HostsStart, a_command_that_is_too_long_for_one_argument_is_refused_in_words) {
  const std::string ssh = stand_in("for last; do :; done\nexec sh -c \"$last\"");
  Launched fits(
      {"-H", "127.0.0.2", "--ssh", ssh, "sh", "-c", "echo ${#1}", "sh", std::string(120'000, 'x')});
  EXPECT_EQ(fits.wait(), 0) << fits.err;
  EXPECT_EQ(fits.out, "120000\n");
  Launched job({"-H", "127.0.0.2", "--ssh", ssh, "echo", std::string(60'000, '!')});
  EXPECT_EQ(job.wait(), 125);
  EXPECT_TRUE(tells(job.err, "the command for 127.0.0.2 is 30")) << job.err;
  EXPECT_TRUE(tells(job.err, " are possible")) << job.err;
  std::filesystem::remove(ssh);
}

TEST_F(HostsStart, input_that_does_not_block_arrives_whole) {
  Launched job({"-H", "localhost", "cat"},
               {"python3", "-c",
                "import fcntl, os, sys; fcntl.fcntl(0, fcntl.F_SETFL, os.O_NONBLOCK); "
                "os.execvp(sys.argv[1], sys.argv[1:])"});
  job.write_input("first\n");
  job.await_lines(1);  // what follows is not there yet
  job.write_input("second\n");
  job.close_input();
  EXPECT_EQ(job.wait(), 0) << job.err;
  EXPECT_EQ(job.out, "first\nsecond\n");
}

TEST_F(HostsStart, the_key_is_given_to_no_rank) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"-x", "PHOTON_JOB_KEY"},
                                                {"--env", "PHOTON_JOB_KEY=of the tests"}}) {
    Launched job({"-n", "1", words[0], words[1], "true"});
    EXPECT_EQ(job.wait(), 125);
    EXPECT_TRUE(tells(job.err, "PHOTON_JOB_KEY is not given to ranks")) << job.err;
  }
}

}  // namespace
}  // namespace photon::test
