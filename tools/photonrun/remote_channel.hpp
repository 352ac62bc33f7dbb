// The channel of a rank on another host: its packets travel over that host's connection.
// Invariant: what waits in either direction is bounded as for a rank of this host: packets that the
// rank has not taken are counted until its host says so, and it sends no more than a window.
// Owner: Router; the connection belongs to Hosts and outlives it.
#pragma once

#include "channel.hpp"
#include "host_connection.hpp"

namespace photonrun {

class RemoteChannel final : public Channel {
 public:
  RemoteChannel(Place place, HostConnection& connection) : place_(place), connection_(connection) {}

  bool is_remote() const override { return true; }
  std::size_t queued_count() const override { return under_way_.size(); }
  bool has_queued(ph_launch_type type) const override;

  void join(Packet welcome, Fd pidfd) override;
  void queue(Packet packet) override;
  Io read(Packet& packet) override;
  void finish(std::optional<Packet> last_word) override;

  // What the connection brought. False: more than is allowed.
  bool arrived(Packet packet);
  bool taken(int count);
  void closed() { at_end_ = true; }
  bool has_arrivals() const { return state_ != State::over && (at_end_ || !arrivals_.empty()); }

 private:
  Place place_;
  HostConnection& connection_;
  std::deque<Packet> arrivals_;
  bool at_end_ = false;
  int read_count_ = 0;                   // since its host was told
  std::deque<std::uint16_t> under_way_;  // types of what the rank has not taken
};

}  // namespace photonrun
