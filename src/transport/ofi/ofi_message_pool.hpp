// Memory for messages on their way, of all peers together: a slot for each message that may be
// under way, but what is touched is what was ever under way at once, not so much for each peer.
//
//   slot: free -- take() --> a message's -- give() --> free
//
// Invariant: as many slots as the windows have reserved, so that who keeps to what it reserved
// always finds one. The slot given back last is taken first.
// Owner: OfiTransport, under its lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/ofi/ofi_shown_memory.hpp"

namespace photon::transport::ofi {

class MessagePool {
 public:
  using Slot = std::uint32_t;

  // `fabric` outlives it; and it what is under way, unless the fabric was stopped.
  MessagePool(Fabric& fabric, std::size_t message_bytes) noexcept
      : fabric_(fabric), message_bytes_(message_bytes) {}
  MessagePool(const MessagePool&) = delete;
  MessagePool& operator=(const MessagePool&) = delete;

  // So many may be taken, beside those of the others. An error leaves it as it was.
  base::Result<> reserve(std::size_t slots_count);
  // No more; all of them were given back.
  void release(std::size_t slots_count) noexcept { reserved_ -= slots_count; }

  // The one that take() would give.
  const Buffer& next() const noexcept { return at(free_.back()); }
  Slot take() noexcept;
  void give(Slot slot) noexcept { free_.push_back(slot); }
  const Buffer& at(Slot slot) const noexcept { return slots_[slot]; }

 private:
  base::Result<> grow(std::size_t slots_count);

  Fabric& fabric_;
  const std::size_t message_bytes_;
  std::vector<ShownMemory> chunks_;
  std::vector<Buffer> slots_;
  std::vector<Slot> free_;  // has room for all
  std::size_t reserved_ = 0;
};

}  // namespace photon::transport::ofi
