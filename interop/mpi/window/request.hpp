// What a rank asks of a target whose memory it cannot reach by itself (docs/mpi.md, "Messages to
// other hosts"): the header of a message, and behind it
//
//   accumulate  runs of the target's memory, then the elements of the origin (none for MPI_NO_OP)
//   swap        the run, the element, and what it is compared with
//   the others  nothing
//
// Owner: none; plain values, the same on all ranks.
#pragma once

#include <photon/photon.h>

#include <cstddef>
#include <cstdint>

#include "interop/mpi/fold/element.hpp"
#include "interop/mpi/type/layout.hpp"

namespace photon::mpi {

enum class Ask : std::uint8_t {
  accumulate = 1,
  swap = 2,
  flush = 3,   // answered when all that came before is done
  lock = 4,    // answered when the lock is taken; `value`: 1, exclusive
  unlock = 5,  // `value` as above
  drain = 6,   // answered when nothing comes any more from the member `which`, which has ended
  round = 7,   // of a barrier: `which` its number, `value` that of the barrier
  post = 8,    // `value`: how many so far, as of the next
  complete = 9,
  poke = 10,  // a lock was given back that the target's thread waits for
};

// The messages' numbers on the lane.
inline constexpr std::uint32_t kRequest = 1;
inline constexpr std::uint32_t kAnswer = 2;

struct Request {
  std::uint64_t ticket = 0;  // 0: no answer is wanted
  std::uint64_t window = 0;  // its number, which all members have agreed on
  std::uint64_t value = 0;
  std::uint64_t count = 0;   // of elements
  std::uint32_t member = 0;  // of the window: who asks
  std::uint32_t runs = 0;
  std::uint32_t which = 0;  // a round, a member, or the number of an operation of the program
  Ask ask = Ask::flush;
  Op op = Op::none;
  Basic basic = Basic::none;
  std::uint8_t fetches = 0;  // 1: the answer has what stood there
};
static_assert(sizeof(Request) == 48 && sizeof(Run) == 16);

struct Answer {
  std::uint64_t ticket = 0;
  std::int64_t status = 0;  // a ph_status
};

}  // namespace photon::mpi
