// The launcher's end of one rank's channel, with what the rank has not taken yet.
// Invariant: packets leave in the order they were queued, none before WELCOME.
// Owner: Broker.
//
//   waiting -HELLO-> joined -closed, malformed, process ended-> over
//   waiting ---------------- closed, malformed, process ended-> over
#pragma once

#include <deque>
#include <optional>

#include "packet.hpp"

namespace photonrun {

class Channel {
 public:
  enum class State { waiting, joined, over };

  // Makes the pair; take_peer() hands out the rank's end. Throws std::system_error.
  Channel();
  Fd take_peer() { return std::move(peer_); }

  State state() const { return state_; }
  int socket() const { return socket_.get(); }
  int pidfd() const { return pidfd_.get(); }
  std::size_t queued_count() const { return queue_.size(); }
  std::size_t queued_fds_count() const { return queued_fds_count_; }
  bool wants_output() const { return state_ == State::joined && !queue_.empty(); }

  void join(Packet welcome, Fd pidfd);
  void queue(Packet packet);
  // Sends what the socket takes now. A closed other end is found by reading.
  void flush();
  Io read(Packet& packet) { return read_packet(socket_.get(), packet); }
  // Tells the rank why, if it can be told, and closes.
  void finish(std::optional<Packet> last_word);

  // A gather's result that the rank has not taken yet: it cannot have begun the next one.
  bool has_queued(ph_launch_type type) const;

  // A packet of this rank for a full queue; nothing more is read from it until there is room.
  std::optional<Packet> stalled;
  std::uint64_t gathers = 0;  // it contributed to
  bool left = false;          // it said LEAVE

 private:
  State state_ = State::waiting;
  Fd socket_;
  Fd peer_;
  Fd pidfd_;
  std::deque<Packet> queue_;
  std::size_t queued_fds_count_ = 0;
};

}  // namespace photonrun
