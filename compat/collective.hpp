// One collective of this rank.
//
//   prepared -- join() --> joined -- its team is made, there is room --> begun --> over
//
// In its communicator's team it is a prepared operation, whose place is taken in the order of init:
// so ranks that prepare the collectives of one communicator in the same order name them alike,
// whatever the order in which they are joined. What it does is known when it is joined.
//
// Invariant: the result comes to memory of ours, and to the program's at the end alone: so `in` and
// `out` may be the same memory, and a failure leaves `out` as it is.
// Owner: Collectives, and who waits for it. Threads: any; kind, communicator and is_root are
// constant, all else is under Collectives' mutex.
#pragma once

#include <photon.h>
#include <photon/photon.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "compat/communicator.hpp"

namespace photon::classic {

// A local id, and how what it names has ended, for a probe.
struct Told {
  std::vector<std::byte> id;
  bool id_is_word = false;
  ph_status status = PH_OK;
};

// Join says this of an operation; a barrier leaves it empty.
struct Work {
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t count = 0;
  std::size_t element_bytes = 0;
  ph_type type = PH_BYTES;
  ph_op op = PH_OP_ADD;

  std::size_t size_bytes() const noexcept { return count * element_bytes; }
};

// Memory for results, which is kept from one collective to the next.
struct Room {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size_bytes = 0;
};

struct Collective {
  enum class State : std::uint8_t { prepared, joined, begun, over };

  photon_coll kind = PHOTON_COLL_BARRIER;
  std::shared_ptr<Communicator> communicator;
  bool is_root = false;  // of a reduction to one rank
  std::list<Told> told;  // one, if its local id comes out of a probe
  State state = State::prepared;
  bool is_dropped = false;  // nobody will join it
  bool is_changed = false;  // to what was joined
  Work work;
  Room result;
  ph_coll* place = nullptr;  // in the team
  ph_request request = PH_REQUEST_NONE;
  ph_status status = PH_OK;  // when it is over

  bool blocks() const noexcept { return kind < PHOTON_COLL_IBARRIER; }
  bool tells() const noexcept { return !told.empty(); }
  bool is_barrier() const noexcept {
    return kind == PHOTON_COLL_BARRIER || kind == PHOTON_COLL_IBARRIER;
  }
  // Its result goes to this rank's memory.
  bool yields() const noexcept { return !is_barrier() && (kind != PHOTON_COLL_REDUCE || is_root); }
};

}  // namespace photon::classic
