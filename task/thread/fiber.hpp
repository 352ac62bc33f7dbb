// A stack with what runs on it: the switch between two of them, by Boost.Context, which keeps the
// control words of the floating-point units. What C++ knows of exceptions that are caught is kept
// as well, so a thread may be left inside a catch block.
//
//   made -- enter() --> running -- leave() --> left -- enter() --> running
//                               -- finish() --> over
//
// The library's class boost::context::fiber runs on the new stack as soon as it is made, before
// ThreadSanitizer has heard of that stack. So its two functions are called here themselves.
// A processor predicts where a function returns to, and predicts it wrongly after a switch, as
// often as there are functions to return from. So enter() and leave() are part of their callers.
// Invariant: enter() is called from outside, leave() and finish() from within; entered again only
// after it has left.
// Owner: the thread on whose stack it lies. Threads: one.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <utility>

// There in builds with AddressSanitizer or ThreadSanitizer only.
extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom,
                                                  std::size_t size_bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom_before,
                                                   std::size_t* size_bytes_before);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}

namespace photon::task {

// What the C++ runtime keeps for a thread of the operating system (Itanium C++ ABI, 2.2.2).
struct ExceptionState {
  void* caught = nullptr;
  unsigned uncaught = 0;
};
// That of the calling thread.
ExceptionState& exception_state() noexcept;
// Field by field: what was written as two words cannot be read as one at once.
inline void exchange(ExceptionState& one, ExceptionState& other) noexcept {
  std::swap(one.caught, other.caught);
  std::swap(one.uncaught, other.uncaught);
}

class Fiber {
 public:
  // Runs on the stack; calls finish() and does not return.
  using Body = void (*)(Fiber& self, void* argument);

  // The stack lies from `bottom` to `top`. It begins with the control words of this moment.
  Fiber(std::byte* bottom, std::byte* top, Body body, void* argument) noexcept;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Returns when it leaves, or is over. `state` is that of the calling thread.
  [[gnu::always_inline]] void enter(ExceptionState& state) noexcept;
  [[gnu::always_inline]] void leave() noexcept;
  [[noreturn]] void finish() noexcept;
  const std::byte* bottom() const noexcept { return bottom_; }

 private:
  // Who has entered: it lies on that stack.
  struct Outside {
    boost::context::detail::fcontext_t context = nullptr;
    const void* bottom = nullptr;  // for the sanitizers, all of them
    std::size_t size_bytes = 0;
    void* fiber = nullptr;
  };

  // Both sanitizers know of a switch before it happens; AddressSanitizer also after it. A null
  // `fake` says that the stack is left for good. The function that changes is the one that says so,
  // or ThreadSanitizer would take its end for that of another one.
  [[gnu::always_inline]] static void start_switch(void** fake, const void* bottom,
                                                  std::size_t size_bytes, void* fiber) noexcept {
    if (__sanitizer_start_switch_fiber != nullptr)
      __sanitizer_start_switch_fiber(fake, bottom, size_bytes);
    if (__tsan_switch_to_fiber != nullptr) __tsan_switch_to_fiber(fiber, 0);
  }
  [[gnu::always_inline]] static void finish_switch(void* fake, const void** bottom,
                                                   std::size_t* size_bytes) noexcept {
    if (__sanitizer_finish_switch_fiber != nullptr)
      __sanitizer_finish_switch_fiber(fake, bottom, size_bytes);
  }
  static void begin(boost::context::detail::transfer_t came);

  boost::context::detail::fcontext_t inside_;
  Outside* outside_ = nullptr;
  ExceptionState exceptions_;  // its own while it is left, those of outside while it runs
  Body body_;
  void* argument_;
  std::byte* bottom_;
  std::size_t size_bytes_;
  void* sanitized_ = nullptr;  // what ThreadSanitizer has for it, from its first turn to its end
  bool is_over_ = false;
};

inline void Fiber::enter(ExceptionState& state) noexcept {
  Outside outside;
  void* fake = nullptr;
  outside_ = &outside;
  exchange(state, exceptions_);
  if (__tsan_get_current_fiber != nullptr) {
    outside.fiber = __tsan_get_current_fiber();
    if (sanitized_ == nullptr) sanitized_ = __tsan_create_fiber(0);
  }
  start_switch(&fake, bottom_, size_bytes_, sanitized_);
  const auto came = boost::context::detail::jump_fcontext(inside_, this);
  finish_switch(fake, nullptr, nullptr);
  inside_ = came.fctx;
  exchange(state, exceptions_);
  if (__tsan_destroy_fiber != nullptr && is_over_) __tsan_destroy_fiber(sanitized_);
}

inline void Fiber::leave() noexcept {
  void* fake = nullptr;
  start_switch(&fake, outside_->bottom, outside_->size_bytes, outside_->fiber);
  const auto came = boost::context::detail::jump_fcontext(outside_->context, nullptr);
  finish_switch(fake, &outside_->bottom, &outside_->size_bytes);
  outside_->context = came.fctx;
}

}  // namespace photon::task
