// Operations that are turned round: the other side is not registered, so it is asked by a message
// to issue the reverse one (docs/tasks.md, "An operation").
//
//   asked: I registers its own buffer, and holds it --> Kind::turn --> O looks all of it up
//   O:  it can be done --> issues it: its remote id is the done of I
//       else --> a done with the error to I, and one to its own buffer
//   I:  a done --> over;  O's process is lost, and nothing more came of it (awaited.hpp) --> over
//
// Invariant: the asker's operation ends once: its name is taken when it does.
// Owner: the PE.
#pragma once

#include "task/buffer/pe_buffers.hpp"

namespace photon::task {

// PH_OK: the record is of an operation that ends with two dones, or with one where the other side's
// process is lost. Else nothing has changed, and the record is the caller's.
ph_status ask(Buffers& buffers, Handle& own, Message& record) noexcept;

// Kind::turn.
bool run_turn(Pe& pe, Message& message) noexcept;

// That process is lost: all that it was asked for is over, with that status.
void end_asked_of(Buffers& buffers, std::uint32_t process, ph_status status) noexcept;

}  // namespace photon::task
