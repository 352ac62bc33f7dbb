// What one PE has of the network: a lane of its process, by which its messages leave and come
// (docs/tasks.md, "Sending").
//
//   send: room, at most `carried_bytes_` --> copied, its block is free
//         room, larger --> lent -- landed or refused at the target, or it is lost --> free
//         no room, or others wait --> waits for its target, in order -- progress() --> as above
//   come: in the ring --> copied to a block of the pool --> arrived
//         larger --> a block is its landing -- all is there --> arrived
//         refused, or its landing failed --> dropped
//
// What comes is of the machine of the thread that makes the lane move: its own, or one that visits
// the lane while its owner is busy (`here`). So blocks and counts stay those of one thread.
// Invariant: what waits for a target was sent before whatever is sent to it from now on. A lent
// message is of nobody else until its local id, which is its address, was probed; that comes once.
// Owner: the PE, whose thread makes every call but wake() and visit().
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <vector>

#include "task/pool/pool.hpp"

namespace photon::task {

// A message as it came: its wire word was checked, `source` is set. It is the receiver's.
struct Receiver {
  void (*arrived)(void* user, Message& message) noexcept;
  void* user;
  // The machine of the thread that runs; null: the lane has one thread.
  class Machine& (*here)(void* user) noexcept = nullptr;
};

// What a lane has of operations on buffers (task/machine/rdma.hpp), set by who issues them.
struct Rdma {
  // Both run in progress(). Of each id of an operation, local or remote; null: nobody hears of it.
  void (*taken)(void* user, const ph_u64_completion& end) noexcept = nullptr;
  // After a look while `watch_us` is not 0; `found`: it has found something. True: something was
  // moved.
  bool (*looked)(void* user, bool found) noexcept = nullptr;
  void* user = nullptr;
  std::int64_t watch_us = 0;  // the longest sleep, while something is to be looked after
  std::uint64_t issued = 0;   // operations that are not over
};

struct MachineConfig {
  std::uint64_t carried_bytes;  // am_carried_max
  std::uint32_t pes;            // of each process
  Pool* pool;
  Receiver receiver;
};

// That process is lost, and with it what was for it.
inline bool is_lost(ph_status status) noexcept {
  return status == PH_ERR_PEER || status == PH_ERR_DEPARTED || status == PH_ERR_PROTOCOL;
}

// Counts for quiescence, of messages and dones but for waves, to and from one process.
struct Flow {
  std::uint64_t sent = 0;      // accepted for it
  std::uint64_t returned = 0;  // of these: they could not be posted later on
  std::uint64_t arrived = 0;   // came of it
};

// What did not go as it should.
struct Losses {
  std::uint64_t waited = 0;   // found no room at their send
  std::uint64_t dropped = 0;  // to or from processes that were lost
  std::uint64_t refused = 0;  // arrived, and over at once: there was no way to their landing
};

class Machine {
 public:
  explicit Machine(const MachineConfig& config) : config_(config) {}
  ~Machine() { static_cast<void>(close()); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Takes the lane, until close(). Before a barrier of all processes; then messages
  // may come. Not PH_OK: the words are the context's; the lane is the caller's.
  ph_status open(ph_context* lane) noexcept;
  // What waits is freed, and the lane is gone. Status of ph_lane_close().
  ph_status close() noexcept;
  ph_context* lane() const noexcept { return lane_; }

  // Gives the message away, if PH_OK; is_lost(): it was freed, for its target is lost. With any
  // other error it remains the caller's.
  ph_status send(Message& message, ph_rank process) noexcept;
  // Copies its body behind that wire word: at the call where there is room. Writes nothing to the
  // message, which others may read. Any error: nothing was sent.
  ph_status send_copy(const WireWord& wire, const Message& message, ph_rank process) noexcept;

  // Serves peers, takes what has come, and tries what waits. True: something was moved.
  bool progress() noexcept;
  // Until something may have come, wake() was called, or the time is over. False: it has not slept,
  // since the context is finalized, or all peers are lost and the lane has no descriptor.
  bool wait(std::int64_t timeout_us) noexcept;
  void wake() noexcept { static_cast<void>(ph_wake(lane_)); }
  // By the thread of another machine, whose owner seems to be busy: takes what has come, if nobody
  // is inside. True: something had come.
  bool visit() noexcept { return ph_am_poll(lane_, PH_AM_VISIT) == PH_OK; }
  // Nothing can be sent any more: the program has finalized the context.
  bool is_ended() const noexcept { return is_ended_; }

  bool has_waiting() const noexcept { return !targets_.empty(); }
  bool has_lent() const noexcept { return lent_ != 0 || rdma_.issued != 0; }
  // Of operations on buffers, for those who issue them.
  Rdma& rdma() noexcept { return rdma_; }
  const Losses& losses() const noexcept { return losses_; }
  Flow& flow(ph_rank process) noexcept { return peers_[process].flow; }
  const Flow& flow(ph_rank process) const noexcept { return peers_[process].flow; }

  // Says why, and ends the process: for a task that would be lost.
  [[noreturn]] static void die(const char* format, ...) noexcept
      __attribute__((format(printf, 1, 2)));

 private:
  static constexpr std::uint32_t kId = 0x5461;
  static constexpr unsigned kProbes = 64;
  static constexpr unsigned kAddressBits = 56;
  static constexpr std::int64_t kWhileWaitingUs = 50;

  struct Peer {
    Message* first = nullptr;  // what waits for it, by the links of the messages
    Message* last = nullptr;
    Flow flow;
  };

  static ph_status on_message(void* user, const ph_am_message* came, ph_am_landing* landing);
  static ph_status on_landed(void* user, const ph_am_message* came, const ph_am_part* part);

  static Machine& here(void* user) noexcept {
    Machine& self = *static_cast<Machine*>(user);
    const Receiver& receiver = self.config_.receiver;
    return receiver.here == nullptr ? self : receiver.here(receiver.user);
  }
  // A done was counted when its operation was issued or refused.
  static std::uint64_t weight(const WireWord& wire, bool is_sent) noexcept {
    return wire.kind == Kind::wave || (wire.kind == Kind::done && is_sent) ? 0 : 1;
  }
  static std::uint64_t wire_bytes(const Message& message) noexcept {
    return sizeof(WireWord) + message.size_bytes;
  }
  // PH_AGAIN: no room. PH_OK of a message that is lent: the caller has it no more.
  ph_status post(const Message& message, ph_rank process) noexcept;
  ph_status post_copy(const WireWord& wire, const Message& message, ph_rank process) noexcept;
  static bool is_for_later(ph_status status) noexcept {
    return status == PH_AGAIN || status == PH_ERR_MEMORY;
  }
  bool is_lent(const Message& message) const noexcept {
    return wire_bytes(message) > config_.carried_bytes;
  }
  // A message that was posted: freed, or lent.
  void sent(Message& message) noexcept;
  // A message to a process that is lost, or could not be sent.
  void drop(Message& message) noexcept;
  void append(Message& message, ph_rank process) noexcept;
  bool send_waiting() noexcept;
  bool send_waiting_to(ph_rank process) noexcept;
  bool take_ends() noexcept;
  bool wait_alone(std::int64_t timeout_us) noexcept;
  ph_status arrive(Message& message, ph_rank process) noexcept;

  MachineConfig config_;
  Rdma rdma_;
  ph_context* lane_ = nullptr;
  std::vector<Peer> peers_;       // each process
  std::vector<ph_rank> targets_;  // those for which something waits; room for all
  std::uint64_t lent_ = 0;
  Losses losses_;
  std::uint64_t arrived_ = 0;
  bool is_ended_ = false;
};

}  // namespace photon::task
