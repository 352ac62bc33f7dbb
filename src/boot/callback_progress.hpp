// Serves the peers of a rank that is in a callback of its owner's.
//
// Without it two ranks could wait for each other: one in a callback's barrier, the other in a
// flush, which needs an answer of the first before it comes to the barrier.
//
//   serving -end()-> over
//
// Owner: the caller, who touches nothing that serve() does until end() has returned.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "boot/serve.hpp"

namespace photon::boot {

class CallbackProgress {
 public:
  // Calls serve() again and again, on a thread of its own; if the process may have no more threads,
  // once and here.
  explicit CallbackProgress(const Serve& serve);
  ~CallbackProgress() { stop(); }
  CallbackProgress(const CallbackProgress&) = delete;
  CallbackProgress& operator=(const CallbackProgress&) = delete;

  // Afterwards serve() is called no more. Throws what it threw first.
  void end();

 private:
  void run() noexcept;
  bool serve_once() noexcept;  // true: something moved
  void stop() noexcept;

  const Serve serve_;
  std::mutex mutex_;
  std::condition_variable news_;
  bool over_ = false;  // under mutex_
  std::exception_ptr thrown_;
  std::thread thread_;
};

}  // namespace photon::boot
