// What the start of a job costs, in messages that follow on one another: docs/bootstrap.md has the
// account.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "launch_ranks.hpp"

namespace photon::test {
namespace {

// Rank 0 has joined before any other has said a word; what the others wait for is in a pipe that
// it opens then.
const RankBody joins_alone_body("joins_alone", [] {
  const char* const path = std::getenv("PHOTON_TEST_PIPE");
  const bool is_first = std::string(std::getenv(PH_LAUNCH_RANK_VARIABLE)) == "0";
  char word = 0;
  if (!is_first) {
    const base::UniqueFd pipe(::open(path, O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::read(pipe.get(), &word, 1), 1);
  }
  const auto boot = join();
  const base::UniqueFd pipe(is_first ? ::open(path, O_RDWR | O_CLOEXEC) : -1);
  for (ph_rank other = 1; is_first && other < boot->size(); ++other)
    ASSERT_EQ(::write(pipe.get(), &word, 1), 1);
  ASSERT_TRUE(boot->barrier([] {}));  // all have read
});

TEST(Startup, under_photonrun_a_rank_waits_for_no_other) {
  const std::string path = testing::TempDir() + "photon-startup." + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  ::setenv("PHOTON_TEST_PIPE", path.c_str(), 1);
  for (const char* size : {"2", "8", "32"}) expect_success(ranks_of("joins_alone", size));
  expect_success_on_hosts("joins_alone", "8", "6");
  ::unsetenv("PHOTON_TEST_PIPE");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace photon::test
