// The buffers that messages of all peers are received into: their number has nothing to do with
// that of the peers.
//
//   ours -- post() --> the provider's -- a message came --> arrived -- next(), post() --> ...
//
// Invariant: never more with the provider than are wanted, and than there are buffers; what has
// arrived is handed out in the order in which it was reported. Where the provider takes no more, a
// buffer waits, and post() tries again.
// Few are wanted at first, and the one that was emptied last is posted first: the provider fills
// them by turns, so each that it has is touched sooner or later, however little comes. Twice as
// many are wanted when more than half of an endpoint's have come before somebody took them. Owner:
// OfiTransport, under its lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transport/ofi/ofi_shown_memory.hpp"

namespace photon::transport::ofi {

// Buffers that wait for messages, at most and at first.
inline constexpr std::size_t kReceives = 128;
inline constexpr std::size_t kFewReceives = 8;
// And for each endpoint beside the first, from when it is opened.
inline constexpr std::size_t kSpareReceives = (kMostEndpoints - 1) * kFewReceives;

class Receives {
 public:
  // `count` and, for endpoints to come, `spare_count`; `fabric` outlives it.
  static base::Result<std::unique_ptr<Receives>> make(Fabric& fabric, std::size_t count,
                                                      std::size_t spare_count,
                                                      std::size_t message_bytes);
  Receives(const Receives&) = delete;
  Receives& operator=(const Receives&) = delete;

  // There is an endpoint more: some of the spare ones are wanted, too.
  void widen() noexcept;
  // False: the provider will not take them any more; its words() say why.
  bool post() noexcept;
  void arrived(const Operation& operation, std::size_t size_bytes) noexcept;
  // It brought nothing that can be used.
  void spoiled(const Operation& operation) noexcept;
  bool has_arrived() const noexcept { return first_ != came_.size(); }
  std::size_t arrived_count() const noexcept { return came_.size() - first_; }
  bool is_short() const noexcept { return posted_ < wanted_ && !idle_.empty(); }
  std::size_t wanted() const noexcept { return wanted_; }

  // The oldest message that has arrived; its bytes stay until taken().
  std::span<const std::byte> next() const noexcept;
  void taken() noexcept;

 private:
  struct Came {
    std::uint32_t index = 0;
    std::size_t size_bytes = 0;
  };
  Receives(Fabric& fabric, std::size_t count, std::size_t spare_count, std::size_t message_bytes);

  Fabric& fabric_;
  const std::size_t message_bytes_;
  ShownMemory memory_;
  std::vector<Operation> operations_;
  std::size_t most_;  // are wanted at a time
  std::size_t wanted_;
  std::size_t posted_ = 0;           // the provider's
  std::vector<std::uint32_t> idle_;  // ours; room for all of them
  std::vector<Came> came_;           // likewise
  std::size_t first_ = 0;            // of came_ that is not taken
};

}  // namespace photon::transport::ofi
