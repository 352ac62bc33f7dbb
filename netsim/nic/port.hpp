// What a model of a network card sees, and all that it sees: below it a Port, above it ranks.
//
// A model is a state machine without threads: every call comes from the node's own events, in their
// order. It takes every packet when it arrives; taking never waits for sending.
// Invariant: Packet and Timer are trivially copyable. Owner: a node has one model and one Port.
#pragma once

#include <cstdint>
#include <type_traits>

#include "netsim/clock/time.hpp"

namespace photon::netsim::nic {

enum class PacketKind : std::uint8_t { data };

struct Packet {
  std::uint32_t source = 0;  // nodes
  std::uint32_t destination = 0;
  std::uint32_t bytes = 0;    // of payload in this packet
  std::uint32_t message = 0;  // number of its message at the source
  std::uint32_t message_bytes = 0;
  std::uint32_t index = 0;  // of this packet in its message
  std::uint32_t tag = 0;    // at most 24 bits
  PacketKind kind = PacketKind::data;
};
static_assert(std::is_trivially_copyable_v<Packet>);

struct Timer {
  std::uint32_t kind = 0;  // the model's own
  std::uint32_t value = 0;
};
static_assert(sizeof(Timer) == 8 && std::is_trivially_copyable_v<Timer>);

enum class NoticeKind : std::uint8_t { message };  // all bytes of a message are in

struct Notice {
  std::uint32_t peer = 0;  // rank
  std::uint32_t tag = 0;   // at most 24 bits
  NoticeKind kind = NoticeKind::message;
};

// What a rank asks its card for: bytes to the memory of a peer.
struct Operation {
  std::uint32_t peer = 0;  // rank
  std::uint32_t bytes = 0;
  std::uint32_t tag = 0;
};

class Port {
 public:
  virtual ~Port() = default;
  virtual Time now() const = 0;
  virtual void at(Time time, Timer timer) = 0;
  // False: there is no room and nothing was taken; on_room comes when there is.
  virtual bool send(const Packet& packet) = 0;
  virtual void write_host(std::uint32_t rank, const Notice& notice) = 0;
  virtual bool is_ordered() const = 0;  // packets of one pair of nodes stay in order
};

class Card {
 public:
  virtual ~Card() = default;
  virtual void on_post(std::uint32_t rank, const Operation& operation) = 0;
  virtual void on_packet(const Packet& packet) = 0;
  virtual void on_room() = 0;
  virtual void on_timer(Timer timer) = 0;
  virtual void on_buffer(std::uint32_t rank, std::uint32_t peer) = 0;
  virtual std::uint64_t out_of_order() const = 0;  // packets below the highest index that had come
};

}  // namespace photon::netsim::nic
