// The steps of one member of a collective operation, one phase after the other: pure functions of
// the call, without engine, memory or clock. Nothing is stored but the number of the phase, so that
// a ring over a thousand members costs what one over four does.
//
//   phases_of(call) --> n;  phase_at(call, 0 .. n - 1) --> steps of that phase
//
// Within a phase steps are begun in their order. A send or receive waits for no send or receive of
// its phase; a copy or fold waits for all receives in front of it in its phase; a send waits for
// all copies and folds in front of it. The phase is over when its receives have come and its copies
// and folds are done; its sends may still be reading. `after_sends`: it begins only when all sends
// of earlier phases are over.
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

// The v-kinds are these with counts of their own.
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
  linear,              // all with the root; or each with all others, in the order of distance
  chain,               // 0 -> 1 -> ... -> n-1, in segments
  binomial,            // a tree that halves
  knomial,             // a tree of radix 4
  dissemination,       // distances 1, 2, 4 ...
  recursive_doubling,  // partners at distance 1, 2, 4 ...; what is more than 2^k folds in first
  rabenseifner,        // recursive halving of the vector, then doubling
  ring,                // n - 1 rounds with both neighbours
  bruck,               // log n rounds of blocks at distance 1, 2, 4 ...
  pairwise,            // n - 1 rounds; in each another partner
  direct,             // each takes its part of all inputs, in team order; then all parts are shared
  scatter_allgather,  // bcast: parts from the root, then a ring
  circulant,          // bcast: blocks along a circulant graph, every member sends and receives in
                      // each round
  leaders,            // within each host, among one member of each, within each host
};
inline constexpr std::uint32_t kAlgorithms = 14;

// Where elements stand. With `in_place` nothing names `in` where the input stands in `out`.
enum class Space : std::uint8_t { none, in, out, temp };

struct Range {
  Space space = Space::none;
  std::uint64_t first = 0;  // elements
  std::uint64_t count = 0;
};

enum class Action : std::uint8_t { send, receive, copy, fold };

struct Step {
  Action action = Action::copy;
  std::uint32_t peer = 0;   // send, receive: a member's number
  std::uint32_t tag = 0;    // the same at both
  Range from;               // send, copy, fold: what is read
  Range to;                 // receive, copy, fold: what is written; of a fold also read
  bool from_first = false;  // fold: to = from op to; else to = to op from
  std::uint32_t block = 0;  // receive of a whole block: whose it is; else kNoBlock
};
inline constexpr std::uint32_t kNoBlock = 0xffff'ffff;

struct Phase {
  static constexpr std::uint32_t kMostSteps = 8;
  std::array<Step, kMostSteps> steps;
  std::uint32_t count = 0;
  bool after_sends = false;

  void add(const Step& step) noexcept { steps[count++] = step; }
};

// Counts of blocks, one for each member. Uniform: null pointers, and block i stands at i * count.
struct Blocks {
  const std::uint64_t* counts = nullptr;
  const std::uint64_t* offsets = nullptr;  // null with counts: the caller has none; see Call

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
  std::uint32_t size = 1;  // members
  std::uint32_t rank = 0;  // this one
  std::uint32_t root = 0;
  std::uint64_t count = 0;    // elements: of a block; of bcast, reduce, allreduce, scan: all
  std::uint64_t segment = 0;  // elements of a message of chain and circulant; 0: all at once
  bool in_order = false;      // folds in team order: ((0 op 1) op 2) op ... for each element
  bool keeps_order = false;   // operands stay in team order, with any brackets
  bool in_place = false;
  // gatherv at the root, allgatherv, alltoallv, scatterv at the root, reduce_scatter: null counts
  // are uniform. Both arrays are there, or none: who begins the operation has filled in offsets.
  Blocks in_blocks;              // scatter, alltoall, reduce_scatter
  Blocks out_blocks;             // gather, allgather, alltoall
  const Hosts* hosts = nullptr;  // of leaders; null: not known
};
// Of a v-kind a member that has no array (gatherv, scatterv beside the root) has its own block's
// count in `count`. With out_blocks of gather and allgather the own block's count there is what
// this member gives, also where the others' are only room (PH_COUNTS_FROM_SENDERS).

// Whether the algorithm knows this kind (and the order that the call asks for, and its counts).
bool knows(const Call& call) noexcept;
// The two below: only of calls that are known.
std::uint64_t phases_of(const Call& call) noexcept;
void phase_at(const Call& call, std::uint64_t index, Phase& phase) noexcept;
// Elements of the space `temp` that this member needs.
std::uint64_t temp_of(const Call& call) noexcept;

const char* name_of(Kind kind) noexcept;
const char* name_of(Algorithm algorithm) noexcept;

}  // namespace photon::schedule
