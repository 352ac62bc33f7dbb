// A simulation: a network, a card on each host, a motif on the ranks, and the loop that runs them.
//
//   make_simulation -> ready -run-> done, or failed (then `failure` says why)
//
// Invariant: the result is a function of the settings. Owner: the caller; one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "netsim/net/part.hpp"
#include "netsim/nic/port.hpp"
#include "netsim/run/settings.hpp"

namespace photon::netsim {

struct RunResult {
  std::string failure;  // empty: all checks held
  std::string note;     // what rounding changed
  Time last_ps = 0;     // when the last rank finished
  double mean_ps = 0;   // of all ranks' ends
  std::uint64_t packets = 0;
  std::uint64_t hops = 0;  // packets that left a router's output port
  std::uint64_t out_of_order = 0;
  std::uint64_t posted_bytes = 0;
  std::uint64_t bytes_from_cards = 0;
  std::uint64_t bytes_to_cards = 0;
  std::uint64_t events = 0;
  std::vector<Time> finished_ps;  // rank
};

class Simulation final : private CardSide, private Ranks {
 public:
  ~Simulation() override;
  RunResult run();

 private:
  friend Result<std::unique_ptr<Simulation>> make_simulation(const Settings& settings);
  class CardPort;
  struct Made {
    std::unique_ptr<Topology> topology;
    std::unique_ptr<Motif> motif;
    Rounded rounded;
  };

  Simulation(Made made, const Settings& settings);
  // Of the cards, from the network.
  void on_packet(std::uint32_t host, const Packet& packet) override;
  void on_room(std::uint32_t host) override;
  // Of the motif.
  void send(std::uint32_t rank, std::uint32_t peer, std::uint32_t bytes,
            std::uint32_t tag) override;
  void finish(std::uint32_t rank) override;

  void handle(const Event& event);
  std::string why_it_failed();

  std::unique_ptr<Topology> topology_;
  std::unique_ptr<Motif> motif_;
  std::string note_;
  std::uint32_t flit_bytes_;
  std::uint32_t header_bytes_;
  Time bound_;
  Fabric fabric_;
  State state_;
  Part part_;
  std::vector<CardPort> card_ports_;
  std::vector<std::unique_ptr<nic::Card>> cards_;
  // Sums of a hash over all packets that were sent and that came: they are equal exactly if each
  // packet was delivered once (but for one case in 2^64).
  std::uint64_t sent_sum_ = 0;
  std::uint64_t came_sum_ = 0;
  std::uint64_t posted_bytes_ = 0;
  std::vector<Time> finished_;
};

// Ready to run, or what is wrong with the settings.
Result<std::unique_ptr<Simulation>> make_simulation(const Settings& settings);
// Both in one; a failure of the settings is the error, one of the run is in the result.
Result<RunResult> run(const Settings& settings);

}  // namespace photon::netsim
