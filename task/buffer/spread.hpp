// Broadcasts of a buffer (docs/tasks.md, "Who has to act, and in which order"): its bytes go down a
// tree of processes with four branches. Each process reads them from the one above, so a buffer
// that landed is a source in turn.
//
//   root:   begun --> feeding -- all below have read --> its done
//   others: offered --> ph_task_land(): a get is issued -- its bytes are there --> feeding --> done
//                                                       -- nobody is below, or an error --> done
//
// Where nobody is below, the remote id of the get tells the process above; else a done does so when
// all below have read. One that is lost counts as having read; what it had not offered yet, nobody
// below it gets.
// Invariant: a buffer that feeds is in use, and its record stands under way, with the processes
// that have not answered. Owner: the PE.
#pragma once

#include "task/buffer/dones.hpp"

namespace photon::task {

// Not PH_OK: nothing has happened.
ph_status spread(Buffers& buffers, Handle& own, std::uint32_t handler, std::uint64_t word) noexcept;
// Whether an offer can be one; a peer has made it.
bool is_offer(const Buffers& buffers, const ph_task_offer& offer) noexcept;
// After the checks of a get. Not PH_OK: nothing has happened.
ph_status land(Buffers& buffers, Handle& own, const ph_task_offer& offer) noexcept;

// Kind::spread.
bool run_offer(Pe& pe, Message& message) noexcept;
// The own done of an operation that is one of a broadcast.
bool run_landed(Buffers& buffers, Message& record) noexcept;
// A process below has read.
bool run_fed(Buffers& buffers, const EndName& name, const Told& told, Message& message) noexcept;
// That process is lost: it counts as having read all that it was offered.
void end_fed_by(Buffers& buffers, std::uint32_t process) noexcept;

}  // namespace photon::task
