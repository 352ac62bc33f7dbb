// A schedule: what each rank does as a graph of operations, read from a text. The format is
// described in docs/netsim-schedules.md.
//
// Invariant: an operation comes after operations of the same rank that stand above it, so that no
// rank has a cycle; every send has its receive, of the same size. Owner: whoever read it; the
// motif Played takes it over.
#pragma once

#include <string_view>
#include <vector>

#include "netsim/motif/motif.hpp"

namespace photon::netsim {

struct Schedule {
  enum class Kind : std::uint8_t { compute, send, receive };
  struct Operation {
    Time duration = 0;        // of a compute
    std::uint32_t rank = 0;   // whose it is
    std::uint32_t peer = 0;   // of a send and a receive
    std::uint32_t bytes = 0;  // the same
    std::uint32_t waits = 0;  // operations that it comes after
    std::uint16_t tag = 0;    // of a send and a receive
    Kind kind = Kind::compute;
  };
  struct Edge {
    std::uint32_t before = 0;  // operations
    std::uint32_t after = 0;
  };

  std::uint32_t ranks = 0;
  std::vector<Operation> operations;  // in the order of the text
  std::vector<Edge> edges;
};

// Limits of a text, so that reading one neither runs out of memory nor overflows.
inline constexpr std::uint32_t kMostScheduleRanks = 1U << 20;
inline constexpr std::size_t kMostOperations = std::size_t{1} << 24;
inline constexpr std::size_t kMostEdges = std::size_t{1} << 26;
inline constexpr std::size_t kMostLineBytes = 65536;

// The schedule, or "line N: WORD: allowed is ...".
Result<Schedule> read_schedule(std::string_view text);

}  // namespace photon::netsim
