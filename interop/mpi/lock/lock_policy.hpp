// The atomics of the lock between processes: those of sync, and a fence that costs nothing where a
// word was changed just before.
// Owner: none (types and static functions only).
#pragma once

#include <atomic>

#include "sync/policy.hpp"

namespace photon::mpi {

struct LockPolicy : sync::HardwarePolicy {
  // A store-load fence straight behind an exchange, or a compare_exchange that has changed its
  // word. On x86 such a change is one by itself, so that the compiler alone has to be stopped.
  static void fence_behind_change() noexcept {
#if defined(__x86_64__)
    std::atomic_signal_fence(std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }
};

}  // namespace photon::mpi
