// Who may still produce a completion: the setting `requests`, shared out. Nothing else writes it.
//
//   free -- promise() --> of an operation, then of the completion that waits -- release() --> free
//   free -- lend() --> of a peer's credit grant, a line each -- used --> of what went there
//                                                            -- give_back() --> free
//   waiting -- begin_run() --> handed out, one after the other -- end_run() --> free
//
// Invariant: free + lent to credit grants + promised or waiting + handed out and not counted yet =
// `requests`. Free goes below zero only by reports of operations that were refused after their
// completion, and by what services promise beyond `requests`. Owner: an Engine, under the lane's
// lock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/parts/local_batch.hpp"

namespace photon::engine {

class CompletionBudget {
 public:
  explicit CompletionBudget(std::uint64_t requests) noexcept
      : free_(static_cast<std::int64_t>(requests)) {}

  // As far as is known without counting the run: whether one can be promised.
  bool has_any() const noexcept { return free_ > 0; }
  std::int64_t free() noexcept {
    free_ += run_.taken();
    return free_;
  }

  [[gnu::always_inline]] void promise() noexcept { --free_; }
  // It was taken, or there will be none.
  [[gnu::always_inline]] void release() noexcept { ++free_; }

  // What a credit grant may have: half of it, for other peers want some, and give_back() brings
  // back what was not used.
  std::uint64_t share() noexcept {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, free() + 1) / 2);
  }
  void lend(std::uint64_t count) noexcept { free_ -= static_cast<std::int64_t>(count); }
  void give_back(std::uint64_t count) noexcept { free_ += static_cast<std::int64_t>(count); }

  // Completions that one peer's queue hands out one after the other (local_batch.hpp). The run
  // before has ended.
  [[gnu::always_inline]] void begin_run(Peer& peer, std::uint64_t count) noexcept {
    run_.begin(peer, count);
  }
  [[gnu::always_inline]] void end_run() noexcept { free_ += run_.end(); }
  [[gnu::always_inline]] const LocalBatch& run() const noexcept { return run_; }

 private:
  LocalBatch run_;
  std::int64_t free_;
};

}  // namespace photon::engine
