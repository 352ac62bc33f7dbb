// The messages to one peer that are under way, each in a slot of its own until the provider has
// done with it; and the next one, while the provider takes none.
//
//   free -- built() --> waiting -- the provider took it --> under way -- over() --> free
//                          |  took it and is done with it -----------------------> free
//
// Invariant: one message at most waits, and none is built meanwhile, so their order is that of
// their building. Memory that is under way stays until the provider has done with it.
// Owner: OfiPeer, under the transport's mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/ofi/fabric.hpp"

namespace photon::transport::ofi {

class Window {
 public:
  // `fabric` outlives it; and it what is under way, unless the fabric was stopped.
  static base::Result<std::unique_ptr<Window>> make(Fabric& fabric, std::uint32_t rank,
                                                    std::size_t slots_count,
                                                    std::size_t message_bytes);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  bool is_waiting() const noexcept { return waiting_bytes_ != 0; }
  std::size_t under_way() const noexcept { return under_way_; }
  bool is_idle() const noexcept { return !is_waiting() && under_way_ == 0; }

  // Room for the next message; empty: one waits, or all slots are under way.
  std::span<std::byte> room() noexcept;
  // It stands in room(), and waits. Not 0.
  void built(std::size_t size_bytes) noexcept { waiting_bytes_ = size_bytes; }
  // The one that waits goes. Anything but full: none waits any more.
  Fabric::Taken send(Fabric& fabric, std::uint64_t to) noexcept;
  // False: it was not under way.
  bool over(const Operation& operation) noexcept;
  void forget_waiting() noexcept { waiting_bytes_ = 0; }

 private:
  struct Slot {
    Operation operation;
    bool is_under_way = false;
  };
  Window(Fabric& fabric, std::uint32_t rank, std::size_t slots_count, std::size_t message_bytes);
  std::span<std::byte> bytes_of(std::size_t slot) const noexcept {
    return {memory_ + slot * message_bytes_, message_bytes_};
  }

  Fabric& fabric_;
  const std::size_t message_bytes_;
  std::byte* memory_ = nullptr;
  std::uint64_t handle_ = 0;
  std::vector<Slot> slots_;
  std::size_t next_ = 0;           // the slot that room() means
  std::size_t waiting_bytes_ = 0;  // of the message in it; 0: none waits
  std::size_t under_way_ = 0;
};

}  // namespace photon::transport::ofi
