// Messages to many: they go down a tree of processes with four branches, rooted at the sender's
// (docs/tasks.md, "Sending").
//
//   relay: made by the sender, or come from the parent --> passed on to up to four children -->
//   each PE (or the process) gets a copy --> the last one gets the message itself, embedded
//
// Where a child is lost, its own children are served in its place.
// Invariant: a relay encloses the original message behind 64 bytes, which are a RelayFront while it
// travels, and then the chunk and the header of the embedded message.
// Owner: the PE that has the relay.
#pragma once

#include <photon/task.h>

#include <cstdint>

#include "task/run/pe.hpp"

namespace photon::task {

struct RelayFront {
  std::uint32_t root;     // process
  std::uint32_t flags;    // PH_TASK_TO_PROCESSES, PH_TASK_WITH_SELF
  std::uint32_t source;   // PE
  std::uint32_t handler;  // of the original message
  std::uint8_t zero[kFrontBytes - 16];
};
static_assert(sizeof(RelayFront) == kFrontBytes);

// To all, by the sender; the message stays the caller's. PH_ERR_MEMORY: nothing was sent.
ph_status broadcast(Pe& pe, const Message& message, std::uint32_t flags) noexcept;

// One that has come (Kind::relay). It is over then.
bool relay(Pe& pe, Message& message) noexcept;

// Children of a process in the tree of so many from a root, at most four; how many.
struct Children {
  std::uint32_t of[4];
  std::uint32_t count;
};
Children children_of(std::uint32_t process, std::uint32_t root, std::uint32_t processes) noexcept;

}  // namespace photon::task
