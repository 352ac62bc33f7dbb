// Classic programs that look at no status and probe for little (tests/classic/careless.c): four
// ranks on what cores there are, and every byte of theirs arrives.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <tuple>
#include <vector>

#include "launched.hpp"

namespace photon::test {
namespace {

constexpr const char* kRanks = "4";
constexpr const char* kPuts = "300";  // of a size, to each peer
const std::vector<std::string> kSizes = {"1", "64", "193", "4096", "65536", "4194304"};

// Processes that compute as long as this object lives, as many as there are.
class Computing {
 public:
  explicit Computing(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t pid = ::fork();
      if (pid == 0) compute();
      pids_.push_back(pid);
    }
  }
  ~Computing() {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

 private:
  [[noreturn]] static void compute() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned long steps = 0;;) steps = steps + 1;
  }

  std::vector<pid_t> pids_;
};

void expect_every_byte(const std::string& mode, const std::string& transport,
                       const std::string& count, const std::string& within_s) {
  std::vector<std::string> arguments = {"-n",
                                        kRanks,
                                        "--timeout",
                                        within_s,
                                        "--env",
                                        "PHOTON_TRANSPORT=" + transport,
                                        std::string(PHOTON_BIN_DIR) + "/classic_careless",
                                        mode,
                                        count};
  arguments.insert(arguments.end(), kSizes.begin(), kSizes.end());
  Launched job(arguments);
  job.allow(std::chrono::seconds(60));
  EXPECT_EQ(job.wait(), 0) << job.out << job.err;
  for (const char* rank : {"0", "1", "2", "3"})
    EXPECT_TRUE(says(job.out, "rank " + std::string(rank) + " of 4: all ")) << job.out << job.err;
  job.expect_nothing_left();
}

class CarelessProgram : public testing::TestWithParam<std::tuple<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(probes, CarelessProgram,
                         testing::Combine(testing::Values("serial", "flood", "ledger", "any",
                                                          "threads", "pair", "blind"),
                                          testing::Values("shm", "tcp")),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param)) + "_" +
                                  std::get<1>(tested.param);
                         });

// Far more remote ids than the ring and the records of a peer hold; most of these programs never
// probe for them.
TEST_P(CarelessProgram, has_every_byte_of_its_peers) {
  const auto [mode, transport] = GetParam();
  expect_every_byte(mode, transport, kPuts, "50");
}

TEST(CarelessPrograms, end_within_a_minute_beside_two_processes_that_compute) {
  const Computing two(2);
  for (const char* transport : {"shm", "tcp"}) expect_every_byte("threads", transport, kPuts, "60");
}

// It goes on as if it had one: all its calls do nothing, and one line says since when.
TEST(CarelessPrograms, hear_once_that_they_have_no_session) {
  Launched job({"-n", "1", "--env", "PHOTON_TRANSPORT=none",
                std::string(PHOTON_BIN_DIR) + "/classic_careless", "serial", "80", "1"});
  EXPECT_EQ(job.wait(), 0) << job.out << job.err;
  const std::size_t first = job.err.find("PHOTON_ERROR_NOINIT");
  ASSERT_NE(first, std::string::npos) << job.err;
  EXPECT_EQ(job.err.find("PHOTON_ERROR_NOINIT", first + 1), std::string::npos) << job.err;
  EXPECT_TRUE(says(job.err, "photon: photon_register_buffer: does nothing")) << job.err;
}

}  // namespace
}  // namespace photon::test
