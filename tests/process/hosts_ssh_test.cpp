// photonrun -H: jobs on several hosts that ssh starts, through a real sshd. The hosts are addresses
// of this one.
#include <algorithm>
#include <csignal>

#include "ssh_server.hpp"

namespace photon::test {
namespace {

using Lines = std::vector<std::string>;

std::string content_of(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A word of 64 hexadecimal digits, as the key of a job is; other words may hold as many and more.
bool has_key(const std::string& text) {
  std::size_t digits = 0;
  char before = '=';
  for (const char one : text + '\0') {
    const bool is_digit = std::isxdigit(static_cast<unsigned char>(one)) != 0;
    const bool is_in_word = std::isalnum(static_cast<unsigned char>(one)) != 0 || one == '.';
    if (digits == 64 && !is_in_word) return true;
    const bool is_begun = digits > 0 || std::isalnum(static_cast<unsigned char>(before)) == 0;
    digits = is_digit && is_begun ? digits + 1 : 0;
    before = one;
  }
  return false;
}

class HostsBySsh : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_.why_not().empty()) GTEST_SKIP() << server_.why_not();
    ASSERT_EQ(server_.failure(), "");
  }

  Lines on(const std::string& hosts, const Lines& rest) const { return by(server_, hosts, rest); }
  static Lines by(const SshServer& server, const std::string& hosts, const Lines& rest) {
    return with(server.command(), hosts, rest);
  }
  static Lines with(const std::string& ssh, const std::string& hosts, const Lines& rest) {
    Lines all{"-H", hosts, "--ssh", ssh};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }
  // Ends with 125 and that, at once and with nothing left.
  static void expect_refused(const Lines& arguments, const Lines& parts) {
    Launched run(arguments);
    EXPECT_EQ(run.wait(), 125) << run.out << run.err;
    for (const std::string& part : parts)
      EXPECT_TRUE(says(run.err, part)) << part << ": " << run.err;
    run.await_nothing_left();
  }
  static Lines sorted_lines(const std::string& text) {
    Lines lines;
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  // Processes of the job with that name and that word among their arguments.
  static std::vector<pid_t> find(const Launched& run, const std::string& name,
                                 const std::string& word) {
    std::vector<pid_t> found;
    for (const pid_t pid : run.processes()) {
      if (content_of(pid, "comm") == name + "\n" && says(content_of(pid, "cmdline"), word))
        found.push_back(pid);
    }
    return found;
  }
  static std::string first_complaint(const std::string& err) {
    const std::size_t at = err.find("photonrun: ");
    return at == std::string::npos ? "" : err.substr(at, err.find('\n', at) - at);
  }
  // A script that stands for ssh.
  std::string script(const std::string& text) const {
    const std::string path = server_.path("script");
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    ::chmod(path.c_str(), S_IRWXU);
    return path;
  }

  const SshServer server_;
};

TEST_F(HostsBySsh, ranks_are_spread_over_the_list_in_its_order) {
  Launched run(on("127.0.0.2:2,127.0.0.1",
                  {"--label", "sh", "-c", "set -- $SSH_CONNECTION; echo $PHOTON_SIZE at $3"}));
  EXPECT_EQ(run.wait(), 0) << run.err;
  EXPECT_EQ(sorted_lines(run.out),
            (Lines{"[0] 3 at 127.0.0.2", "[1] 3 at 127.0.0.2", "[2] 3 at 127.0.0.1"}));
  EXPECT_TRUE(run.err.starts_with("photonrun: no rank joined the job")) << run.err;
  run.expect_nothing_left();
}

TEST_F(HostsBySsh, more_ranks_than_slots_go_round_and_fewer_leave_the_last_hosts_alone) {
  const Lines echo{"--label", "sh", "-c", "set -- $SSH_CONNECTION; echo $3"};
  Launched more(on("127.0.0.1,127.0.0.2:2", [&] {
    Lines words{"-n", "5"};
    words.insert(words.end(), echo.begin(), echo.end());
    return words;
  }()));
  EXPECT_EQ(more.wait(), 0) << more.err;
  EXPECT_EQ(sorted_lines(more.out), (Lines{"[0] 127.0.0.1", "[1] 127.0.0.1", "[2] 127.0.0.2",
                                           "[3] 127.0.0.2", "[4] 127.0.0.2"}));
  Launched fewer(on("127.0.0.1:2,nohost.invalid", {"-n", "2", "sh", "-c", "echo here"}));
  EXPECT_EQ(fewer.wait(), 0) << fewer.err;
  EXPECT_EQ(fewer.out, "here\nhere\n");
}

TEST_F(HostsBySsh, random_traffic_crosses_between_two_of_ssh_and_this_one) {
  Launched run(on("127.0.0.1:2,localhost,127.0.0.2",
                  {"--label", std::string(PHOTON_BIN_DIR) + "/engine_stress", "1", "7", "8"}));
  EXPECT_EQ(run.wait(), 0) << run.err;
  int count = 0;
  for (std::size_t at = 0; (at = run.out.find("verified ", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 4) << run.out;
  EXPECT_FALSE(says(run.out, "verified 0 ")) << run.out;
  run.expect_nothing_left();
}

// programs/leading.cpp; the root has no ranks of its own.
TEST_F(HostsBySsh, sums_of_all_ranks_go_through_one_leader_a_host) {
  Launched run(on("127.0.0.1:2,localhost,127.0.0.2:3",
                  {"--env", "PHOTON_COLL_ALLREDUCE=leaders", PHOTON_BIN_DIR "/leading"}));
  EXPECT_EQ(run.wait(), 0) << run.out << run.err;
  const Lines lines = sorted_lines(run.out);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "allreduce by leaders"), 6) << run.out;
  const auto is_sum = [](const std::string& line) { return line.starts_with("allreduce by "); };
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), is_sum), 6) << run.out;
  run.expect_nothing_left();
}

