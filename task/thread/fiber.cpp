#include "task/thread/fiber.hpp"

#include <cxxabi.h>

#include <cstdlib>

extern "C" {
[[gnu::weak]] void __asan_unpoison_memory_region(const void* begin, std::size_t size_bytes);
}

namespace photon::task {

namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

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

void Fiber::finish() noexcept {
  is_over_ = true;
  start_switch(nullptr, *outside_);
  jump_fcontext(outside_->context, this);
  std::abort();  // nobody enters it again
}

void Fiber::drop() noexcept {
  is_over_ = true;
  if (__tsan_destroy_fiber != nullptr && sanitized_ != nullptr) __tsan_destroy_fiber(sanitized_);
}

void Fiber::begin(transfer_t came) {
  Fiber& self = *static_cast<Outside*>(came.data)->entered;
  self.arrive(came, nullptr);
  self.body_(self, self.argument_);
  std::abort();  // it has to finish
}

}  // namespace photon::task
