// The processor's copies to memory that a peer's core reads: which stores they use, and what tells
// that the two cores have moved, near each other or apart.
//
// The sign of a move is the time that the next line of the ring takes to be ours: it lies in the
// peer's cache. It is taken now and then (LineWatch); twice in a row more than twice as long as it
// was, or less than half, and every choice is looked at anew.
// Owner: a Peer, under the lane's lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/config.hpp"
#include "engine/store_choice.hpp"
#include "service/outlet.hpp"

namespace photon::engine {

// What a line takes to come from the peer, and whether that has changed.
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
  enum class Into : std::uint8_t { mapped, ring };
  struct Copy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    std::uint64_t size_bytes = 0;
    std::uint64_t whole_bytes = 0;  // of the operation that it belongs to
  };

  // No core of another process reads what this rank writes: plain stores, for good.
  Stores() noexcept = default;
  explicit Stores(base::ShmStores setting) noexcept : setting_(setting) {}

  // As memmove(), and visible before whatever is stored afterwards. `tx`: the ring to that peer.
  // Returns the stores that were used.
  Store copy(Into into, const Copy& copy, service::LineProducer& tx) noexcept;

  Store best(Into into, std::uint64_t whole_bytes) const noexcept;
  base::ShmStores setting() const noexcept { return setting_; }

 private:
  Store choose(Into into, const Copy& copy, service::LineProducer& tx) noexcept;
  void look(service::LineProducer& tx) noexcept;

  base::ShmStores setting_ = base::ShmStores::plain;
  LineWatch watch_;
  std::array<StoreChoice, 2> choices_;
};

}  // namespace photon::engine
