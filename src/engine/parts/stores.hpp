// Bytes for memory that a peer's core reads: which way they go, by which stores, and what tells
// that the two cores have moved, near each other or apart.
//
// The sign of a move is the time that the next line of the ring takes to be ours: it lies in the
// peer's cache. It is taken now and then (LineWatch); twice in a row more than twice as long as it
// was, or less than half, and every choice is looked at anew.
// Owner: a Peer, under the lane's lock.
#pragma once

#include <photon/context.h>

#include <cstddef>
#include <cstdint>

#include "base/config.hpp"
#include "engine/parts/store_choice.hpp"
#include "service/outlet.hpp"

namespace photon::engine {

// Knows the time that a line takes to come from the peer, and tells when that has changed.
class LineWatch {
 public:
  static constexpr unsigned kInterval = 8;  // copies between two looks

  bool is_due() noexcept { return --left_ == 0; }
  void put_off() noexcept { left_ = kInterval; }
  // True: it has changed.
  bool saw(std::uint64_t ticks) noexcept {
    left_ = kInterval;
    const bool is_like = ticks < 2 * usual_ && 2 * ticks > usual_;
    if (is_like) usual_ = (3 * usual_ + ticks) / 4;
    const bool is_second = !is_like && seen_ != 0 && ticks < 2 * seen_ && 2 * ticks > seen_;
    seen_ = is_like ? 0 : ticks;
    if (!is_second) {
      if (!is_like) left_ = 1;  // once more, soon: it may have been a nap
      return false;
    }
    usual_ = ticks;
    seen_ = 0;
    return true;
  }
  std::uint64_t usual() const noexcept { return usual_; }

 private:
  unsigned left_ = 1;
  std::uint64_t usual_ = 0;
  std::uint64_t seen_ = 0;  // the last one, if it was unlike; 0: it was not
};

class Stores {
 public:
  // No core of another process reads what this rank writes: plain stores, for good.
  Stores() noexcept = default;
  explicit Stores(base::ShmCopies setting) noexcept : setting_(setting), is_open_(true) {}

  // How the bytes of the next operation come to mapped memory. `may_stage`: through the bulk ring,
  // too. `tx`: the ring to that peer.
  Way for_mapped(std::uint64_t bytes, bool may_stage, service::LineProducer& tx) noexcept;
  // How the next chunk of an operation of `whole_bytes` comes into the bulk ring.
  Way for_ring(std::uint64_t whole_bytes, std::uint64_t bytes, service::LineProducer& tx) noexcept;
  // The answer was not used: the next question about that size gets the same answer.
  void put_off(Way way, std::uint64_t bytes) noexcept {
    pending_ = way;
    pending_bytes_ = bytes;
  }
  // It was used after all.
  void take_pending() noexcept { pending_bytes_ = 0; }

  // As memmove(), and visible before whatever is stored afterwards.
  static void copy(Way way, std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept;

  // Tells the way that an operation of that size would take now.
  Way best_for_mapped(std::uint64_t bytes) const noexcept;
  Way best_for_ring(std::uint64_t bytes) const noexcept;
  // Whether another core reads what is written.
  bool is_open() const noexcept { return is_open_; }
  // Adds that to the words of the path, by the sizes from which on it is so.
  void describe(ph_path& path) const noexcept;

 private:
  Way forced(bool may_stage) const noexcept;
  void watch(service::LineProducer& tx) noexcept;

  base::ShmCopies setting_ = base::ShmCopies::plain;
  bool is_open_ = false;
  Way pending_ = Way::plain;
  std::uint64_t pending_bytes_ = 0;  // 0: nothing was put off
  LineWatch watch_;
  StoreChoice either_{3};  // into mapped memory, or through the ring
  StoreChoice mapped_{2};
  StoreChoice ring_{2};
};

}  // namespace photon::engine
