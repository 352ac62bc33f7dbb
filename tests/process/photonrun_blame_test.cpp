// The rank that failed first is named, and its status is photonrun's: never that of one which
// failed because it had lost the first (programs/first_to_fail.cpp). PHOTON_TEST_ROUNDS says how
// often each is tried, here a few times; `make soak` tries each a hundred times.
#include <tuple>

#include "launched.hpp"
#include "two_hosts.hpp"

namespace photon::test {
namespace {

using Words = std::vector<std::string>;

const std::string kFirstToFail = std::string(PHOTON_BIN_DIR) + "/first_to_fail";

int rounds_or(int usual) {
  const char* const text = std::getenv("PHOTON_TEST_ROUNDS");
  return text != nullptr ? std::atoi(text) : usual;
}

struct Failing {
  const char* how;
  const char* when;
  const char* transport;
};

int status_of(const Failing& tested) {
  const std::string how = tested.how;
  return how == "exit" ? 42 : how == "kill" ? 128 + SIGKILL : 128 + SIGABRT;
}

std::string words_of(const Failing& tested) {
  const std::string how = tested.how;
  return how == "exit"   ? "exited with status 42"
         : how == "kill" ? "was killed by signal 9 (Killed)"
                         : "was killed by signal 6 (Aborted)";
}

std::string text_of(const Failing& tested) {
  return std::string(tested.how) + "_" + tested.when + "_" + tested.transport;
}

void PrintTo(const Failing& tested, std::ostream* out) { *out << text_of(tested); }

Words job_of(const Failing& tested, const Words& options) {
  Words words = options;
  words.insert(words.end(), {"--env", std::string("PHOTON_TRANSPORT=") + tested.transport, "--env",
                             "PHOTON_LOG=error", kFirstToFail, tested.how, tested.when});
  return words;
}

void expect_first(const std::string& err, unsigned rank, const std::string& how) {
  const std::string who = "rank " + std::to_string(rank) + " (pid ";
  EXPECT_TRUE(says(err, "photonrun: " + who) && says(err, how)) << err;
}

class PhotonrunBlame : public testing::TestWithParam<std::tuple<unsigned, Failing>> {};

TEST_P(PhotonrunBlame, names_the_rank_that_failed_first_and_no_consequence) {
  const auto& [size, tested] = GetParam();
  const int rounds = rounds_or(size < 64 ? 2 : 1);
  for (int i = 0; i < rounds; ++i) {
    Launched job(job_of(tested, {"-n", std::to_string(size)}));
    job.allow(std::chrono::seconds(30));  // 64 ranks
    ASSERT_EQ(job.wait(), status_of(tested)) << job.err;
    expect_first(job.err, size - 1, words_of(tested));
  }
}

constexpr Failing kFailing[] = {{"exit", "early", "auto"},   {"exit", "gather", "auto"},
                                {"kill", "gather", "auto"},  {"abort", "gather", "tcp"},
                                {"exit", "traffic", "auto"}, {"kill", "traffic", "auto"},
                                {"exit", "traffic", "tcp"},  {"abort", "traffic", "tcp"},
                                {"kill", "chain", "auto"},   {"exit", "chain", "tcp"}};
INSTANTIATE_TEST_SUITE_P(Jobs, PhotonrunBlame,
                         testing::Combine(testing::Values(2u, 4u, 8u), testing::ValuesIn(kFailing)),
                         [](const auto& tested) {
                           return text_of(std::get<1>(tested.param)) + "_" +
                                  std::to_string(std::get<0>(tested.param));
                         });
constexpr Failing kLargeFailing[] = {{"exit", "gather", "auto"}, {"kill", "traffic", "auto"}};
INSTANTIATE_TEST_SUITE_P(LargeJobs, PhotonrunBlame,
                         testing::Combine(testing::Values(64u), testing::ValuesIn(kLargeFailing)),
                         [](const auto& tested) {
                           return text_of(std::get<1>(tested.param)) + "_" +
                                  std::to_string(std::get<0>(tested.param));
                         });

TEST(PhotonrunBlames, a_rank_that_ended_with_0_is_named_beside_the_one_that_failed_because_of_it) {
  Launched job(job_of({"well", "gather", "auto"}, {"-n", "3"}));
  EXPECT_EQ(job.wait(), 9);
  EXPECT_TRUE(says(job.err, "exited with status 9; it had lost rank ")) << job.err;
  EXPECT_TRUE(says(job.err, "rank 2, which exited with status 0 without ph_finalize()")) << job.err;
}

// A shell stands between, whose own end comes later than that of the program that it runs.
TEST(PhotonrunBlames, a_rank_behind_a_wrapper_that_ends_later_is_awaited) {
  Launched job({"-n", "4", "sh", "-c",
                "[ $PHOTON_RANK = 3 ] || exec \"$0\" \"$@\"; \"$0\" \"$@\"; end=$?; sleep 0.5; "
                "exit $end",
                kFirstToFail, "exit", "gather"});
  EXPECT_EQ(job.wait(), 42) << job.err;
  expect_first(job.err, 3, "exited with status 42");
}

TEST(PhotonrunBlames, the_time_limit_does_not_wait_for_the_end_of_a_rank_that_is_blamed) {
  Launched job({"-n", "2", "--timeout", "1", "sh", "-c",
                "[ $PHOTON_RANK = 1 ] || exec \"$0\" \"$@\"; \"$0\" \"$@\"; exec sleep 1000",
                kFirstToFail, "exit", "gather"});
  EXPECT_EQ(job.wait(), 9) << job.err;
  EXPECT_TRUE(says(job.err, "rank 0 (pid ")) << job.err;
  EXPECT_TRUE(says(job.err, "status 9; it had lost rank 1, which still runs")) << job.err;
  job.expect_nothing_left();
}

// Hosts: the rank that fails first may be on either.
class PhotonrunBlamesHosts : public testing::TestWithParam<Failing> {
 protected:
  PhotonrunBlamesHosts() { ::setenv("PHOTON_JOB_KEY", "a key of the tests, long enough", 1); }
  ~PhotonrunBlamesHosts() override { ::unsetenv("PHOTON_JOB_KEY"); }
};

TEST_P(PhotonrunBlamesHosts, a_rank_of_another_host_that_failed_first_is_named_at_both) {
  const TwoHosts hosts;
  if (!hosts.made()) GTEST_SKIP() << TwoHosts::unmade();
  for (int i = 0; i < rounds_or(2); ++i) {
    Launched a(job_of(GetParam(), {"--root", "10.77.0.1:7000", "-n", "4", "--here", "2"}),
               hosts.at("a"));
    Launched b(job_of(GetParam(), {"--join", "10.77.0.1:7000", "--here", "2"}), hosts.at("b"));
    ASSERT_EQ(a.wait(), status_of(GetParam())) << a.err << b.err;
    EXPECT_EQ(b.wait(), status_of(GetParam())) << b.err;
    expect_first(a.err, 3, words_of(GetParam()));
    EXPECT_TRUE(says(b.err, "ended by the root: rank 3 (pid ")) << b.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, PhotonrunBlamesHosts,
                         testing::Values(Failing{"exit", "early", "auto"},
                                         Failing{"exit", "gather", "auto"},
                                         Failing{"kill", "traffic", "auto"},
                                         Failing{"exit", "chain", "tcp"}),
                         [](const auto& tested) { return text_of(tested.param); });

}  // namespace
}  // namespace photon::test
