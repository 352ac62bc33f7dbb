// Operations that this PE issues: by its lane, with one record from the call to the local id
// (docs/tasks.md, "An operation").
//
//   issue(): room --> under way -- its local id, PH_OK --> own done; the remote id is the other's
//                               -- its local id, an error --> own done; the other's is a message
//            no room --> waits, in order -- issue_waiting(): room --> under way
//            refused by the engine --> own done, and the other's by a message
//
// Owner: the PE.
#pragma once

#include "task/buffer/pe_buffers.hpp"

namespace photon::task {

// The record of one: both ends, and who began it. Null: no memory, or too many are under way; then
// nothing has changed.
struct BothEnds {
  Verb verb;
  Handle& own;
  const ph_task_descriptor& other;
};
Message* make_record(Buffers& buffers, const BothEnds& ends) noexcept;

// Holds the buffer until the own done has its turn.
void hold(Handle& handle, Verb verb) noexcept;

// False: too many are under way; the record is the caller's still. Else it ends with two dones.
bool issue(Buffers& buffers, Handle& own, Message& record) noexcept;
// A local id has come.
void end_issued(Buffers& buffers, const ph_u64_completion& end) noexcept;
// True: something went.
bool issue_waiting(Buffers& buffers) noexcept;

}  // namespace photon::task
