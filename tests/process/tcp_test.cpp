// The tcp transport between real processes: verified traffic, floods through small rings, a rank
// that is killed, and strangers at the ports of a running job.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/unique_fd.hpp"
#include "command.hpp"
#include "stress_job.hpp"

namespace photon::test {
namespace {

// `more`: options of photonrun.
StressJob tcp_job(const char* name, const char* ranks_count, const char* max_id_bytes,
                  const std::vector<std::string>& more = {}) {
  StressJob job{name, ranks_count, max_id_bytes, {"--env", "PHOTON_TRANSPORT=tcp"}};
  job.options.insert(job.options.end(), more.begin(), more.end());
  return job;
}

// The ports of the loopback that a process listens at: its sockets, in the table of all.
std::vector<in_port_t> ports_of(const std::string& pid) {
  std::vector<std::string> inodes;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + pid + "/fd")) {
    std::error_code gone;
    const std::string link = std::filesystem::read_symlink(entry.path(), gone).string();
    if (link.starts_with("socket:[")) inodes.push_back(link.substr(8, link.size() - 9));
  }
  std::ifstream table("/proc/net/tcp");
  std::vector<in_port_t> ports;
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream text(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
    if (words.size() < 10 || words[3] != "0A") continue;
    if (std::find(inodes.begin(), inodes.end(), words[9]) == inodes.end()) continue;
    ports.push_back(static_cast<in_port_t>(std::stoul(words[1].substr(9), nullptr, 16)));
  }
  return ports;
}

class TcpProcess : public testing::TestWithParam<StressJob> {};

TEST_P(TcpProcess, random_traffic_arrives_whole_in_order_and_once) {
  expect_stress_passes(GetParam());
}

const std::vector<std::string> kTcpFlood = {
    "--env", "PHOTON_LEDGER_SLOTS=4",  "--env", "PHOTON_RING_LINES=64",
    "--env", "PHOTON_BULK_BYTES=8192", "--env", "PHOTON_BULK_CHUNK=1024"};

INSTANTIATE_TEST_SUITE_P(
    Jobs, TcpProcess,
    testing::Values(tcp_job("of_2", "2", "8"), tcp_job("of_3", "3", "1024"),
                    tcp_job("of_8", "8", "8"), tcp_job("of_8_flooded", "8", "8", kTcpFlood),
                    tcp_job("of_3_ipv6", "3", "8", {"--env", "PHOTON_TCP_INTERFACE=::1"})),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(TcpProcessEnd, a_killed_rank_ends_the_job_soon_and_leaves_nothing) {
  expect_a_kill_ends(tcp_job("", "3", "8"));
}

TEST(TcpProcessEnd, strangers_at_the_ports_are_refused_and_the_job_goes_on) {
  Launched run(arguments_of(tcp_job("", "2", "8"), "2", "7"));
  run.await_lines(2);
  const pid_t pid = pid_of(run, 0);
  ASSERT_GT(pid, 0);
  const auto ports = ports_of(std::to_string(pid));
  ASSERT_EQ(ports.size(), 1u);
  std::vector<base::UniqueFd> strangers;
  for (const in_port_t port : ports) {
    for (const std::string& text : {std::string(200, 'x'), std::string()}) {
      strangers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      sockaddr_in at{};
      at.sin_family = AF_INET;
      at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      at.sin_port = htons(port);
      const int fd = strangers.back().get();
      if (::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 && errno != EINPROGRESS)
        continue;
      static_cast<void>(::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    }
  }
  EXPECT_EQ(run.wait(), 0) << run.err;
  EXPECT_NE(run.err.find("refused a connection"), std::string::npos) << run.err;
  run.expect_nothing_left();
}

TEST(TcpProcessEnd, an_interface_that_there_is_not_is_a_clear_error) {
  const auto job = tcp_job("", "2", "8", {"--env", "PHOTON_TCP_INTERFACE=no-such-0"});
  Launched run(arguments_of(job, "1", "7"));
  EXPECT_NE(run.wait(), 0);
  EXPECT_NE(run.err.find("no-such-0"), std::string::npos) << run.err;
}

TEST(TcpProcessEnd, photon_info_and_photon_perf_run_with_it) {
  const std::string bin = PHOTON_BIN_DIR;
  Launched perf({"-n", "2", "--env", "PHOTON_TRANSPORT=tcp", bin + "/photon-perf", "put-latency",
                 "--sizes", "8", "--iterations", "100"});
  EXPECT_EQ(perf.wait(), 0) << perf.err;
  EXPECT_NE(perf.out.find("raw socket"), std::string::npos) << perf.out;
  const auto info = run_command("PHOTON_TRANSPORT=tcp " + bin + "/photon-info 2>&1");
  EXPECT_NE(info.output.find("tcp"), std::string::npos) << info.output;
}

}  // namespace
}  // namespace photon::test
