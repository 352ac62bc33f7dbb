// Collective operations of a program, as plain data: which teams there are, and what their members
// do together.
//
// Members act on their own: what belongs to one order stands in one line, and whoever is told to do
// a joint of a line does those before it first. So any step may be deleted and the others keep
// their meaning; a joint that no step names is not done by anybody.
//   line t         of team t: what all its members call in the same order. Team 0: all ranks
//   further lines  the starts of one prepared operation, at the end its free; or what members of
//   one
//                  team agree on, which keeps an order of its own
// Owner: whoever holds the value. Threads: plain data.
#pragma once

#include <photon/coll.h>

#include <cstdint>
#include <vector>

namespace photon::simtest {

inline constexpr std::uint32_t kNone = ~0U;

// How a team is made. Its members are those of the parent with the rank's own colour, ordered by
// key and then by rank: so a split may give several teams that do the same. Of a team that was
// shrunk they are known when it is made.
struct JointTeam {
  std::uint32_t parent = kNone;       // it is split from that; kNone: made of a list
  bool is_shrunk = false;             // by ph_team_shrink() of the parent instead
  std::vector<std::int64_t> colours;  // by rank; of a list: 0, or PH_NO_COLOUR
  std::vector<std::int64_t> keys;     // by rank
  std::uint32_t after = kNone;        // a list's: made like that one, which was freed before
  std::uint64_t tag = 0;
};

enum class Act : std::uint8_t { make, begin, prepare, start, free_prepared, free_team, agree };

// What its elements are, and how they are folded.
enum class Arithmetic : std::uint8_t {
  int32_add,
  uint64_xor,
  int8_min,
  float_max,
  double_add,    // of whole numbers, whose sums are exact
  double_order,  // of others, folded in team order (PH_REPRODUCIBLE)
  double_any,    // of others, in any order: an allreduce, whose members must agree
  own_sum,       // a function of the user's that commutes
  own_chain,     // and one that does not: x -> ax + b, one after the other
};

struct Joint {
  Act act = Act::begin;
  std::uint32_t team = 0;  // make: the one that is made
  std::uint32_t line = 0;  // prepare: that of its starts
  ph_coll_kind kind = PH_COLL_BARRIER;
  std::uint32_t root = 0;   // of the members, modulo their number
  std::uint64_t count = 0;  // v-kinds: the most of one block
  Arithmetic arithmetic = Arithmetic::int32_add;
  bool is_in_place = false;
  bool counts_come = false;  // PH_COUNTS_FROM_SENDERS
  bool has_gaps = false;     // between the blocks of v-kinds
  std::uint64_t seed = 0;    // of its values, its counts, and how each member hears of the end
};

struct JointLine {
  std::uint32_t team = 0;
  std::uint32_t prepared_at = kNone;  // of a further line: where in that of its team
  std::vector<Joint> joints;
};

}  // namespace photon::simtest
