// The progress thread's beginnings and ends: with contexts and lanes, where none can be started,
// and in a fork's child.
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "asleep.hpp"
#include "settings.hpp"

namespace photon::test {
namespace {

using Clock = std::chrono::steady_clock;

class ProgressLife : public OverSettings {
 protected:
  static Options on(const Options& more = {}) {
    return options(with({{"progress_thread", "on"}}, more));
  }
};

TEST_P(ProgressLife, it_ends_with_the_context_finalized_or_not) {
  for (int round = 0; round < 10; ++round) {
    ThreadJob job(2, on({{"progress_silence_us", "10"}}));
    job.run_bare([&](const ph_bootstrap& bootstrap) {
      ph_context* context = job.create(bootstrap);
      ASSERT_NE(context, nullptr);
      EXPECT_EQ(ph_notify(context, 1 - bootstrap.rank, 7), PH_OK);
      job.meet();
      if (round % 2 == 0) {
        for (const auto end = Clock::now() + std::chrono::microseconds(round * 100);
             Clock::now() < end;)
          std::this_thread::yield();
        EXPECT_EQ(ph_finalize(context), PH_OK);
        EXPECT_EQ(ph_finalize(context), PH_ERR_STATE);
      }
      job.meet();
      ph_context_destroy(context);
    });
  }
}

// Masks of blocked signals of the progress threads of this process.
std::vector<std::uint64_t> blocked_signals() {
  std::vector<std::uint64_t> masks;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    std::string name;
    // By lines: a state may be two words or three ("D (disk sleep)").
    for (std::string line; std::getline(status, line);) {
      std::istringstream words(line);
      std::string key, word;
      words >> key >> word;
      if (key == "Name:") name = word;
      if (key == "SigBlk:" && name == "photon-progress") masks.push_back(std::stoull(word, {}, 16));
    }
  }
  return masks;
}

// A thread that has been joined may be listed for a moment longer: pthread_join() returns when the
// kernel clears its id, which comes before the kernel takes it off the list. And a list ends early
// where it comes to a thread that is just being taken off.
std::size_t threads_listed(std::size_t expected) {
  std::size_t count = blocked_signals().size();
  for (const auto end = Clock::now() + std::chrono::seconds(20);
       count != expected && Clock::now() < end; count = blocked_signals().size())
    std::this_thread::yield();
  return count;
}

bool is_in(std::uint64_t mask, int signal) { return (mask >> (signal - 1) & 1) != 0; }

TEST_P(ProgressLife,
       each_lane_has_one_if_it_is_on_and_it_leaves_signals_to_others_but_its_own_faults) {
  for (const char* setting : {"off", "on"}) {
    ThreadJob job(1, options({{"progress_thread", setting}}));
    job.run([&](ph_context* context, ph_rank) {
      const std::size_t each = std::string(setting) == "on" ? 1 : 0;
      EXPECT_EQ(threads_listed(each), each);
      ph_context* lane = nullptr;
      ASSERT_EQ(ph_lane_open(context, 1, &lane), PH_OK);
      EXPECT_EQ(threads_listed(2 * each), 2 * each);
      // While the C library sets a thread up, it blocks them all.
      const auto is_being_set_up = [](std::uint64_t mask) { return is_in(mask, SIGSEGV); };
      auto masks = blocked_signals();
      for (const auto end = Clock::now() + std::chrono::seconds(20); Clock::now() < end;) {
        if (std::none_of(masks.begin(), masks.end(), is_being_set_up)) break;
        std::this_thread::yield();
        masks = blocked_signals();
      }
      for (const std::uint64_t mask : masks) {
        const auto is_blocked = [mask](int signal) { return is_in(mask, signal); };
        for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGALRM, SIGPIPE})
          EXPECT_TRUE(is_blocked(signal)) << signal;
        for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
          EXPECT_FALSE(is_blocked(signal)) << signal;
      }
      EXPECT_EQ(ph_lane_close(lane), PH_OK);
      EXPECT_EQ(threads_listed(each), each);
      EXPECT_EQ(ph_finalize(context), PH_OK);
      EXPECT_EQ(threads_listed(0), 0u);
    });
  }
}

// Stacks larger than any memory: no thread can be started.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t attributes;
    ::pthread_getattr_default_np(&before_);
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, std::size_t{1} << 60);
    ::pthread_setattr_default_np(&attributes);
    ::pthread_attr_destroy(&attributes);
  }
  ~NoThreads() { ::pthread_setattr_default_np(&before_); }

 private:
  pthread_attr_t before_;
};

TEST_P(ProgressLife, where_no_thread_can_be_started_lanes_and_contexts_go_on_without) {
  ThreadJob job(1, on());
  job.run_bare([&](const ph_bootstrap& bootstrap) {
    ph_context* context = job.create(bootstrap);
    ASSERT_NE(context, nullptr);
    ph_context* lane = nullptr;
    {
      const NoThreads none;
      ASSERT_EQ(ph_lane_open(context, 1, &lane), PH_OK);
    }
    EXPECT_EQ(threads_listed(1), 1u) << "the context's own";
    ASSERT_EQ(ph_notify(lane, 0, 6), PH_OK);
    EXPECT_EQ(take_remote(lane).id, 6u);
    ASSERT_EQ(ph_lane_open(context, 2, &lane), PH_OK);
    EXPECT_EQ(threads_listed(2), 2u);
    EXPECT_EQ(ph_finalize(context), PH_OK);
    ph_context_destroy(context);
    const NoThreads none;
    const ph_option option{"progress_thread", "on"};
    ph_config config{sizeof config, &bootstrap, &option, 1};
    ph_error error{};
    ASSERT_EQ(ph_context_create(&config, &context, &error), PH_OK) << error.text;
    ASSERT_EQ(ph_notify(context, 0, 7), PH_OK);
    EXPECT_EQ(take_remote(context).id, 7u);
    EXPECT_EQ(ph_finalize(context), PH_OK);
    ph_context_destroy(context);
  });
}

TEST_P(ProgressLife, a_forked_child_has_none_and_may_destroy_its_handle) {
  Asleep other;
  ThreadJob job(2, on());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_context* lane = nullptr;
    ASSERT_EQ(ph_lane_open(context, 1, &lane), PH_OK);
    job.meet(context);
    if (rank == 0) {
      other.await();
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // if it hangs the watchdog ends both
        const bool refused =
            ph_lane_close(lane) == PH_ERR_FORKED && ph_finalize(context) == PH_ERR_FORKED;
        ph_context_destroy(context);
        ::_exit(refused ? 0 : 1);
      }
      int status = -1;
      ::waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
      other.wake();
      ASSERT_EQ(ph_notify(context, 1, 3), PH_OK);
      ASSERT_EQ(ph_notify(lane, 1, 4), PH_OK);
    } else {
      other.sleep();
      EXPECT_EQ(take_remote(context).id, 3u);
      EXPECT_EQ(take_remote(lane).id, 4u);
    }
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, ProgressLife, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
