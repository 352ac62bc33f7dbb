#include "boot/callback_progress.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "base/signals.hpp"

namespace photon::boot {

CallbackProgress::CallbackProgress(const Serve& serve) : serve_(serve) {
  const base::SignalsLeftToOthers inherited;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::exception&) {  // no thread, or no memory for one
    serve_once();
    return;
  }
  ::pthread_setname_np(thread_.native_handle(), "photon-serve");
}

// What it throws is told at the end: the callback must be called whatever happens, for its others
// wait in theirs. And who is out of memory once goes on with the next turn.
bool CallbackProgress::serve_once() noexcept {
  try {
    return serve_();
  } catch (...) {
    if (!thrown_) thrown_ = std::current_exception();
    return false;
  }
}

// Peers do not wake this thread: it looks after them without a pause while something moves, else
// the less often the longer it takes.
void CallbackProgress::run() noexcept {
  constexpr std::chrono::microseconds kShortestPause{50};
  constexpr std::chrono::microseconds kLongestPause{1000};
  std::chrono::microseconds pause = kShortestPause;
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    const bool moved = serve_once();
    lock.lock();
    if (moved) {
      pause = kShortestPause;
      continue;
    }
    news_.wait_for(lock, pause, [this] { return over_; });
    pause = std::min(2 * pause, kLongestPause);
  } while (!over_);
}

void CallbackProgress::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void CallbackProgress::end() {
  stop();
  if (thrown_) std::rethrow_exception(thrown_);
}

}  // namespace photon::boot
