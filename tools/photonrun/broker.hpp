// Serves the launcher protocol to all ranks: brings packets from one to another, collects gathers,
// tells who is gone.
// Invariant: between two ranks packets keep their order, and GONE is the last one.
// Owner: Job. Never blocks; what it holds is bounded, a sender to a full queue is not read.
#pragma once

#include <poll.h>

#include <array>
#include <string>
#include <vector>

#include "channel.hpp"

namespace photonrun {

class Broker {
 public:
  // fds_limit: descriptors of ranks it may hold while they wait. Throws std::system_error.
  Broker(unsigned size, std::size_t fds_limit);

  Fd take_peer(unsigned rank) { return channels_[rank].take_peer(); }
  void want(std::vector<pollfd>& entries);
  void handle(const std::vector<pollfd>& entries);
  // The rank's process was reaped: reads what it still said, then tells the others.
  void rank_ended(unsigned rank, ph_launch_gone how);
  // "rank 3 sent a malformed packet", once each.
  std::vector<std::string> take_complaints() { return std::exchange(complaints_, {}); }

 private:
  struct Gone {
    bool told = false;
    ph_launch_gone how{};
  };
  enum class Pace { bounded, to_the_end };

  void serve(unsigned rank, Pace pace);
  bool dispatch(unsigned rank, Packet packet, Pace pace);
  bool hello(unsigned rank, Packet packet);
  bool forward(unsigned rank, Packet packet, Pace pace);
  bool gather(unsigned rank, Packet packet);
  bool leave(unsigned rank, const Packet& packet);
  void complete_gather();
  void send_chunk(unsigned first, unsigned count);
  bool sizes_agree() const;
  void over(unsigned rank, ph_launch_gone how, std::optional<Packet> last_word = std::nullopt);
  Packet gone_packet(unsigned rank) const;
  bool has_room(const Channel& channel) const;
  bool too_many_fds() const;
  void retry_stalled();

  std::vector<Channel> channels_;
  std::vector<Gone> gone_;
  std::vector<std::shared_ptr<const Bytes>> contributions_;
  std::size_t contributed_count_ = 0;
  std::uint64_t sequence_ = 1;
  std::array<std::uint8_t, PH_LAUNCH_SECRET_BYTES> secret_;
  std::size_t fds_limit_;
  std::vector<std::string> complaints_;
  std::size_t first_entry_ = 0;
};

}  // namespace photonrun
