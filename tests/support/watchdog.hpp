// Ends the process with a message when a test takes longer than it may: a deadlocked test that is
// aborted leaves a core and a name, one that hangs leaves nothing. The time is counted in seconds
// in which this process could run: a virtual machine may stand still for minutes while its clock
// goes on, and then every test would be late at once.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace photon::test {

class Watchdog {
 public:
  // `describe` runs in the watchdog's thread at the deadline and says who is still busy.
  explicit Watchdog(std::chrono::milliseconds deadline, std::function<std::string()> describe = {})
      : describe_(std::move(describe)), thread_([this, deadline] { watch(deadline); }) {}

  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  ~Watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void watch(std::chrono::milliseconds deadline) {
    std::unique_lock lock(mutex_);
    for (auto left = deadline; left.count() > 0;) {
      const auto slice = std::min<std::chrono::milliseconds>(left, std::chrono::seconds(1));
      if (changed_.wait_for(lock, slice, [this] { return done_; })) return;
      left -= slice;
    }
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    const std::string who = describe_ ? describe_() : std::string();
    std::fprintf(stderr, "\nWATCHDOG: %s.%s is not over after %lld ms. %s\n",
                 test != nullptr ? test->test_suite_name() : "(no suite)",
                 test != nullptr ? test->name() : "(no test)",
                 static_cast<long long>(deadline.count()), who.c_str());
    std::fflush(nullptr);
    std::abort();
  }

  std::function<std::string()> describe_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace photon::test
