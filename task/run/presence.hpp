// What siblings may see of a PE: which thread is its own, and whether it looks at the network.
// Invariant: no other thread than that of the PE sets any of it. It orders nothing.
// Owner: the PE. Threads: any may read.
#pragma once

#include <cstdint>

#include "sync/hint.hpp"

namespace photon::task {

class Presence {
 public:
  // From now on the calling thread is that of this PE.
  void settle() noexcept { thread_.set(this_thread()); }
  bool is_here() const noexcept { return thread_.get() == this_thread(); }

  std::uint64_t looks() const noexcept { return looks_.shown(); }
  // It waits in its lane, or is about to.
  bool rests() const noexcept { return rests_.get(); }

 protected:
  void count_look() noexcept { ++looks_; }
  void rest(bool is_on) noexcept { rests_.set(is_on); }

 private:
  // Unique among the living threads.
  static std::uint64_t this_thread() noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  }

  sync::Hint<sync::HardwarePolicy, std::uint64_t> thread_;
  sync::Ticks<sync::HardwarePolicy> looks_;
  sync::Hint<sync::HardwarePolicy, bool> rests_;
};

}  // namespace photon::task
