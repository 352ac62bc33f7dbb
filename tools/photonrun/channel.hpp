// The launcher's end of one rank's channel, with what the rank has not taken yet.
// Invariant: packets leave in the order they were queued, none before WELCOME.
// Owner: Exchange.
//
//   waiting -HELLO-> joined -closed, malformed, process ended-> over
//   waiting ---------------- closed, malformed, process ended-> over
//
// It has a socket once its rank is started, or has left the generation before (generations.hpp).
//
// Two kinds: of a rank of this host (here), and of another one's (remote_channel.hpp).
#pragma once

#include <deque>
#include <optional>

#include "packet.hpp"

namespace photonrun {

class Channel {
 public:
  enum class State { waiting, joined, over };

  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  State state() const { return state_; }
  virtual bool is_remote() const { return false; }
  // Packets that the rank has not taken.
  virtual std::size_t queued_count() const = 0;
  // A gather's result that the rank has not taken yet: it cannot have begun the next one.
  virtual bool has_queued(ph_launch_type type) const = 0;

  virtual void join(Packet welcome, Fd pidfd) = 0;
  virtual void queue(Packet packet) = 0;
  virtual Io read(Packet& packet) = 0;
  // Tells the rank why, if it can be told, and closes.
  virtual void finish(std::optional<Packet> last_word) = 0;

  // A packet of this rank for a full queue; nothing more is read from it until there is room.
  std::optional<Packet> stalled;
  std::uint64_t gathers = 0;  // it contributed to
  bool left = false;          // it said LEAVE
  bool has_next = false;      // and handed over a channel for the next generation

 protected:
  Channel() = default;
  State state_ = State::waiting;
};

// Descriptors of ranks that lie in queues, of all channels of this host together. Half of the room
// is the oldest generation's alone: it never waits for a later one, so it goes on and ends.
struct HeldFds {
  std::size_t limit = 0;
  std::size_t count = 0;

  bool has_room(bool is_oldest) const {
    return count + PH_LAUNCH_MAX_FDS <= (is_oldest ? limit : limit / 2);
  }
};

class LocalChannel final : public Channel {
 public:
  explicit LocalChannel(HeldFds& held) : held_(held) {}
  // Makes the pair and hands out the rank's end. Throws std::system_error.
  Fd make_pair();
  // The rank has made the pair. `pidfd`: of its process. Of one that is over they are closed.
  void adopt(Fd socket, Fd pidfd);

  bool is_open() const { return static_cast<bool>(socket_); }
  int socket() const { return socket_.get(); }
  int pidfd() const { return pidfd_.get(); }
  // None where there is no room for it.
  Fd copy_pidfd() const;
  std::size_t queued_count() const override { return queue_.size(); }
  bool has_queued(ph_launch_type type) const override;
  bool wants_output() const { return state_ == State::joined && !queue_.empty(); }

  void join(Packet welcome, Fd pidfd) override;
  void queue(Packet packet) override;
  // Sends what the socket takes now. A closed other end is found by reading.
  void flush();
  Io read(Packet& packet) override {
    return socket_ ? read_packet(socket_.get(), packet) : Io::again;
  }
  void finish(std::optional<Packet> last_word) override;

  // How many of those that came over the connection the rank has taken since this was asked.
  unsigned take_count() { return std::exchange(taken_count_, 0U); }

 private:
  void forget_queue();

  HeldFds& held_;
  Fd socket_;
  Fd pidfd_;
  std::deque<Packet> queue_;
  unsigned taken_count_ = 0;
};

}  // namespace photonrun
