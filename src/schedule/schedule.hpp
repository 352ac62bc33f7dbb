// Computes the steps of one member of a collective operation, phase by phase. These are pure
// functions of the call, without engine, memory or clock. Whoever carries them out stores nothing
// but the number of the phase, so a ring over a thousand members costs what one over four does.
//
//   phases_of(call) --> n;  phase_at(call, 0 .. n - 1) --> steps of that phase
//
// The steps of a phase are begun in their order. A send or receive waits for no other send or
// receive of its phase; a copy or fold waits for all receives in front of it in the phase; a send
// waits for all copies and folds in front of it. The phase is over when its receives have come and
// its copies and folds are done; its sends may still be reading then. A phase with `after_sends`
// begins only when all sends of earlier phases are over.
// Invariants (simtest/coll_verify.hpp proves them for every algorithm):
//   - nothing is written that a send may still read, nor read before it was written;
//   - a message is named by (sender, receiver, tag), once in an operation;
//   - all members end, also where a send is over only when its receive has been begun;
//   - which algorithm is taken, and every step, depends on what all members know alike alone.
// Owner: none; plain values.
#pragma once

#include <array>
#include <cstdint>

namespace photon::schedule {

// The kinds of ph_coll_kind; gatherv and its like are the same here, with counts in the Call.
enum class Kind : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  scan,
  exscan,
  gather,
  scatter,
  allgather,
  alltoall,
  reduce_scatter,
};
inline constexpr std::uint32_t kKinds = 11;

enum class Algorithm : std::uint8_t {
  linear,              // each with the root; without a root each with all others, by distance
  chain,               // 0 -> 1 -> ... -> n-1, in segments
  binomial,            // a tree of radix 2
  knomial,             // a tree of radix 4
  dissemination,       // distances 1, 2, 4 ...
  recursive_doubling,  // partners at distance 1, 2, 4 ...; members beyond 2^k fold in first
  rabenseifner,        // recursive halving of the vector, then doubling
  ring,                // n - 1 rounds with both neighbours
  bruck,               // log n rounds of blocks at distance 1, 2, 4 ...
  pairwise,            // n - 1 rounds; in each another partner
  direct,             // each takes its part of all inputs, in team order; then all parts are shared
  scatter_allgather,  // bcast: parts from the root, then a ring
  circulant,          // bcast: blocks along a circulant graph, every member sends and receives in
                      // each round
  leaders,            // first within each host, then among one member of each, then within again
};
inline constexpr std::uint32_t kAlgorithms = 14;

// Where elements stand. With `in_place` no step names `in` where the input stands in `out`.
enum class Space : std::uint8_t { none, in, out, temp };

struct Range {
  Space space = Space::none;
  std::uint64_t first = 0;  // both in elements
  std::uint64_t count = 0;
};

enum class Action : std::uint8_t { send, receive, copy, fold };

struct Step {
  Action action = Action::copy;
  std::uint32_t peer = 0;   // of a send or receive: the other member's number
  std::uint32_t tag = 0;    // of a send or receive: the same at both members
  Range from;               // of a send, copy or fold: what is read
  Range to;                 // of a receive, copy or fold: what is written; a fold also reads it
  bool from_first = false;  // of a fold: to = from op to; if false, to = to op from
  std::uint32_t block = 0;  // of a receive of a whole block: whose block it is; else kNoBlock
};
inline constexpr std::uint32_t kNoBlock = 0xffff'ffff;

struct Phase {
  static constexpr std::uint32_t kMostSteps = 8;
  std::array<Step, kMostSteps> steps;
  std::uint32_t count = 0;
  bool after_sends = false;

  void add(const Step& step) noexcept { steps[count++] = step; }
};

// Counts and offsets of blocks, one for each member. If all blocks are equal both pointers are
// null, and block i stands at i * count.
struct Blocks {
  const std::uint64_t* counts = nullptr;
  const std::uint64_t* offsets = nullptr;

  std::uint64_t count_of(std::uint32_t member, std::uint64_t uniform) const noexcept {
    return counts == nullptr ? uniform : counts[member];
  }
  std::uint64_t offset_of(std::uint32_t member, std::uint64_t uniform) const noexcept {
    return offsets == nullptr ? member * uniform : offsets[member];
  }
};

class Hosts;

struct Call {
  Kind kind = Kind::barrier;
  Algorithm algorithm = Algorithm::linear;
  std::uint32_t size = 1;  // how many members there are
  std::uint32_t rank = 0;  // the number of this member
  std::uint32_t root = 0;
  std::uint64_t count = 0;  // elements of a block, or of the one vector of bcast, reduce and so on
  std::uint64_t segment = 0;  // elements of a message of chain and circulant; 0: all in one
  bool in_order = false;      // each element is folded as ((0 op 1) op 2) op ... in team order
  bool keeps_order = false;   // operands stay in team order, with brackets anywhere
  bool in_place = false;
  // Kinds with counts of their own have them here. Counts and offsets are both given, or both null:
  // make_plan() has filled in offsets that the caller has left out.
  Blocks in_blocks;              // of scatter at the root, alltoall, reduce_scatter
  Blocks out_blocks;             // of gather at the root, allgather, alltoall
  const Hosts* hosts = nullptr;  // for the algorithm `leaders`; null: not known
};
// In a call of gatherv or scatterv the members beside the root have no arrays: `count` is the count
// of their own block. In out_blocks of gather and allgather the entry of this member is what it
// gives, even where the others' entries say only how much room there is (PH_COUNTS_FROM_SENDERS).

// Whether the call's algorithm can do its kind, with its counts and in the order that it asks for.
bool knows(const Call& call) noexcept;
// The functions below take only calls that the algorithm knows.
std::uint64_t phases_of(const Call& call) noexcept;
void phase_at(const Call& call, std::uint64_t index, Phase& phase) noexcept;
// How many elements this member needs in the space `temp`.
std::uint64_t temp_of(const Call& call) noexcept;

const char* name_of(Kind kind) noexcept;
const char* name_of(Algorithm algorithm) noexcept;

}  // namespace photon::schedule
