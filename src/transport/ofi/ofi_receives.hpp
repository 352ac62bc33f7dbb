// The buffers that messages of all peers are received into: their number has nothing to do with
// that of the peers.
//
//   ours -- post() --> the provider's -- a message came --> arrived -- next(), post() --> ...
//
// Invariant: never more with the provider than there are buffers; what has arrived is handed out in
// the order in which it was reported. Where the provider takes no more, a buffer waits, and post()
// tries again.
// Owner: OfiTransport, under its mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transport/ofi/shown_memory.hpp"

namespace photon::transport::ofi {

// Buffers that wait for messages.
inline constexpr std::size_t kReceives = 128;

class Receives {
 public:
  // `fabric` outlives it.
  static base::Result<std::unique_ptr<Receives>> make(Fabric& fabric, std::size_t count,
                                                      std::size_t message_bytes);
  Receives(const Receives&) = delete;
  Receives& operator=(const Receives&) = delete;

  // False: the provider will not take them any more; its words() say why.
  bool post() noexcept;
  void arrived(const Operation& operation, std::size_t size_bytes) noexcept;
  // It brought nothing that can be used.
  void spoiled(const Operation& operation) noexcept { idle_.push_back(operation.index); }
  bool has_arrived() const noexcept { return first_ != came_.size(); }
  std::size_t arrived_count() const noexcept { return came_.size() - first_; }
  bool is_short() const noexcept { return !idle_.empty(); }

  // The oldest message that has arrived; its bytes stay until taken().
  std::span<const std::byte> next() const noexcept;
  void taken() noexcept;

 private:
  struct Came {
    std::uint32_t index = 0;
    std::size_t size_bytes = 0;
  };
  Receives(Fabric& fabric, std::size_t count, std::size_t message_bytes);

  Fabric& fabric_;
  const std::size_t message_bytes_;
  ShownMemory memory_;
  std::vector<Operation> operations_;
  std::vector<std::uint32_t> idle_;  // to be posted; room for all of them
  std::vector<Came> came_;           // likewise
  std::size_t first_ = 0;            // of came_ that is not taken
};

}  // namespace photon::transport::ofi
