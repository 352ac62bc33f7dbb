// A stack with what runs on it: the switch between two of them, by Boost.Context, which keeps the
// control words of the floating-point units. What C++ knows of exceptions that are caught is kept
// as well, so a thread may be left inside a catch block.
//
//   made -- enter() --> running -- leave() --> left -- enter() --> running
//                               -- finish() --> over
//
// The library's class boost::context::fiber runs on the new stack as soon as it is made, before
// ThreadSanitizer has heard of that stack. So its two functions are called here themselves.
// Invariant: enter() is called from outside, leave() and finish() from within; entered again only
// after it has left.
// Owner: the thread on whose stack it lies. Threads: one.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <utility>

namespace photon::task {

// What the C++ runtime keeps for a thread of the operating system (Itanium C++ ABI, 2.2.2).
struct ExceptionState {
  void* caught = nullptr;
  unsigned uncaught = 0;
};
// That of the calling thread.
ExceptionState& exception_state() noexcept;

class Fiber {
 public:
  // Runs on the stack; calls finish() and does not return.
  using Body = void (*)(Fiber& self, void* argument);

  // The stack lies from `bottom` to `top`. It begins with the control words of this moment.
  Fiber(std::byte* bottom, std::byte* top, Body body, void* argument) noexcept;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Returns when it leaves, or is over. `state` is that of the calling thread.
  void enter(ExceptionState& state) noexcept;
  void leave() noexcept;
  [[noreturn]] void finish() noexcept;

 private:
  // Who has entered: it lies on that stack.
  struct Outside {
    boost::context::detail::fcontext_t context = nullptr;
    const void* bottom = nullptr;  // for the sanitizers, all of them
    std::size_t size_bytes = 0;
    void* fiber = nullptr;
  };

  static void begin(boost::context::detail::transfer_t came);

  boost::context::detail::fcontext_t inside_;
  Outside* outside_ = nullptr;
  ExceptionState exceptions_;  // its own while it is left, those of outside while it runs
  Body body_;
  void* argument_;
  std::byte* bottom_;
  std::size_t size_bytes_;
  void* sanitized_ = nullptr;  // what ThreadSanitizer has for it
};

}  // namespace photon::task
