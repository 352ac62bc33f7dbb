// A job of several photonruns: how they find each other, what crosses between them, and that the
// end of any of them ends the job everywhere. All on this host, but for the last test.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/unique_fd.hpp"
#include "stress_job.hpp"
#include "two_hosts.hpp"

namespace photon::test {
namespace {

using Words = std::vector<std::string>;

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class Hosts : public testing::Test {
 protected:
  Hosts() { ::setenv("PHOTON_JOB_KEY", "a key of the tests, long enough", 1); }
  ~Hosts() override { ::unsetenv("PHOTON_JOB_KEY"); }

  static Words root(const Words& rest, const std::string& place = "127.0.0.1:0") {
    return joined({"--root", place}, rest);
  }
  static Words leaf(const std::string& place, const Words& rest) {
    return joined({"--join", place, "--wait", "10"}, rest);
  }
  // Where a root waits, once it does.
  static std::string place_of(Launched& root) {
    const std::string before = "waiting at ";
    root.await_error(" for ");
    const std::size_t at = root.err.find(before);
    if (at == std::string::npos) return "127.0.0.1:1";
    const std::size_t begin = at + before.size();
    return root.err.substr(begin, root.err.find(' ', begin) - begin);
  }
  static Words stress(const std::string& seconds, const std::string& transport = "tcp") {
    return {"--label",
            "--env",
            "PHOTON_TRANSPORT=" + transport,
            std::string(PHOTON_BIN_DIR) + "/engine_stress",
            seconds,
            "7",
            "8"};
  }
  static void expect_verified(const std::string& out, int ranks) {
    int count = 0;
    for (std::size_t at = 0; (at = out.find("verified ", at)) != std::string::npos; ++at) {
      ++count;
      EXPECT_NE(out.find("verified 0 ", at), at) << "a rank got no message";
    }
    EXPECT_EQ(count, ranks) << out;
  }
  // Both processes of a photonrun, not its ranks; neither sees the other's end.
  static void kill_photonrun(const Launched& run) {
    std::vector<pid_t> both;
    for (const pid_t pid : run.processes()) {
      std::ifstream name("/proc/" + std::to_string(pid) + "/comm");
      std::string text;
      std::getline(name, text);
      if (text == "photonrun") both.push_back(pid);
    }
    // The guardian last: a launcher that is stopped when its parent ends is continued by the
    // kernel.
    std::ranges::stable_partition(both, [&](pid_t pid) { return pid != run.pid(); });
    for (const int number : {SIGSTOP, SIGKILL})
      for (const pid_t pid : both) ::kill(pid, number);
  }
};

TEST_F(Hosts, ranks_are_numbered_host_by_host_in_the_order_of_joining) {
  const Words echo{"--label", "sh", "-c", "echo of $PHOTON_SIZE, key ${PHOTON_JOB_KEY:-none}"};
  Launched a(root(joined({"-n", "4", "--here", "1"}, echo)));
  const std::string place = place_of(a);
  Launched b(leaf(place, joined({"--here", "2"}, echo)));
  a.await_error("joined with 2 ranks");
  Launched c(leaf(place, joined({"--here", "1"}, echo)));
  EXPECT_EQ(a.wait(), 0) << a.err;
  EXPECT_EQ(b.wait(), 0) << b.err;
  EXPECT_EQ(c.wait(), 0) << c.err;
  EXPECT_EQ(a.out, "[0] of 4, key none\n");
  EXPECT_TRUE(says(b.out, "[1] of 4") && says(b.out, "[2] of 4")) << b.out;
  EXPECT_EQ(c.out, "[3] of 4, key none\n");
  for (const Launched* run : {&a, &b, &c}) run->expect_nothing_left();
}

TEST_F(Hosts, random_traffic_crosses_between_them_whole_in_order_and_once) {
  Launched a(root(joined({"-n", "4", "--here", "2"}, stress("1"))));
  Launched b(leaf(place_of(a), joined({"--here", "2"}, stress("1"))));
  EXPECT_EQ(a.wait(), 0) << a.err << b.err;
  EXPECT_EQ(b.wait(), 0) << b.err;
  expect_verified(a.out, 2);
  expect_verified(b.out, 2);
  a.expect_nothing_left();
  b.expect_nothing_left();
}

TEST_F(Hosts, three_hosts_over_ipv6) {
  Launched a(root(joined({"-n", "3", "--here", "1"}, stress("1")), "[::1]:0"));
  const std::string place = place_of(a);
  Launched b(leaf(place, joined({"--here", "1"}, stress("1"))));
  Launched c(leaf(place, joined({"--here", "1"}, stress("1"))));
  for (Launched* run : {&a, &b, &c}) {
    EXPECT_EQ(run->wait(), 0) << run->err;
    expect_verified(run->out, 1);
  }
}

TEST_F(Hosts, who_does_not_know_the_key_is_refused_and_the_root_waits_on) {
  const std::string file = testing::TempDir() + "key." + std::to_string(::getpid());
  std::ofstream(file) << "another key, as long as that\n";
  ::chmod(file.c_str(), S_IRUSR | S_IWUSR);
  Launched a(root({"-n", "2", "--here", "1", "true"}));
  const std::string place = place_of(a);
  Launched stranger(leaf(place, {"--here", "1", "--key-file", file, "true"}));
  EXPECT_EQ(stranger.wait(), 125);
  std::filesystem::remove(file);
  EXPECT_TRUE(says(stranger.err, "another key")) << stranger.err;
  a.await_error("does not know the job's key");
  Launched greedy(leaf(place, {"--here", "2", "true"}));
  EXPECT_EQ(greedy.wait(), 125);
  EXPECT_TRUE(says(greedy.err, "it waits for 1 more")) << greedy.err;
  Launched b(leaf(place, {"--here", "1", "true"}));
  EXPECT_EQ(b.wait(), 0) << b.err;
  EXPECT_EQ(a.wait(), 0) << a.err;
}

TEST_F(Hosts, strangers_garbage_and_silence_stall_nobody) {
  Launched a(root({"-n", "2", "--here", "1", "true"}));
  const std::string place = place_of(a);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(static_cast<in_port_t>(std::stoi(place.substr(place.rfind(':') + 1))));
  std::vector<base::UniqueFd> guests;
  for (int i = 0; i < 150; ++i) {  // the silent ones are more than it keeps
    guests.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int fd = guests.back().get();
    ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    if (i >= 100) static_cast<void>(::send(fd, "GET / HTTP", 10, MSG_NOSIGNAL));
  }
  a.await_error("refused a connection");  // for whichever reason the first of them was
  Launched b(leaf(place, {"--here", "1", "true"}));
  EXPECT_EQ(b.wait(), 0) << b.err;
  EXPECT_EQ(a.wait(), 0) << a.err;
}

TEST_F(Hosts, a_root_that_is_not_there_yet_is_waited_for) {
  std::string place;
  {
    Launched a(root({"-n", "2", "--here", "1", "true"}));
    place = place_of(a);
    a.signal(SIGINT);
    EXPECT_EQ(a.wait(), 130) << a.err;
  }
  Launched b(leaf(place, {"--here", "1", "true"}));
  b.await_error("waiting for the root");
  Launched a(root({"-n", "2", "--here", "1", "true"}, place));
  EXPECT_EQ(b.wait(), 0) << b.err;
  EXPECT_EQ(a.wait(), 0) << a.err;
}

TEST_F(Hosts, what_cannot_begin_says_why_and_ends_with_125) {
  Launched a(root({"-n", "2", "--here", "1", "true"}));
  const std::string place = place_of(a);
  Launched second(root({"-n", "2", "--here", "1", "true"}, place));
  EXPECT_EQ(second.wait(), 125);
  EXPECT_TRUE(says(second.err, "in use")) << second.err;
  a.signal(SIGTERM);
  EXPECT_EQ(a.wait(), 143);
  Launched nobody({"--join", place, "--wait", "0.3", "--here", "1", "true"});
  EXPECT_EQ(nobody.wait(), 125);
  EXPECT_TRUE(says(nobody.err, "cannot reach the root")) << nobody.err;
  Launched alone(root({"-n", "2", "--here", "1", "--wait", "0.2", "true"}));
  EXPECT_EQ(alone.wait(), 125);
  EXPECT_TRUE(says(alone.err, "1 of the 1 ranks of other hosts are missing")) << alone.err;
  ::unsetenv("PHOTON_JOB_KEY");
  Launched keyless(root({"-n", "2", "--here", "1", "true"}));
  EXPECT_EQ(keyless.wait(), 125);
  EXPECT_TRUE(says(keyless.err, "no key for the job")) << keyless.err;
  Launched mistaken({"--here", "1", "true"});
  EXPECT_EQ(mistaken.wait(), 125);
}

TEST_F(Hosts, a_rank_that_fails_elsewhere_ends_the_job_and_is_named_with_its_host) {
  Launched a(root({"-n", "2", "--here", "1", "sleep", "60"}));
  Launched b(leaf(place_of(a), {"--here", "1", "sh", "-c", "exit 3"}));
  EXPECT_EQ(a.wait(), 3);
  EXPECT_EQ(b.wait(), 3);
  EXPECT_TRUE(says(a.err, "rank 1 (pid ") && says(a.err, "exited with status 3, on ")) << a.err;
  EXPECT_TRUE(says(b.err, "ended by the root: rank 1")) << b.err;
  a.expect_nothing_left();
  b.expect_nothing_left();
}

TEST_F(Hosts, a_program_that_one_host_lacks_is_named) {
  Launched a(root({"-n", "2", "--here", "1", "sleep", "60"}));
  Launched b(leaf(place_of(a), {"--here", "1", "/no/such/program"}));
  EXPECT_EQ(a.wait(), 127);
  EXPECT_TRUE(says(a.err, "rank 1 could not start /no/such/program")) << a.err;
  EXPECT_EQ(b.wait(), 127);
}

TEST_F(Hosts, a_killed_leaf_ends_the_job) {
  Launched a(root(joined({"-n", "3", "--here", "1"}, stress("25"))));
  Launched b(leaf(place_of(a), joined({"--here", "2"}, stress("25"))));
  b.await_lines(2);
  kill_photonrun(b);
  EXPECT_EQ(a.wait(), 137) << a.err;
  EXPECT_TRUE(says(a.err, "lost ") || says(a.err, "killed by signal 9")) << a.err;
  EXPECT_EQ(b.wait(), 137);
  a.expect_nothing_left();
  b.await_nothing_left();
}

TEST_F(Hosts, a_killed_root_ends_the_ranks_of_the_others) {
  Launched a(root(joined({"-n", "3", "--here", "1"}, stress("25"))));
  Launched b(leaf(place_of(a), joined({"--here", "2"}, stress("25"))));
  b.await_lines(2);
  kill_photonrun(a);
  EXPECT_EQ(b.wait(), 125) << b.err;
  EXPECT_TRUE(says(b.err, "lost the root")) << b.err;
  b.expect_nothing_left();
  a.await_nothing_left();
}

TEST_F(Hosts, a_signal_at_either_ends_both) {
  for (const bool at_root : {true, false}) {
    Launched a(root({"-n", "2", "--here", "1", "sh", "-c", "echo up; exec sleep 60"}));
    Launched b(leaf(place_of(a), {"--here", "1", "sh", "-c", "echo up; exec sleep 60"}));
    a.await_lines(1);
    b.await_lines(1);
    (at_root ? a : b).signal(SIGINT);
    EXPECT_EQ(a.wait(), 130) << a.err;
    EXPECT_EQ(b.wait(), 130) << b.err;
    a.expect_nothing_left();
    b.expect_nothing_left();
  }
}

TEST_F(Hosts, the_time_is_up_everywhere_and_who_ignores_it_is_killed) {
  const Words stubborn{"sh", "-c", "trap '' TERM; while :; do sleep 1; done"};
  Launched a(root(joined({"-n", "2", "--here", "1", "--timeout", "0.5"}, {"sleep", "60"})));
  Launched b(leaf(place_of(a), joined({"--here", "1"}, stubborn)));
  EXPECT_EQ(a.wait(), 124) << a.err;
  EXPECT_TRUE(says(a.err, "ranks 0-1 still ran")) << a.err;
  EXPECT_EQ(b.wait(), 124) << b.err;
  b.expect_nothing_left();
}

// By tcp for all, and as the library chooses: shared memory within each of the two, tcp between.
TEST_F(Hosts, two_network_namespaces_joined_by_a_cable_run_one_job) {
  const TwoHosts hosts;
  if (!hosts.made()) GTEST_SKIP() << TwoHosts::unmade();
  for (const char* const transport : {"tcp", "auto"}) {
    const Words program = stress("1", transport);
    Launched a(root(joined({"-n", "4", "--here", "2"}, program), "10.77.0.1:7000"), hosts.at("a"));
    Launched b(leaf("10.77.0.1:7000", joined({"--here", "2"}, program)), hosts.at("b"));
    EXPECT_EQ(a.wait(), 0) << transport << ": " << a.err << b.err;
    EXPECT_EQ(b.wait(), 0) << transport << ": " << b.err;
    EXPECT_TRUE(says(a.err, "(10.77.0.2) joined")) << a.err;
    expect_verified(a.out, 2);
    expect_verified(b.out, 2);
  }
}

// An old program, unchanged: two ranks that probe for what the other puts, both ways.
TEST_F(Hosts, a_classic_program_runs_on_two_network_namespaces) {
  const TwoHosts hosts;
  if (!hosts.made()) GTEST_SKIP() << TwoHosts::unmade();
  const Words program{std::string(PHOTON_BIN_DIR) + "/classic_probers", "20000"};
  Launched a(root(joined({"-n", "4", "--here", "2"}, program), "10.77.0.1:7000"), hosts.at("a"));
  Launched b(leaf("10.77.0.1:7000", joined({"--here", "2"}, program)), hosts.at("b"));
  EXPECT_EQ(a.wait(), 0) << a.err << b.err;
  EXPECT_EQ(b.wait(), 0) << b.err;
}

// photon-info: rank 0 tells of its peers.
TEST_F(Hosts, peers_of_this_host_are_reached_by_shared_memory_and_the_others_by_tcp) {
  const Words info{"--label", "--env", "PHOTON_TCP_INTERFACE=127.0.0.1",
                   std::string(PHOTON_BIN_DIR) + "/photon-info"};
  Launched a(root(joined({"-n", "3", "--here", "2"}, info)));
  Launched b(leaf(place_of(a), joined({"--here", "1"}, info)));
  EXPECT_EQ(a.wait(), 0) << a.err << b.err;
  EXPECT_EQ(b.wait(), 0) << b.err;
  EXPECT_TRUE(says(a.out, "on this host: ")) << a.out;
  EXPECT_TRUE(says(a.out, "on another host: ")) << a.out;
  EXPECT_TRUE(says(a.out, "peers_same_process       0 ")) << a.out;
  EXPECT_TRUE(says(a.out, "peers_shared_memory      1 ")) << a.out;
  EXPECT_TRUE(says(a.out, "peers_network            1 ")) << a.out;
}

}  // namespace
}  // namespace photon::test
