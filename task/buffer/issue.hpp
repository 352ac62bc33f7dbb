// Operations that this PE issues: by its lane, with one record from the call to the local id
// (docs/tasks.md, "An operation").
//
//   issue(): room --> under way -- its local id, PH_OK --> own done; the remote id is the other's
//                               -- its local id, an error --> own done; the other's is a message,
//                                  or none where its process is lost
//            no room --> waits, in order of its process -- issue_waiting(): room --> under way
//            refused by the engine --> the same, as for an error
//   Where the id cannot say how many bytes there are, or whoever reads a broadcast feeds others,
//   the other's done is a message in each case.
//
// Owner: the PE.
#pragma once

#include "task/buffer/pe_buffers.hpp"

namespace photon::task {

// The record of one, with both ends. Null: no memory, and nothing has changed.
struct BothEnds {
  Verb verb;
  Handle& own;
  const ph_task_descriptor& other;
};
Message* make_record(Buffers& buffers, const BothEnds& ends) noexcept;

// Holds the buffer until the own done has its turn.
void hold(Handle& handle, Verb verb) noexcept;

// False: no memory, or too many are under way; the record is the caller's still. Else its own done
// comes, and that of the other side if that lives.
bool issue(Buffers& buffers, Handle& own, Message& record) noexcept;
// A local id has come.
void end_issued(Buffers& buffers, const ph_u64_completion& end) noexcept;
// True: something went.
bool issue_waiting(Buffers& buffers) noexcept;

}  // namespace photon::task
