// Stacks of the threads of one PE, from slabs of 64. A stack that was given back is the first to be
// taken again.
//
//   part of a slab -- take() --> in use -- give() --> free -- take() --> in use
//
//   slab:           guard | stack 0 ... its head | guard | stack 1 ... its head | ...
//   without guards: word | stack 0 ... its head, word | stack 1 ... its head, word | ...
//
// The word below a stack has a known value, which an overflow changes. It lies in the page of the
// head of the next stack, so that it needs no memory of its own.
// A head stands at the upper end of its stack, where the first frames come right below it, so that
// one page has both. It stands at a different line of the page for each of 32 neighbours: else the
// upper ends of all stacks would share a few sets of the caches.
// Without guards a slab is one mapping; with them it is two for each stack, of which the kernel
// allows a process so many (vm.max_map_count). StackLimit leaves some to the rest of the program;
// beyond it there are no stacks, or stacks from slabs without guards.
// Invariant: a stack is of its slab until the end; slabs are not given back before.
// Owner: the PE, whose thread makes every call; StackLimit is the process's, for all its PEs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

namespace photon::task {

// How many stacks with guards a process may have.
class StackLimit {
 public:
  static constexpr std::uint64_t kLeftMappings = 1024;  // to the rest of the program

  explicit StackLimit(std::uint64_t mappings) noexcept : mappings_(mappings) {}
  // What the kernel allows now.
  static std::uint64_t mappings_of_kernel() noexcept;

  bool take_one() noexcept {
    const std::scoped_lock lock(mutex_);
    if (2 * (stacks_ + 1) + kLeftMappings > mappings_) return false;
    ++stacks_;
    return true;
  }
  void give(std::uint64_t stacks) noexcept {
    const std::scoped_lock lock(mutex_);
    stacks_ -= stacks;
  }
  std::uint64_t stacks() noexcept {
    const std::scoped_lock lock(mutex_);
    return stacks_;
  }
  std::uint64_t mappings() const noexcept { return mappings_; }

 private:
  std::mutex mutex_;
  const std::uint64_t mappings_;
  std::uint64_t stacks_ = 0;
};

struct StackSlab;

// The head of a stack. Where it is the last thing of its part of the slab, its end is the word that
// the next stack watches.
struct alignas(64) Stack {
  std::byte* bottom;
  Stack* next;  // of those that are free
  StackSlab* slab;
  std::uint32_t index;  // in its slab
  std::uint8_t zero[36];
};
static_assert(sizeof(Stack) == 64);

struct StackSlab {
  static constexpr std::uint32_t kMostStacks = 64;

  StackSlab* next;
  std::byte* base;
  std::size_t lead_bytes;  // below the first stack, for its word
  std::size_t guard_bytes;
  std::size_t stack_bytes;
  std::uint32_t stacks;              // 64; fewer of very large ones
  std::uint32_t made;                // those that have memory
  std::uint32_t owner[kMostStacks];  // whoever has the stack: a number that its taker has set

  // Of the stack that is made next.
  std::byte* next_bottom() const noexcept {
    return base + lead_bytes + made * stride_bytes() + guard_bytes;
  }
  std::size_t stride_bytes() const noexcept { return guard_bytes + stack_bytes; }
  std::size_t size_bytes() const noexcept { return lead_bytes + stacks * stride_bytes(); }
};

class Stacks {
 public:
  // Null: no guards. `goes_on`: beyond the limit there are stacks without a guard.
  explicit Stacks(StackLimit* limit, bool goes_on = false) noexcept
      : limit_(limit), goes_on_(goes_on) {}
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  // At least so many bytes below its head. Null: the kernel or the limit allows no more, or there
  // is no memory.
  Stack* take(std::size_t size_bytes, std::uint32_t owner) noexcept;
  void give(Stack& stack) noexcept;

  // How many have memory.
  std::uint64_t made() const noexcept { return made_; }
  // The last take() that has found none was refused by the limit, and not by the kernel.
  bool was_limited() const noexcept { return was_limited_; }

  // Without guards: has whoever uses the stack with this bottom written below it?
  static bool has_overflowed(const std::byte* bottom) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bottom - sizeof word, sizeof word);
    return word != kWatched;
  }

  // Whose guard has this address? False: nobody's. Reads memory of this PE alone: for its handler
  // of signals.
  bool find_guard(const void* address, std::uint32_t& owner,
                  std::size_t& stack_bytes) const noexcept;

 private:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kColours = 32;
  static constexpr std::size_t kMostSlabBytes = std::size_t{64} << 20;
  static constexpr std::uint64_t kWatched = 0x0f1e2d3c'4b5a6978;

  // Stacks of one size.
  struct Size {
    std::size_t stack_bytes;
    Stack* free = nullptr;
    StackSlab* slab = nullptr;  // the newest one with guards; null: none
    StackSlab* bare = nullptr;  // without
  };

  Size* size_of(std::size_t stack_bytes) noexcept;
  StackSlab* add_slab(std::size_t stack_bytes, std::size_t guard_bytes) noexcept;
  Stack* make(Size& size) noexcept;
  Stack* make_guarded(Size& size) noexcept;
  Stack* make_bare(Size& size) noexcept;
  Stack* make_of(StackSlab& slab) noexcept;

  StackLimit* limit_;
  bool goes_on_;
  std::vector<Size> sizes_;
  StackSlab* slabs_ = nullptr;
  std::uint64_t made_ = 0;
  std::uint64_t guarded_ = 0;  // of these
  bool was_limited_ = false;
};

}  // namespace photon::task
