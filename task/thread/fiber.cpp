#include "task/thread/fiber.hpp"

#include <cxxabi.h>

#include <cstdlib>

// There in builds with AddressSanitizer or ThreadSanitizer only.
extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom,
                                                  std::size_t size_bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom_before,
                                                   std::size_t* size_bytes_before);
[[gnu::weak]] void __asan_unpoison_memory_region(const void* begin, std::size_t size_bytes);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}

namespace photon::task {

namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// Both sanitizers know of a switch before it happens; AddressSanitizer also after it. A null `fake`
// says that the stack is left for good.
void start_switch(void** fake, const void* bottom, std::size_t size_bytes, void* fiber) noexcept {
  if (__sanitizer_start_switch_fiber != nullptr)
    __sanitizer_start_switch_fiber(fake, bottom, size_bytes);
  if (__tsan_switch_to_fiber != nullptr) __tsan_switch_to_fiber(fiber, 0);
}

void finish_switch(void* fake, const void** bottom, std::size_t* size_bytes) noexcept {
  if (__sanitizer_finish_switch_fiber != nullptr)
    __sanitizer_finish_switch_fiber(fake, bottom, size_bytes);
}

}  // namespace

ExceptionState& exception_state() noexcept {
  return *reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
}

// The frames of whoever had the stack before have marks of AddressSanitizer: the last ones of them
// never return.
Fiber::Fiber(std::byte* bottom, std::byte* top, Body body, void* argument) noexcept
    : inside_(make_fcontext(top, static_cast<std::size_t>(top - bottom), begin)),
      body_(body),
      argument_(argument),
      bottom_(bottom),
      size_bytes_(static_cast<std::size_t>(top - bottom)) {
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(bottom, size_bytes_);
}

Fiber::~Fiber() {
  if (sanitized_ != nullptr) __tsan_destroy_fiber(sanitized_);
}

void Fiber::enter(ExceptionState& state) noexcept {
  Outside outside;
  void* fake = nullptr;
  outside_ = &outside;
  std::swap(state, exceptions_);
  if (__tsan_get_current_fiber != nullptr) {
    outside.fiber = __tsan_get_current_fiber();
    if (sanitized_ == nullptr) sanitized_ = __tsan_create_fiber(0);
  }
  start_switch(&fake, bottom_, size_bytes_, sanitized_);
  const transfer_t came = jump_fcontext(inside_, this);
  finish_switch(fake, nullptr, nullptr);
  inside_ = came.fctx;
  std::swap(state, exceptions_);
}

void Fiber::leave() noexcept {
  void* fake = nullptr;
  start_switch(&fake, outside_->bottom, outside_->size_bytes, outside_->fiber);
  const transfer_t came = jump_fcontext(outside_->context, nullptr);
  finish_switch(fake, &outside_->bottom, &outside_->size_bytes);
  outside_->context = came.fctx;
}

void Fiber::finish() noexcept {
  start_switch(nullptr, outside_->bottom, outside_->size_bytes, outside_->fiber);
  jump_fcontext(outside_->context, nullptr);
  std::abort();  // nobody enters it again
}

void Fiber::begin(transfer_t came) {
  Fiber& self = *static_cast<Fiber*>(came.data);
  finish_switch(nullptr, &self.outside_->bottom, &self.outside_->size_bytes);
  self.outside_->context = came.fctx;
  self.body_(self, self.argument_);
  std::abort();  // it has to finish
}

}  // namespace photon::task
