#include "task/thread/stacks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <new>

namespace photon::task {

std::uint64_t StackLimit::mappings_of_kernel() noexcept {
  constexpr std::uint64_t kUsual = 65530;
  unsigned long long mappings = kUsual;
  std::FILE* file = std::fopen("/proc/sys/vm/max_map_count", "re");
  if (file == nullptr) return kUsual;
  if (std::fscanf(file, "%llu", &mappings) != 1) mappings = kUsual;
  std::fclose(file);
  return mappings;
}

Stacks::~Stacks() {
  while (slabs_ != nullptr) {
    StackSlab* slab = slabs_;
    slabs_ = slab->next;
    ::munmap(slab->base, slab->size_bytes());
    delete slab;
  }
  if (limit_ != nullptr) limit_->give(guarded_);
}

Stack* Stacks::take(std::size_t size_bytes, std::uint32_t owner) noexcept {
  was_limited_ = false;
  const std::size_t most = size_bytes + kColours * sizeof(Stack);
  Size* size = size_of((most + kPageBytes - 1) / kPageBytes * kPageBytes);
  if (size == nullptr) return nullptr;
  Stack* stack = size->free;
  if (stack != nullptr)
    size->free = stack->next;
  else
    stack = make(*size);
  if (stack == nullptr) return nullptr;
  stack->slab->owner[stack->index] = owner;
  if (stack->slab->guard_bytes == 0)
    std::memcpy(stack->bottom - sizeof kWatched, &kWatched, sizeof kWatched);
  return stack;
}

void Stacks::give(Stack& stack) noexcept {
  Size* size = size_of(stack.slab->stack_bytes);  // it is there since the slab is
  stack.next = size->free;
  size->free = &stack;
}

Stacks::Size* Stacks::size_of(std::size_t stack_bytes) noexcept {
  for (Size& size : sizes_)
    if (size.stack_bytes == stack_bytes) return &size;
  try {
    sizes_.push_back({.stack_bytes = stack_bytes});
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return &sizes_.back();
}

// Without guards all of it may be touched at once, and neighbouring slabs become one mapping. No
// huge pages: a thread would have two megabytes where it touches four kilobytes.
StackSlab* Stacks::add_slab(std::size_t stack_bytes, std::size_t guard_bytes) noexcept {
  const bool is_guarded = guard_bytes != 0;
  auto* slab = new (std::nothrow) StackSlab{};
  if (slab == nullptr) return nullptr;
  slab->guard_bytes = guard_bytes;
  slab->lead_bytes = is_guarded ? 0 : kPageBytes;
  slab->stack_bytes = stack_bytes;
  slab->stacks = static_cast<std::uint32_t>(std::clamp(kMostSlabBytes / stack_bytes, std::size_t{1},
                                                       std::size_t{StackSlab::kMostStacks}));
  const std::size_t bytes = slab->size_bytes();
  void* base = ::mmap(nullptr, bytes, is_guarded ? PROT_NONE : PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    delete slab;
    return nullptr;
  }
  if (!is_guarded) ::madvise(base, bytes, MADV_NOHUGEPAGE);
  slab->base = static_cast<std::byte*>(base);
  slab->next = slabs_;
  slabs_ = slab;
  return slab;
}

Stack* Stacks::make(Size& size) noexcept {
  if (limit_ == nullptr) return make_bare(size);
  Stack* stack = make_guarded(size);
  if (stack != nullptr || !was_limited_ || !goes_on_) return stack;
  was_limited_ = false;
  return make_bare(size);
}

Stack* Stacks::make_guarded(Size& size) noexcept {
  if (size.slab == nullptr || size.slab->made == size.slab->stacks) {
    StackSlab* slab = add_slab(size.stack_bytes, kPageBytes);
    if (slab == nullptr) return nullptr;
    size.slab = slab;
  }
  StackSlab& slab = *size.slab;
  if (!limit_->take_one()) {
    was_limited_ = true;
    return nullptr;
  }
  if (::mprotect(slab.next_bottom(), slab.stack_bytes, PROT_READ | PROT_WRITE) != 0) {
    limit_->give(1);
    return nullptr;
  }
  ++guarded_;
  return make_of(slab);
}

Stack* Stacks::make_bare(Size& size) noexcept {
  if (size.bare == nullptr || size.bare->made == size.bare->stacks) {
    StackSlab* slab = add_slab(size.stack_bytes, 0);
    if (slab == nullptr) return nullptr;
    size.bare = slab;
  }
  return make_of(*size.bare);
}

Stack* Stacks::make_of(StackSlab& slab) noexcept {
  std::byte* bottom = slab.next_bottom();
  const std::size_t colour = slab.made % kColours;
  std::byte* head = bottom + slab.stack_bytes - (colour + 1) * sizeof(Stack);
  ++made_;
  return new (head) Stack{bottom, nullptr, &slab, slab.made++, {}};
}

bool Stacks::find_guard(const void* address, std::uint32_t& owner,
                        std::size_t& stack_bytes) const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const StackSlab* slab = slabs_; slab != nullptr; slab = slab->next) {
    const std::uintptr_t offset = at - reinterpret_cast<std::uintptr_t>(slab->base);
    if (offset >= slab->size_bytes()) continue;
    if (offset % slab->stride_bytes() >= slab->guard_bytes) return false;  // also of a bare one
    owner = slab->owner[offset / slab->stride_bytes()];
    stack_bytes = slab->stack_bytes;
    return offset / slab->stride_bytes() < slab->made;
  }
  return false;
}

}  // namespace photon::task
