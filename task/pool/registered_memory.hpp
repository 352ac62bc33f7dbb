// Memory for pools from ph_alloc(), which peers reach without a registration of their own, up to a
// limit that all PEs of the process share; from the heap beyond it, or where there is none.
//
//   share: closed: all of the heap -- open(lane) --> open -- open(another lane) --> open
//
// Invariant: `taken_bytes_` is what pools have of ph_alloc() now, and at most the limit.
// Owner: the process; a share of its PE, whose thread makes every call. What a share has taken is
// given back before the context is finalized.
#pragma once

#include <photon/types.h>

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "task/pool/memory.hpp"

namespace photon::task {

class Arena {
 public:
  explicit Arena(std::uint64_t limit_bytes) noexcept : limit_bytes_(limit_bytes) {}

  bool reserve(std::uint64_t size_bytes) noexcept {
    const std::scoped_lock lock(mutex_);
    if (size_bytes > limit_bytes_ - taken_bytes_) return false;
    taken_bytes_ += size_bytes;
    return true;
  }
  void release(std::uint64_t size_bytes) noexcept {
    const std::scoped_lock lock(mutex_);
    taken_bytes_ -= size_bytes;
  }
  std::uint64_t taken_bytes() const noexcept {
    const std::scoped_lock lock(mutex_);
    return taken_bytes_;
  }

 private:
  mutable std::mutex mutex_;
  const std::uint64_t limit_bytes_;
  std::uint64_t taken_bytes_ = 0;
};

class ArenaShare {
 public:
  explicit ArenaShare(Arena& arena) noexcept : arena_(arena) {}
  ArenaShare(const ArenaShare&) = delete;
  ArenaShare& operator=(const ArenaShare&) = delete;

  // By which lane, or context, ph_alloc() and ph_free() are called from now on.
  void open(ph_context* lane) noexcept { lane_ = lane; }
  Memory memory() noexcept { return {take, give, this}; }

 private:
  static Piece take(void* user, std::size_t size_bytes) noexcept;
  static void give(void* user, const Piece& piece, std::size_t size_bytes) noexcept;

  Arena& arena_;
  ph_context* lane_ = nullptr;
};

}  // namespace photon::task
