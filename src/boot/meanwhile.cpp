#include "boot/meanwhile.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/signals.hpp"

namespace photon::boot {

Meanwhile::Meanwhile(const std::function<void()>& serve) : serve_(serve) {
  const base::SignalsLeftToOthers inherited;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    serve_();
    return;
  }
  ::pthread_setname_np(thread_.native_handle(), "photon-serve");
}

// Peers do not wake this thread: it looks after them, the less often the longer it takes.
void Meanwhile::run() noexcept {
  constexpr std::chrono::microseconds kLongestPause{1000};
  std::chrono::microseconds pause{50};
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    try {
      serve_();
    } catch (...) {
      thrown_ = std::current_exception();
      return;
    }
    lock.lock();
    news_.wait_for(lock, pause, [this] { return over_; });
    pause = std::min(2 * pause, kLongestPause);
  } while (!over_);
}

void Meanwhile::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void Meanwhile::end() {
  stop();
  if (thrown_) std::rethrow_exception(thrown_);
}

}  // namespace photon::boot
