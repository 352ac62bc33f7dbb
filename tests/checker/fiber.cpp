#include "checker/fiber.hpp"

// ThreadSanitizer must be told of stacks it did not make. Absent from other builds, hence weak.
extern "C" {
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}

// AddressSanitizer's heap copies of frames would pile up with every dropped fiber, and it searches
// them. It looks for this function; nobody else calls it.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_stack_use_after_return=0"; }

namespace photon::checker {

namespace {

constexpr std::size_t kStackBytes = 64 * 1024;

bool under_tsan() { return &__tsan_switch_to_fiber != nullptr; }

}  // namespace

Fiber::~Fiber() { forget_tsan_fiber(); }

void Fiber::forget_tsan_fiber() {
  if (tsan_inside_ != nullptr) __tsan_destroy_fiber(tsan_inside_);
  tsan_inside_ = nullptr;
}

void Fiber::start(void (*body)()) {
  if (!stack_) stack_ = std::make_unique_for_overwrite<char[]>(kStackBytes);
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_.get();
  inside_.uc_stack.ss_size = kStackBytes;
  inside_.uc_link = nullptr;
  makecontext(&inside_, body, 0);
  forget_tsan_fiber();
  if (under_tsan()) tsan_inside_ = __tsan_create_fiber(0);
  enter();
}

void Fiber::enter() {
  if (under_tsan()) {
    tsan_outside_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_inside_, 0);
  }
  swapcontext(&outside_, &inside_);
}

void Fiber::leave() {
  if (under_tsan()) __tsan_switch_to_fiber(tsan_outside_, 0);
  swapcontext(&inside_, &outside_);
}

}  // namespace photon::checker
