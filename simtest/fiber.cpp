#include "simtest/fiber.hpp"

#include <sys/mman.h>

#include <new>
#include <utility>

// There in builds with AddressSanitizer only.
extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom,
                                                  std::size_t size_bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom_before,
                                                   std::size_t* size_bytes_before);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* begin,
                                                 std::size_t size_bytes);
}

namespace photon::simtest {

namespace {

void start_switch(void** fake_stack, const void* bottom, std::size_t size_bytes) noexcept {
  if (__sanitizer_start_switch_fiber != nullptr)
    __sanitizer_start_switch_fiber(fake_stack, bottom, size_bytes);
}

void finish_switch(void* fake_stack, const void** bottom, std::size_t* size_bytes) noexcept {
  if (__sanitizer_finish_switch_fiber != nullptr)
    __sanitizer_finish_switch_fiber(fake_stack, bottom, size_bytes);
}

// Hands a stack that is owned elsewhere to Boost.
struct Lent {
  std::byte* stack;
  boost::context::stack_context allocate() const {
    boost::context::stack_context context;
    context.size = StackPool::kStackBytes;
    context.sp = stack + StackPool::kStackBytes;
    return context;
  }
  void deallocate(boost::context::stack_context&) const noexcept {}
};

}  // namespace

StackPool::~StackPool() {
  for (std::byte* stack : free_) ::munmap(stack - kStackBytes, 2 * kStackBytes);
}

// Below each stack lies as much that may not be touched: an overflow is seen, not lost.
std::byte* StackPool::take() {
  if (!free_.empty()) {
    std::byte* stack = free_.back();
    free_.pop_back();
    return stack;
  }
  void* memory = ::mmap(nullptr, 2 * kStackBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  std::byte* stack = static_cast<std::byte*>(memory) + kStackBytes;
  if (::mprotect(stack, kStackBytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  // What a stack that was unmapped from here had left marked as out of scope: the last frames of a
  // fiber never return.
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(stack, kStackBytes);
  return stack;
}

Fiber::Fiber(StackPool& stacks, std::function<void()> body)
    : stacks_(stacks),
      stack_(stacks.take()),
      body_(std::move(body)),
      inside_(std::allocator_arg, Lent{stack_},
              [this](boost::context::fiber&& outside) { return enter(std::move(outside)); }) {}

Fiber::~Fiber() { stacks_.give(stack_); }

boost::context::fiber Fiber::enter(boost::context::fiber&& outside) {
  finish_switch(nullptr, &outside_bottom_, &outside_bytes_);
  outside_ = std::move(outside);
  body_();
  ended_ = true;
  start_switch(nullptr, outside_bottom_, outside_bytes_);
  return std::move(outside_);
}

void Fiber::resume() {
  start_switch(&outside_fake_, stack_, StackPool::kStackBytes);
  inside_ = std::move(inside_).resume();
  finish_switch(outside_fake_, nullptr, nullptr);
}

void Fiber::leave() {
  start_switch(&inside_fake_, outside_bottom_, outside_bytes_);
  outside_ = std::move(outside_).resume();
  finish_switch(inside_fake_, &outside_bottom_, &outside_bytes_);
}

}  // namespace photon::simtest
