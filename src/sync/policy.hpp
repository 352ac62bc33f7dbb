// The atomics policy of every lock-free structure here. The structures are templates over it: the
// production policy is HardwarePolicy; the interleaving checker (tests/checker) brings its own,
// with store buffers it can drain in any allowed order.
//
//   Atomic<T>        load/store/exchange/compare_exchange/fetch_add with explicit order
//   Cell<T>          plain memory: get/set; must never race
//   light_barrier()  the cheap half of an asymmetric fence: stops the compiler only
//   heavy_barrier()  the dear half: afterwards every store any thread made before its own last
//                    light_barrier is visible, and every later load of theirs sees ours
//   process_barrier()  the same towards threads of this process alone
//   full_fence()     store-load fence, for when no heavy_barrier is to be had
//   relax(), pause() in a spin loop
// Owner: none (types and static functions only).
#pragma once

#include <atomic>
#include <type_traits>

namespace photon::sync {

// Process-wide membarrier registration; true if heavy_barrier() works for every process that
// registered. Idempotent.
bool register_heavy_barrier() noexcept;
void issue_heavy_barrier() noexcept;
void issue_process_barrier() noexcept;

struct HardwarePolicy {
  template <class T>
  class Atomic {
   public:
    Atomic() noexcept = default;
    explicit Atomic(T value) noexcept : value_(value) {}
    T load(std::memory_order order) const noexcept { return value_.load(order); }
    void store(T value, std::memory_order order) noexcept { value_.store(value, order); }
    T exchange(T value, std::memory_order order) noexcept { return value_.exchange(value, order); }
    bool compare_exchange(T& expected, T desired, std::memory_order success,
                          std::memory_order failure) noexcept {
      return value_.compare_exchange_strong(expected, desired, success, failure);
    }
    T fetch_add(T value, std::memory_order order) noexcept {
      return value_.fetch_add(value, order);
    }

   private:
    static_assert(std::atomic<T>::is_always_lock_free);
    std::atomic<T> value_{};
  };

  template <class T>
  class Cell {
   public:
    // Read once, also if another process breaks the rule that it must not race.
    T get() const noexcept {
      T value = value_;
      if constexpr (std::is_integral_v<T>) asm("" : "+r"(value));
      return value;
    }
    void set(T value) noexcept { value_ = value; }

   private:
    static_assert(std::is_trivially_copyable_v<T>);
    T value_{};
  };

  static void light_barrier() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  static void heavy_barrier() noexcept { issue_heavy_barrier(); }
  static void process_barrier() noexcept { issue_process_barrier(); }
  static void full_fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }
  static void relax() noexcept { __builtin_ia32_pause(); }
  // Touches no memory for about so many cycles. A turn that lies across two lines of code would
  // take twice as long, by chance of where it was linked.
  static void idle(unsigned cycles) noexcept {
    if (cycles != 0) asm volatile(".p2align 4\n1:\tdec %0\n\tjnz 1b" : "+r"(cycles) : : "cc");
  }
  // In a spin loop whose partner may need our core: after a while, give it up.
  static void pause(unsigned spins) noexcept;
};

}  // namespace photon::sync
