// Threads that work together: all of them, or none where the system does not give so many.
#include "netsim/run/threads.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <barrier>
#include <vector>

#include "netsim/run/simulation.hpp"
#include "netsim/run/table.hpp"

namespace photon::netsim {
namespace {

// While it lives no thread can be made: its stack would not fit into the address space. Limits of
// users would not bind a test that root runs.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 60);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

TEST(Threads, all_work_at_once_and_each_has_a_number) {
  for (const std::uint32_t count : {1U, 2U, 5U}) {
    std::vector<int> calls(count);
    std::barrier<> all(count);
    EXPECT_EQ(in_threads(count,
                         [&](std::uint32_t number) {
                           all.arrive_and_wait();
                           ++calls[number];
                         }),
              "");
    EXPECT_EQ(calls, std::vector<int>(count, 1));
  }
}

TEST(Threads, none_works_where_one_cannot_be_made) {
  const NoThreads none;
  const auto never = [](std::uint32_t) { FAIL(); };
  const std::string wrong = in_threads(3, never);
  EXPECT_TRUE(wrong.starts_with("of 3 threads the system gives only 1: ")) << wrong;
}

TEST(Threads, a_run_that_gets_too_few_fails_and_does_not_hang) {
  Settings settings = table_settings();
  settings.network = {"torus", "4x4"};
  settings.motif = {"alltoall", "16", 3000, 1, 1};
  settings.threads = 4;
  const NoThreads none;
  const auto result = run(settings);
  ASSERT_TRUE(result) << result.error();
  EXPECT_TRUE(result->failure.starts_with("of 4 threads the system gives only 1: "))
      << result->failure;
}

}  // namespace
}  // namespace photon::netsim