TEST_F(HostsBySsh, settings_variables_and_the_directory_travel) {
  ::setenv("PHOTON_OF_THE_TESTS", "two words; $HOME 'quoted'", 1);
  ::setenv("OF_THE_TESTS", "a b", 1);
  ::setenv("PHOTON_JOB_KEY", "a key that is of no use here", 1);
  Launched run(on("127.0.0.1", {"-x", "OF_THE_TESTS", "--env", "GIVEN=c  d", "sh", "-c",
                                "echo \"$PHOTON_OF_THE_TESTS|$OF_THE_TESTS|$GIVEN\"; pwd; "
                                "echo ${PHOTON_JOB_KEY:-no key}"}));
  EXPECT_EQ(run.wait(), 0) << run.err;
  for (const char* const name : {"PHOTON_OF_THE_TESTS", "OF_THE_TESTS", "PHOTON_JOB_KEY"})
    ::unsetenv(name);
  EXPECT_EQ(run.out, "two words; $HOME 'quoted'|a b|c  d\n" +
                         std::filesystem::current_path().string() + "\nno key\n");
  Launched elsewhere(on("127.0.0.1", {"--chdir", "/", "pwd"}));
  EXPECT_EQ(elsewhere.wait(), 0) << elsewhere.err;
  EXPECT_EQ(elsewhere.out, "/\n");
  expect_refused(on("127.0.0.1", {"--chdir", "/no/such/folder", "true"}),
                 {"cannot enter /no/such/folder", "127.0.0.1"});
}

TEST_F(HostsBySsh, standard_input_goes_to_rank_0_and_nobody_else) {
  Launched run(on("127.0.0.1,127.0.0.2", {"--label", "cat"}));
  run.write_input("first\n");
  run.await_lines(1);  // before it ended
  run.write_input("second\n");
  run.close_input();
  EXPECT_EQ(run.wait(), 0) << run.err;
  EXPECT_EQ(run.out, "[0] first\n[0] second\n");
  run.expect_nothing_left();
}

