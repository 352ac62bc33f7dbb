// Serves the launcher protocol to all ranks of one generation of a job: brings packets from one to
// another, collects gathers, tells who is gone. In the root photonrun.
// Invariant: GONE is the last packet from a rank to another.
// Owner: Generations.
#pragma once

#include "exchange.hpp"
#include "host_runs.hpp"
#include "remote_channel.hpp"
#include "secret.hpp"

namespace photonrun {

class Router final : public Exchange {
 public:
  // share.first is 0.
  Router(const Share& share, std::shared_ptr<HeldFds> held, const Term& term);

  // The next ranks that are not here are `host`'s. To be called until all are somebody's.
  void add_host(const Share& host, HostConnection& connection);
  bool handle_frame(Frame frame) override;
  void settle() override;
  bool is_over() const override;

 private:
  struct Gone {
    bool told = false;
    ph_launch_gone how{};
  };

  // Null: that rank is here, or none.
  RemoteChannel* remote(unsigned rank);
  Channel& channel(unsigned rank) override;
  bool dispatch(unsigned rank, Packet packet, Pace pace) override;
  bool hello(unsigned rank, Packet packet);
  Packet welcome_packet(unsigned rank);
  bool gather(unsigned rank, Packet packet);
  bool take_blame(unsigned rank, const Packet& packet);
  void complete_gather();
  void send_chunk(unsigned first, unsigned count);
  bool sizes_agree() const;
  void over(unsigned rank, ph_launch_gone how, std::optional<Packet> last_word) override;
  void tell_all(const Packet& packet);
  Packet gone_packet(unsigned rank);
  const Share& host_of(unsigned rank) const;

  std::vector<std::unique_ptr<RemoteChannel>> remotes_;  // of the ranks after those here
  std::vector<Share> hosts_;                             // of these
  HostRuns runs_;                                        // of all hosts
  std::vector<Gone> gone_;
  std::vector<std::shared_ptr<const Bytes>> contributions_;
  std::size_t contributed_count_ = 0;
  std::uint64_t sequence_ = 1;
  Term term_;
};

}  // namespace photonrun
