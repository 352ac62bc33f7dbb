// The exchange of a host that joined a job: its ranks' channels on one side, the connection to the
// root on the other. Only what one of its ranks sends to another stays here, for it may carry
// descriptors; everything else the Router at the root decides.
// Invariant: packets of a rank keep their order on each of the two ways, and a pair uses one.
// Owner: Generations.
#pragma once

#include "exchange.hpp"
#include "host_connection.hpp"
#include "secret.hpp"

namespace photonrun {

class Relay final : public Exchange {
 public:
  Relay(const Share& share, std::shared_ptr<HeldFds> held, const Term& term,
        HostConnection& connection);

  void want(std::vector<pollfd>& entries) override;
  bool handle_frame(Frame frame) override;

 private:
  struct Way {
    std::size_t window = kUplinkWindow;  // packets it may send before the root says more
    bool has_said_hello = false;
    Fd pidfd;                         // of HELLO, until WELCOME comes
    std::optional<Packet> last_word;  // of a refusal before WELCOME, until finish comes
  };

  Channel& channel(unsigned rank) override { return local(rank); }
  bool may_read(unsigned rank) const override { return ways_[rank - share().first].window > 0; }
  bool dispatch(unsigned rank, Packet packet, Pace pace) override;
  void over(unsigned rank, ph_launch_gone how, std::optional<Packet> last_word) override;
  void take_packet(unsigned rank, Packet packet);
  void report_taken(unsigned rank);
  Place place_of(unsigned rank) const { return {.generation = term_.generation, .rank = rank}; }

  Term term_;
  HostConnection& connection_;
  std::vector<Way> ways_;
};

}  // namespace photonrun
