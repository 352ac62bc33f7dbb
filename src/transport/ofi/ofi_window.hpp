// The messages to one peer that are under way, each in a slot of the pool until the provider has
// done with it; and the next one, while the provider takes none.
//
//   free -- built() --> waiting -- the provider took it --> under way -- over() --> free
//                          |  took it and is done with it -----------------------> free
//
// Invariant: one message at most waits, and none is built meanwhile, so their order is that of
// their building. Memory that is under way stays until the provider has done with it.
// Owner: OfiPeer, under the transport's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/ofi/ofi_message_pool.hpp"

namespace photon::transport::ofi {

class Window {
 public:
  // Of at most so many messages; `pool` outlives it.
  static base::Result<std::unique_ptr<Window>> make(MessagePool& pool, std::uint32_t rank,
                                                    std::size_t messages_count);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  bool is_waiting() const noexcept { return waiting_bytes_ != 0; }
  bool holds_handshake() const noexcept {
    return is_waiting() && is_handshake_;
  }  // the one that waits
  std::size_t under_way() const noexcept { return under_way_; }
  bool is_idle() const noexcept { return !is_waiting() && under_way_ == 0; }

  // Room for the next message; empty: one waits, or as many as may be are under way. Until built()
  // it belongs to nobody.
  std::span<std::byte> room() noexcept;
  // It stands in room(), and waits. Not 0.
  void built(std::size_t size_bytes, bool is_handshake = false) noexcept;
  // The one that waits goes. Anything but full: none waits any more.
  Fabric::Taken send(Fabric& fabric, const Route& route) noexcept;
  // False: it was not under way.
  bool over(const Operation& operation) noexcept;
  void forget_waiting() noexcept;

 private:
  struct Message {
    Operation operation;
    MessagePool::Slot slot = 0;  // while it is under way
    bool is_under_way = false;
  };
  Window(MessagePool& pool, std::uint32_t rank, std::size_t messages_count);

  MessagePool& pool_;
  std::vector<Message> messages_;
  std::size_t next_ = 0;           // of messages_: the one that room() means
  MessagePool::Slot waiting_ = 0;  // where it stands,
  std::size_t waiting_bytes_ = 0;  // and how long it is; 0: none waits
  bool is_handshake_ = false;
  std::size_t under_way_ = 0;
  std::size_t reserved_ = 0;  // of the pool
};

}  // namespace photon::transport::ofi
