// Where a message goes that a PE gives away (docs/tasks.md, "Sending"): its own list, a sibling's
// inbox, the queues of the process, or the lane.
// Invariant: a message in a queue has one reference, since it has one link; of another one the
// target gets a copy. Arguments were checked before (task/api/).
// Owner: none (functions of the PE that sends).
#pragma once

#include <photon/task.h>

#include <cstdint>
#include <span>

#include "task/run/pe.hpp"

namespace photon::task {

// Gives the message away, if PH_OK; is_lost(): it was freed. With any other error it remains the
// caller's.
ph_status send(Pe& pe, std::uint32_t to, Message& message) noexcept;
ph_status send_copy(Pe& pe, std::uint32_t to, const Message& message) noexcept;
ph_status send_node(Pe& pe, std::uint32_t process, Message& message) noexcept;

// Several messages, of which none stands twice: all are given away, or none. They travel as one.
ph_status send_many(Pe& pe, std::uint32_t to, std::span<Message* const> messages) noexcept;
// What has come so (Kind::many): its parts are run before what came later.
bool take_many(Pe& pe, Message& message) noexcept;

// In front of each part of such a message, which begins at a multiple of 64; it becomes the chunk
// and the header of the embedded message.
struct PartFront {
  std::uint64_t size_bytes;  // of its body
  std::uint32_t handler;
  std::uint8_t zero[kFrontBytes - 12];
};
static_assert(sizeof(PartFront) == kFrontBytes);
// The same with a message of the library's own, with one reference; counted, but for waves.
ph_status send_of_kind(Pe& pe, Kind kind, std::uint32_t to, Message& message) noexcept;

// Puts a message into the priority queue of the PE, or of its process. PH_ERR_MEMORY: nothing was
// done.
struct Turn {
  Priority priority{};
  PriorityQueue::Place place = PriorityQueue::Place::fifo;
  bool is_of_process = false;
};
ph_status enqueue(Pe& pe, Message& message, const Turn& turn) noexcept;

// The message, or a copy to be given away in its place where others hold it as well, until
// end_single(): then either the original has been given away with it, or the copy is freed.
// Null: no memory.
Message* single(Pe& pe, Message& message) noexcept;
void end_single(Pe& pe, Message& message, Message& one, bool is_given) noexcept;
// Null: no memory.
Message* copy_of(Pe& pe, const Message& message) noexcept;

}  // namespace photon::task
