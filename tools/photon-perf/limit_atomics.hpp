// Every atomic of photon-perf. The limit programs exchange flags through memory of their own, with
// no library in between, so they cannot use src/sync (tools build on the public interface alone).
// Invariant: each word has one writer at a time, except `add`, which only the barrier uses.
// Owner: the mapping that holds it (shared_block.hpp); zero-filled memory is a valid state.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace photon::perf {

class SharedWord {
 public:
  std::uint64_t load_acquire() const noexcept {  // [limit-flag]
    return value_.load(std::memory_order_acquire);
  }
  std::uint64_t load_relaxed() const noexcept { return value_.load(std::memory_order_relaxed); }
  void store_release(std::uint64_t value) noexcept {  // [limit-flag]
    value_.store(value, std::memory_order_release);
  }
  std::uint64_t add(std::uint64_t value) noexcept {  // [team-barrier]
    return value_.fetch_add(value, std::memory_order_acq_rel);
  }

 private:
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  std::atomic<std::uint64_t> value_{};
};

// How a limit program waits for a flag. Which one is fastest differs between machines and between
// the states of one machine, so the limit is the best of them.
enum class SpinForm : std::uint8_t { tight, pause, relaxed };

// Keep the compiler from merging copies that nobody reads in between.
inline void keep_stores() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

inline void relax_processor() noexcept { __builtin_ia32_pause(); }

// Turns before a spin yields. Where both ranks have one processor between them a spin would last a
// whole time slice, hence a yield after far more turns than any cache line takes. Elsewhere a yield
// only gives the processor to strangers: the library does not do that either.
inline const int kPatienceTurns = [] {
  cpu_set_t allowed;
  const bool alone =
      sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) == 1;
  return alone ? 20'000 : 20'000'000;
}();

// Spin until `reached(value)`.
template <SpinForm form, class Reached>
void spin_until(const SharedWord& word, Reached reached) noexcept {
  for (;;) {
    for (int turn = 0; turn < kPatienceTurns; ++turn) {
      if constexpr (form == SpinForm::relaxed) {
        if (reached(word.load_relaxed())) {
          std::atomic_thread_fence(std::memory_order_acquire);  // [limit-flag] once, not per turn
          return;
        }
      } else {
        if (reached(word.load_acquire())) return;
        if constexpr (form == SpinForm::pause) relax_processor();
      }
    }
    sched_yield();
  }
}

template <SpinForm form>
void spin_until_equal(const SharedWord& word, std::uint64_t wanted) noexcept {
  spin_until<form>(word, [wanted](std::uint64_t value) { return value == wanted; });
}

template <SpinForm form>
void spin_until_at_least(const SharedWord& word, std::uint64_t wanted) noexcept {
  spin_until<form>(word, [wanted](std::uint64_t value) { return value >= wanted; });
}

}  // namespace photon::perf
