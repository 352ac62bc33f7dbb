// One part of a simulation: its routers, the cards on its hosts and the ranks on those. In a serial
// run there is one worker; in a parallel one each has a thread.
//
// Invariant: a worker touches what it owns alone, and what all share is never changed, but for the
// ends of ranks, of which each has one owner. Owner: Simulation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "netsim/motif/motif.hpp"
#include "netsim/net/part.hpp"
#include "netsim/nic/settings.hpp"
#include "netsim/run/histogram.hpp"
#include "netsim/run/hosts.hpp"
#include "netsim/run/settings.hpp"

namespace photon::netsim {

// What all workers of a simulation share.
struct Common {
  Common(const Settings& settings, std::unique_ptr<Topology> topology, std::unique_ptr<Motif> motif,
         const Parameters& parameters, std::uint32_t parts);

  std::unique_ptr<Topology> topology;
  std::unique_ptr<Motif> motif;
  std::uint32_t flit_bytes;
  std::uint32_t header_bytes;
  nic::Settings nic;  // with all defaults filled in
  Local local;
  Placement placement;
  Time bound;  // of simulated time
  Fabric fabric;
  State state;
  std::vector<Time> finished;  // rank: when it was done
};

class Worker final : private CardSide, private HostSide {
 public:
  Worker(Common& common, std::uint32_t number, std::uint32_t parts);
  ~Worker() override;

  // All events before `end`, or until something goes against the rules of the model.
  void run_until(Time end);

  Part& part() { return part_; }
  // Sums of a hash over all packets that were sent and that came: over all workers they are equal
  // exactly if each packet was delivered once (but for one case in 2^64).
  std::uint64_t sent_sum() const { return sent_sum_; }
  std::uint64_t came_sum() const { return came_sum_; }
  std::uint64_t posted_bytes() const { return hosts_->posted_bytes(); }
  // Payload that cards sent and that came: of messages, and of control packets.
  std::uint64_t sent_bytes() const { return sent_bytes_; }
  std::uint64_t came_bytes() const { return came_bytes_; }
  std::uint64_t control_bytes() const { return control_bytes_; }
  std::uint64_t sent_flits() const { return sent_flits_; }  // of packets that cards sent
  // Of the motif, as up to 64 of its ranks see it; 1 without ranks.
  double share_done() const;
  nic::Figures figures() const;                              // sums, and peaks of one card
  const Histogram& latencies() const { return latencies_; }  // of messages between nodes, in ns

 private:
  class CardPort;

  // Of the network.
  void on_packet(std::uint32_t host, const Packet& packet) override;
  void on_room(std::uint32_t host) override;
  // Of the hosts.
  Time now() const override { return part_.now(); }
  EventQueue& queue() override { return part_.queue(); }
  nic::Card& card(std::uint32_t host) override { return *cards_[host - first_host_]; }
  void finished(std::uint32_t rank) override;
  void took_message(std::uint64_t latency_ns) override { latencies_.add(latency_ns); }

  std::uint32_t bytes_of(const nic::Packet& packet) const;
  void handle(const Event& event);

  Common& common_;
  Part part_;
  std::uint32_t first_host_ = 0;
  std::vector<CardPort> card_ports_;
  std::vector<std::unique_ptr<nic::Card>> cards_;
  std::optional<Hosts> hosts_;
  Histogram latencies_;
  std::uint64_t sent_sum_ = 0;
  std::uint64_t came_sum_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t came_bytes_ = 0;
  std::uint64_t control_bytes_ = 0;
  std::uint64_t sent_flits_ = 0;
};

}  // namespace photon::netsim
