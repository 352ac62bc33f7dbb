// A stack with what runs on it: the switch between two of them, by Boost.Context, which keeps the
// control words of the floating-point units. What C++ knows of exceptions that are caught is kept
// as well, so a thread may be left inside a catch block.
//
//   made -- enter() --> running -- leave(), pass() to another one --> left
//                               -- finish() --> over
//   left -- enter(), pass() by another one --> running
//
// Who passes on to another one does not come back outside: whoever leaves next does. Each switch
// tells the other side where to keep the context that it left: outside gets the fiber that has left
// it, and a fiber gets the place of the context itself, which is the first member of Outside.
// The library's class boost::context::fiber runs on the new stack as soon as it is made, before
// ThreadSanitizer has heard of that stack. So the functions below it are called here themselves.
// A processor predicts where a function returns to, and predicts it wrongly after a switch, as
// often as there are functions to return from. So enter(), leave() and pass() are part of their
// callers. A switch by ontop_fcontext() returns on the other stack, to where that was left. If both
// were left at the same place, as threads are that all yield, the returns are predicted well.
// Invariant: enter() is called from outside, leave(), pass() and finish() from within; it goes on
// only after it was left. What runs below one call of enter() has one Outside.
// Owner: the thread on whose stack it lies. Threads: one.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

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
inline void copy(const ExceptionState& from, ExceptionState& to) noexcept {
  to.caught = from.caught;
  to.uncaught = from.uncaught;
}

class Fiber {
 public:
  // Runs on the stack; calls finish() and does not return.
  using Body = void (*)(Fiber& self, void* argument);

  // The stack lies from `bottom` to `top`. It begins with the control words of this moment.
  Fiber(std::byte* bottom, std::byte* top, Body body, void* argument) noexcept;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Returns when it leaves or is over, or the one does to which it was passed on. `state` is that
  // of the calling thread.
  [[gnu::always_inline]] void enter(ExceptionState& state) noexcept;
  [[gnu::always_inline]] void leave() noexcept;
  // Leaves, and `next` goes on, which has left before.
  [[gnu::always_inline]] void pass(Fiber& next, ExceptionState& state) noexcept;
  [[noreturn]] void finish() noexcept;
  // Of one that is left: it never goes on, and what is on its stack is forgotten.
  void drop() noexcept;
  const std::byte* bottom() const noexcept { return bottom_; }

 private:
  // Who has entered: it lies on that stack.
  struct Outside {
    boost::context::detail::fcontext_t context = nullptr;
    Fiber* entered = nullptr;
    ExceptionState exceptions;
    const void* bottom = nullptr;  // for the sanitizers, all of them
    std::size_t size_bytes = 0;
    void* fiber = nullptr;
  };

  // Both sanitizers know of a switch before it happens; AddressSanitizer also after it. A null
  // `fake` says that the stack is left for good. The function that changes is the one that says so,
  // or ThreadSanitizer would take its end for that of another one.
  [[gnu::always_inline]] static void start_switch(void** fake, const Outside& outside) noexcept {
    if (__sanitizer_start_switch_fiber != nullptr)
      __sanitizer_start_switch_fiber(fake, outside.bottom, outside.size_bytes);
    if (__tsan_switch_to_fiber != nullptr) __tsan_switch_to_fiber(outside.fiber, 0);
  }
  [[gnu::always_inline]] static void start_switch(void** fake, const Fiber& fiber) noexcept {
    if (__sanitizer_start_switch_fiber != nullptr)
      __sanitizer_start_switch_fiber(fake, fiber.bottom_, fiber.size_bytes_);
    if (__tsan_switch_to_fiber != nullptr) __tsan_switch_to_fiber(fiber.sanitized_, 0);
  }
  [[gnu::always_inline]] static void finish_switch(void* fake, const void** bottom,
                                                   std::size_t* size_bytes) noexcept {
    if (__sanitizer_finish_switch_fiber != nullptr)
      __sanitizer_finish_switch_fiber(fake, bottom, size_bytes);
  }
  // Runs on the stack that goes on, and returns to where that was left.
  static boost::context::detail::transfer_t go_back(
      boost::context::detail::transfer_t came) noexcept {
    return came;
  }
  // On the stack of this one, which was entered, or to which another one has passed on.
  [[gnu::always_inline]] void arrive(boost::context::detail::transfer_t came, void* fake) noexcept;
  static void begin(boost::context::detail::transfer_t came);

  boost::context::detail::fcontext_t inside_;
  Outside* outside_ = nullptr;
  ExceptionState exceptions_;  // while it is left
  Body body_;
  void* argument_;
  std::byte* bottom_;
  std::size_t size_bytes_;
  void* sanitized_ = nullptr;  // what ThreadSanitizer has for it, from its first turn to its end
  bool is_over_ = false;
};

inline void Fiber::enter(ExceptionState& state) noexcept {
  Outside outside;
  outside.entered = this;
  outside_ = &outside;
  copy(state, outside.exceptions);
  copy(exceptions_, state);
  void* fake = nullptr;
  if (__tsan_get_current_fiber != nullptr) {
    outside.fiber = __tsan_get_current_fiber();
    if (sanitized_ == nullptr) sanitized_ = __tsan_create_fiber(0);
  }
  start_switch(&fake, *this);
  const auto came = boost::context::detail::jump_fcontext(inside_, &outside);
  finish_switch(fake, nullptr, nullptr);
  Fiber& left = *static_cast<Fiber*>(came.data);
  left.inside_ = came.fctx;
  copy(state, left.exceptions_);
  copy(outside.exceptions, state);
  if (__tsan_destroy_fiber != nullptr && left.is_over_) __tsan_destroy_fiber(left.sanitized_);
}

inline void Fiber::arrive(boost::context::detail::transfer_t came, void* fake) noexcept {
  const bool was_entered = came.data == outside_;  // it is the stack of outside that was left
  finish_switch(fake, was_entered ? &outside_->bottom : nullptr,
                was_entered ? &outside_->size_bytes : nullptr);
  *static_cast<boost::context::detail::fcontext_t*>(came.data) = came.fctx;
}

inline void Fiber::leave() noexcept {
  void* fake = nullptr;
  start_switch(&fake, *outside_);
  arrive(boost::context::detail::jump_fcontext(outside_->context, this), fake);
}

inline void Fiber::pass(Fiber& next, ExceptionState& state) noexcept {
  void* fake = nullptr;
  next.outside_ = outside_;
  copy(state, exceptions_);
  copy(next.exceptions_, state);
  start_switch(&fake, next);
  arrive(boost::context::detail::ontop_fcontext(next.inside_, &inside_, go_back), fake);
}

}  // namespace photon::task
