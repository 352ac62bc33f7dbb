// The ranks that take part in one measurement, meeting through the shared block. They run the same
// code in step; index 0 measures and decides, and `agree` spreads its decisions.
// Invariant: all members call barrier, agree and exchange in the same order.
// Owner: the question; the block outlives it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "shared_block.hpp"

namespace photon::perf {

class Team {
 public:
  enum class Scope : std::uint8_t { pair, job };

  Team(SharedBlock& block, Scope scope, std::uint32_t index, std::uint32_t count) noexcept
      : block_(&block), scope_(scope), index_(index), count_(count) {}

  std::uint32_t index() const noexcept { return index_; }
  std::uint32_t count() const noexcept { return count_; }
  std::uint32_t other() const noexcept { return 1 - index_; }
  // The pair of the first two members, for one of them.
  Team first_two() const noexcept { return {*block_, Scope::pair, index_, 2}; }
  LimitArea& area() const noexcept { return block_->area(); }
  std::span<std::byte> data() const noexcept { return block_->data(); }

  // Returns when all members called. Spins and yields: for a measurement about to start.
  void barrier() noexcept;
  // The same, with `progress()` called between looks.
  template <class Progress>
  void barrier_while(Progress progress) {
    const auto wanted = arrive();
    while (meeting().generation.line.flag.load_acquire() != wanted) progress();
  }
  // The same, asleep between looks: for members who wait while others measure.
  void barrier_asleep() noexcept;

  // Everybody gets the value of index 0.
  std::uint64_t agree(std::uint64_t mine) noexcept;

  // Hand a small plain object to every member; read theirs with card_of() until the next exchange.
  template <class Card>
  void exchange(const Card& mine) noexcept {
    static_assert(std::is_trivially_copyable_v<Card> && sizeof(Card) <= kCardBytes);
    barrier();
    std::memcpy(area().cards[index_], &mine, sizeof mine);
    barrier();
  }
  template <class Card>
  Card card_of(std::uint32_t index) const noexcept {
    static_assert(std::is_trivially_copyable_v<Card> && sizeof(Card) <= kCardBytes);
    Card card;
    std::memcpy(&card, area().cards[index], sizeof card);
    return card;
  }

 private:
  Meeting& meeting() const noexcept { return area().meetings[static_cast<int>(scope_)]; }
  std::uint64_t arrive() noexcept;

  SharedBlock* block_;
  Scope scope_;
  std::uint32_t index_;
  std::uint32_t count_;
};

}  // namespace photon::perf
