// Says whose stack has overflowed: a PE's thread that touches the guard below a stack of a thread
// of tasks ends the process with that thread's number.
//
// The signal is handled on a stack of its own, and where the program or a sanitizer has given one
// to the PE's thread already, on that. What handled SIGSEGV before is called for all other
// addresses. The way a signal is handled belongs to the whole process, and its handler is told
// nothing else. So the handler stays once it is there, and finds the stacks of its thread by a
// thread-local word. Invariant: the word names what lives. Owner: the PE; made and ended by its
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "task/thread/stacks.hpp"

namespace photon::task {

class OverflowWatch {
 public:
  // Throws bad_alloc. `stacks` outlives it.
  OverflowWatch(const Stacks& stacks, std::uint32_t pe);
  ~OverflowWatch();
  OverflowWatch(const OverflowWatch&) = delete;
  OverflowWatch& operator=(const OverflowWatch&) = delete;

  // By the handler: does the address lie in a guard? Then it has written who it was.
  bool has_told(const void* address) const noexcept;
  // One that the same thread has made before, for another PE.
  const OverflowWatch* outer() const noexcept { return outer_; }

 private:
  static constexpr std::size_t kSignalStackBytes = std::size_t{32} << 10;

  const Stacks& stacks_;
  const std::uint32_t pe_;
  OverflowWatch* outer_;
  std::unique_ptr<std::byte[]> signal_stack_;  // null: there was one
};

}  // namespace photon::task
