// What a model of a network card sees, and all that it sees: below it a Port, above it ranks.
//
// A model is a state machine without threads: every call comes from the node's own events, in their
// order. It takes every packet when it arrives; taking never waits for sending.
// Invariant: Packet and Timer are trivially copyable. Owner: a node has one model and one Port.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "netsim/clock/time.hpp"

namespace photon::netsim::nic {

// A rank as cards name it: the node it lives on, and which of that node's ranks it is (below 256).
struct Rank {
  std::uint32_t node = 0;
  std::uint32_t slot = 0;
  friend bool operator==(const Rank&, const Rank&) = default;
};

enum class PacketKind : std::uint8_t {
  data,             // bytes of a message
  request,          // rendezvous: a message waits to be read
  read,             // rendezvous: send me its bytes
  acknowledgement,  // all bytes of a message are in
  told,             // the message that says so to the target
  credit,           // buffers are free again; `message_bytes` is their number
  address_request,  // where are your buffers?
  address,          // and the answer
};

// A packet of data carries min(mtu, message_bytes - index x mtu) bytes. All other kinds are control
// packets of kControlBytes; their other fields mean what their protocol says.
struct Packet {
  Rank source;
  Rank destination;
  std::uint32_t message = 0;  // its number among those from source to destination
  std::uint32_t message_bytes = 0;
  std::uint32_t index = 0;      // of this packet in its message; below 2^24
  std::uint32_t posted_ns = 0;  // when its message was posted: a stamp (clock/stamp.hpp)
  std::uint16_t tag = 0;
  PacketKind kind = PacketKind::data;
};
static_assert(std::is_trivially_copyable_v<Packet>);
inline constexpr std::uint32_t kControlBytes = 8;

struct Timer {
  std::uint32_t kind = 0;  // the model's own
  std::uint32_t value = 0;
};
static_assert(sizeof(Timer) == 8 && std::is_trivially_copyable_v<Timer>);

enum class NoticeKind : std::uint8_t {
  message,  // all bytes of a message are in
  sent,     // the source of a message may be written again
};

// What a rank is told. The rank takes notices one by one, in the order of write_host() calls, when
// it has nothing else to do; taking one keeps it busy for `host_ps`.
struct Notice {
  Rank peer;
  std::uint32_t posted_ns = 0;  // of the message: a stamp
  std::uint16_t tag = 0;
  NoticeKind kind = NoticeKind::message;
  Time host_ps = 0;
};

// What a rank asks its card for: bytes to the memory of a peer on another node.
struct Operation {
  Rank peer;
  std::uint32_t bytes = 0;
  std::uint32_t posted_ns = 0;
  std::uint16_t tag = 0;
  bool is_told = false;  // a notice `sent` is wanted
};

class Port {
 public:
  virtual ~Port() = default;
  virtual Time now() const = 0;
  virtual void at(Time time, Timer timer) = 0;
  // False: there is no room and nothing was taken; on_room comes when there is. For all models but
  // `bare` the FIFO behind it holds one packet of full size besides the one that is on the link, so
  // that whatever leaves first is decided late and by the model.
  virtual bool send(const Packet& packet) = 0;
  virtual void write_host(std::uint32_t slot, const Notice& notice) = 0;
  virtual bool is_ordered() const = 0;  // packets of one pair of nodes stay in order
  // Ends the run as a failure, with a sentence that names what went wrong.
  virtual void fail(const std::string& what) = 0;
};

struct Figures {
  std::uint64_t out_of_order = 0;       // packets below the highest index that had come
  std::uint64_t peak_held_bytes = 0;    // held back because earlier ones were missing
  std::uint64_t peak_memory_bytes = 0;  // what the card itself must remember
};

class Card {
 public:
  virtual ~Card() = default;
  // How long the rank itself is busy before the operation is posted: copies, registration.
  virtual Time host_time(std::uint32_t slot, const Operation& operation) = 0;
  virtual void on_post(std::uint32_t slot, const Operation& operation) = 0;
  virtual void on_packet(const Packet& packet) = 0;
  virtual void on_room() = 0;
  virtual void on_timer(Timer timer) = 0;
  // The rank has used a message of its peer: the buffer that it came into is free.
  virtual void on_buffer(std::uint32_t slot, Rank peer) = 0;
  virtual Figures figures() const = 0;
};

}  // namespace photon::netsim::nic
