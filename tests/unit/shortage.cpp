// operator new of the unit tests: it counts, and fails when a test wants it to.
#include "shortage.hpp"

#include <cstdlib>
#include <new>

namespace {

constexpr int kNoLimit = -1;
thread_local int allowed_count = kNoLimit;
thread_local int asked_count = 0;

}  // namespace

// All that may meet each other's memory are replaced: a sanitizer brings its own of those left.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++asked_count;
  if (allowed_count == 0) return nullptr;
  if (allowed_count > 0) --allowed_count;
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size) {
  void* memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  return operator new(size, tag);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

void* operator new(std::size_t size, std::align_val_t align, const std::nothrow_t&) noexcept {
  ++asked_count;
  if (allowed_count == 0) return nullptr;
  if (allowed_count > 0) --allowed_count;
  const auto step = static_cast<std::size_t>(align);
  return std::aligned_alloc(step, size == 0 ? step : (size + step - 1) / step * step);
}
void* operator new(std::size_t size, std::align_val_t align) {
  void* memory = operator new(size, align, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size, std::align_val_t align) { return operator new(size, align); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace photon::test {

Shortage::Shortage(int allowed) noexcept { allowed_count = allowed; }
Shortage::~Shortage() { allowed_count = kNoLimit; }

int allocations_count() noexcept { return asked_count; }

}  // namespace photon::test