TEST_F(HostsBySsh, all_output_arrives_before_the_job_is_over) {
  Launched run(on("127.0.0.1,127.0.0.2", {"sh", "-c", "seq 100000; echo error >&2"}));
  EXPECT_EQ(run.wait(), 0) << run.err;
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 200'000);
  EXPECT_TRUE(run.err.starts_with("error\nerror\nphotonrun: no rank joined the job")) << run.err;
}

TEST_F(HostsBySsh, a_rank_that_fails_ends_the_job_with_its_status_and_is_named_with_its_host) {
  Launched run(
      on("127.0.0.1,127.0.0.2", {"sh", "-c", "[ $PHOTON_RANK = 0 ] && exec sleep 60; exit 3"}));
  EXPECT_EQ(run.wait(), 3) << run.err;
  EXPECT_TRUE(says(run.err, "exited with status 3, on 127.0.0.2")) << run.err;
  EXPECT_FALSE(says(run.err, "ended by the root")) << run.err;  // said once is enough
  run.expect_nothing_left();
  Launched missing(on("127.0.0.1,127.0.0.2", {"/no/such/program"}));
  EXPECT_EQ(missing.wait(), 127) << missing.err;
  EXPECT_TRUE(says(missing.err, "could not start /no/such/program")) << missing.err;
  missing.expect_nothing_left();
}

TEST_F(HostsBySsh, signals_and_the_time_end_it_everywhere) {
  Launched told(on("127.0.0.1,127.0.0.2", {"sh", "-c", "echo up; exec sleep 60"}));
  told.await_lines(2);
  told.signal(SIGINT);
  EXPECT_EQ(told.wait(), 130) << told.err;
  told.expect_nothing_left();
  Launched late(on("127.0.0.1,127.0.0.2", {"--timeout", "2", "sleep", "60"}));
  EXPECT_EQ(late.wait(), 124) << late.err;
  EXPECT_TRUE(says(late.err, "ranks 0-1 still ran")) << late.err;
  late.expect_nothing_left();
}

TEST_F(HostsBySsh, a_host_that_cannot_be_had_is_named_with_the_cause) {
  expect_refused(on("127.0.0.1,nohost.invalid", {"sleep", "60"}),
                 {"ssh to nohost.invalid failed", "resolve"});
  expect_refused(on("127.0.0.2,127.0.0.9", {"sleep", "60"}),
                 {"ssh to 127.0.0.9 failed", "refused"});
  expect_refused(with(server_.command("other"), "127.0.0.1", {"sleep", "60"}),
                 {"ssh to 127.0.0.1 failed", "Permission denied"});
  expect_refused(on("127.0.0.1", {"--remote-photonrun", "/no/photonrun", "true"}),
                 {"ssh to 127.0.0.1 finds no photonrun", "/no/photonrun"});
  expect_refused(with("/no/such/ssh", "127.0.0.1", {"true"}), {"cannot start /no/such/ssh"});
}

TEST_F(HostsBySsh, a_list_that_makes_no_sense_is_refused_in_words) {
  expect_refused(on("", {"true"}), {"-H", "host is missing"});
  expect_refused(on("127.0.0.1:0", {"true"}), {"how many ranks"});
  expect_refused(on("127.0.0.1:x", {"true"}), {"how many ranks"});
  expect_refused(on("127.0.0.1,127.0.0.1", {"true"}), {"stands there twice"});
  expect_refused(on("-oProxyCommand=true", {"true"}), {"no name of a host"});
  expect_refused(with("ssh 'open", "127.0.0.1", {"true"}), {"left open"});
  expect_refused(on("127.0.0.1", {"-x", "NO_SUCH_VARIABLE", "true"}), {"is not set"});
  expect_refused({"--ssh", "ssh", "true"}, {"--hosts"});
}

