// The matrix behind figures 7 and 8 of the paper on RVMA (section V.B): motifs, networks, rates,
// and the sides that are compared at each of them. Nothing here is fitted to the paper's figures.
//
// A place is a form of the motif on one network with one routing and one rate. At a place all
// settings of two cells but protocol and order are equal. Owner: the caller; all is plain values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "netsim/clock/result.hpp"
#include "netsim/run/ladder.hpp"

namespace photon::netsim::command {

// What is compared at a place. The last byte tells where packets stay in order, or are put in order
// by nic.order = hold. Puts know the addresses of their peers before, but for the side that asks.
inline constexpr const char* kRvma = "rvma";
inline constexpr const char* kUsual = "rdma-usual";
inline constexpr const char* kAsking = "rdma-put-ack, asking";
inline constexpr const char* kSides[] = {
    kUsual,         "rdma-equal", "rdma-put-ack", "rdma-put-behind",
    "rdma-put-imm", "rdma-put",   kAsking,        kRvma};
inline constexpr std::uint32_t kRates[] = {100, 200, 400, 2000};  // Gbps

struct PaperCell {
  std::string form;  // of the motif, in words
  std::string topology;
  std::string routing;
  std::uint32_t Gbps = 0;
  std::string side;
  Settings settings;
  Settings run_as;   // what does the same and is run once for all that do
  std::string name;  // of run_as
  Time last_ps = 0;  // of its result, once it is there
  double mean_ps = 0;
  std::uint64_t packets = 0;
  std::uint64_t hops = 0;
  double out_of_order_share = 0;
  std::uint64_t peak_held_bytes = 0;
};

struct PaperMatrix {
  std::uint32_t figure = 7;
  std::uint32_t nodes = 8192;
  std::vector<std::string> forms;
  std::vector<PaperCell> cells;  // those that take long come first

  // Null if there is none: with 32 ranks a node no card asks, as these cells take long.
  const PaperCell* find(const PaperCell& place, std::string_view side) const;
  // One cell of each place of a form, in the order of topologies, routings and rates.
  std::vector<PaperCell> places_of(std::string_view form) const;
  // The ladders of a place. That of order, which begins at the static place beside, stands at the
  // places whose routing is not static.
  std::vector<Ladder> ladders_at(const PaperCell& place) const;
  // Of the rungs; empty if one of them is missing.
  std::vector<const PaperCell*> cells_of(const PaperCell& place, const Ladder& ladder) const;
};

// `figure` 7 or 8; `nodes` 64, 512 or 8192; else the sentence says what is allowed.
Result<PaperMatrix> paper_matrix(const std::string& figure, const std::string& nodes);

}  // namespace photon::netsim::command
