// A stack of its own on the caller's thread, entered and left at will.
//
//   idle -- start(body) --> inside -- leave() --> suspended -- enter() --> inside
//
// A suspended body is dropped by start() or the destructor, without unwinding. The body does not
// return.
// Owner: Execution.
#pragma once

#include <ucontext.h>

#include <memory>

namespace photon::checker {

class Fiber {
 public:
  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void start(void (*body)());  // these two return at the next leave()
  void enter();
  void leave();  // inside only

 private:
  void forget_tsan_fiber();

  std::unique_ptr<char[]> stack_;
  ucontext_t inside_{};
  ucontext_t outside_{};
  void* tsan_inside_ = nullptr;
  void* tsan_outside_ = nullptr;
};

}  // namespace photon::checker