TEST_F(HostsBySsh, a_killed_ssh_is_named_before_what_comes_of_it) {
  Launched run(on("127.0.0.1,127.0.0.2",
                  {"--label", "sh", "-c", "echo up; while :; do echo on || exit 1; done"}));
  run.await_lines(2);
  const std::vector<pid_t> found = find(run, "ssh", "127.0.0.2");
  ASSERT_EQ(found.size(), 1u);
  ::kill(found.front(), SIGKILL);
  EXPECT_EQ(run.wait(), 137) << run.err;
  EXPECT_TRUE(says(first_complaint(run.err), "ssh to 127.0.0.2 was killed by signal 9")) << run.err;
  run.await_nothing_left();
}

TEST_F(HostsBySsh, a_killed_photonrun_there_ends_the_job_and_its_host_is_named) {
  Launched run(on("127.0.0.1,127.0.0.2", {"sh", "-c", "echo up; exec sleep 60"}));
  run.await_lines(2);
  const std::vector<pid_t> there = find(run, "photonrun", std::string("--seat\0002", 8) + '\0');
  ASSERT_EQ(there.size(), 2u);
  for (const int number : {SIGSTOP, SIGKILL})
    for (const pid_t pid : there) ::kill(pid, number);
  EXPECT_NE(run.wait(), 0);
  EXPECT_TRUE(says(first_complaint(run.err), "127.0.0.2")) << run.err;
  run.await_nothing_left();
}

TEST_F(HostsBySsh, a_killed_root_leaves_nothing_anywhere) {
  Launched run(on("127.0.0.1,127.0.0.2,localhost", {"sh", "-c", "echo up; exec sleep 60"}));
  run.await_lines(3);
  std::vector<pid_t> both;
  for (const pid_t pid : find(run, "photonrun", "-H")) both.push_back(pid);
  EXPECT_GE(both.size(), 2u);
  for (const int number : {SIGSTOP, SIGKILL})
    for (const pid_t pid : both) ::kill(pid, number);
  EXPECT_EQ(run.wait(), 137);
  run.await_nothing_left();
}

TEST_F(HostsBySsh, no_argument_and_no_variable_of_the_job_holds_its_key) {
  Launched run(on("127.0.0.1,localhost", {"sh", "-c", "echo up; exec sleep 60"}));
  run.await_lines(2);
  const std::vector<pid_t> all = run.processes();
  EXPECT_GE(all.size(), 9u);  // three photonruns of two processes, ssh, two ranks
  for (const pid_t pid : all) {
    EXPECT_FALSE(has_key(content_of(pid, "cmdline"))) << content_of(pid, "cmdline");
    EXPECT_FALSE(has_key(content_of(pid, "environ"))) << content_of(pid, "cmdline");
  }
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), 143) << run.err;
}

TEST_F(HostsBySsh, who_does_not_come_is_named_when_the_time_is_up_and_can_be_interrupted) {
  const std::string silent = script("echo there >&2; exec sleep 60");
  expect_refused(with(silent, "127.0.0.1,127.0.0.2:3", {"--wait", "0.5", "true"}),
                 {"4 of the 4 ranks", "127.0.0.1, 127.0.0.2"});
  Launched run(with(silent, "127.0.0.1", {"true"}));
  run.await_error("127.0.0.1: there");  // what ssh says is shown with its host
  run.signal(SIGINT);
  EXPECT_EQ(run.wait(), 130) << run.err;
  run.await_nothing_left();
}

// As after `kill -9` of all that is at the root, before the job began.
TEST_F(HostsBySsh, a_photonrun_whose_starter_is_gone_ends) {
  Launched keyless({"--join", "127.0.0.1:1", "--seat", "1", "--here", "1", "true"});
  keyless.close_input();
  EXPECT_EQ(keyless.wait(), 125);
  EXPECT_TRUE(says(keyless.err, "who started this photonrun is gone")) << keyless.err;
  Launched late({"--join", "127.0.0.1:1", "--seat", "1", "--here", "1", "true"});
  late.write_input("a key that nobody asks for\n");
  late.await_error("waiting for the root");
  late.close_input();
  EXPECT_EQ(late.wait(), 125);
  EXPECT_TRUE(says(late.err, "who started this photonrun is gone")) << late.err;
}

}  // namespace
}  // namespace photon::test
