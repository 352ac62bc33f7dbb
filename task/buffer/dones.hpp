// Dones: messages that say that an operation on a buffer is over (docs/tasks.md, "An operation").
//
//   told in this process: by a PE to itself or to a sibling --> queued
//   told by a peer: an id, or a message --> queued at the PE that it names, unseen
//   queued -- its turn --> the handle's state is changed --> the program's handler runs
//
// Two forms: the record of an operation that this PE has issued, or has waited for, and that is
// over; else a few bytes that name a buffer or an operation. Only the second one travels.
// Invariant: a done is counted before the bytes move (docs/tasks.md, "Quiescence", has the table).
// Owner: the PE that has the message.
#pragma once

#include <cstdint>

#include "task/buffer/pe_buffers.hpp"

namespace photon::task {

// The body of the second form.
struct Told {
  std::uint64_t id;  // an EndName
  std::uint64_t moved_bytes;
  std::int32_t status;
  std::uint32_t zero;
};
inline constexpr std::uint64_t kAllBytes = ~std::uint64_t{0};  // of the buffer

// For a PE of this process: made before the bytes move, so that no done lacks memory.
Message* make_told(Buffers& buffers, const Told& told) noexcept;
// The same; without memory the process ends with words, since a done would be lost.
Message& must_make_told(Buffers& buffers, const Told& told) noexcept;
// To a PE of this process; `other_pe` is that of the other side.
void tell_near(Buffers& buffers, std::uint32_t rank, Message& made,
               std::uint32_t other_pe) noexcept;
// To a PE of another process; it was counted as sent. Not sent though that process lives: it counts
// as returned.
void send_told(Buffers& buffers, std::uint32_t pe, Message& told) noexcept;
// The same, made here.
void tell_far(Buffers& buffers, std::uint32_t pe, const Told& told) noexcept;
// A message that has room for it becomes this.
void write_told(Message& message, const Told& told) noexcept;
// To the own PE: its operation is over, with the status of the record.
void tell_own(Buffers& buffers, Message& record) noexcept;
// An id of an operation came from that process.
void pass_on(Buffers& buffers, ph_rank process, std::uint64_t id) noexcept;

// In the place of a handler's number.
enum DoneForm : std::uint32_t { kTold, kRecord };

// A done has its turn; each says whether a handler has run, and has the message from then on.
// The own one of an operation, whose name is gone.
bool run_own(Buffers& buffers, Message& record) noexcept;
// The same, where the other side has issued it, or was asked to.
bool run_turned(Buffers& buffers, const EndName& name, const Told& told, Message& message) noexcept;
// Of a buffer whose other side has begun the operation.
bool run_told(Buffers& buffers, const EndName& name, const Told& told, Message& message) noexcept;
// What a peer may say of how an operation ended.
ph_status status_of(const Told& told) noexcept;

// The side that a buffer was.
inline EndName::Says says_of(std::uint32_t side) noexcept {
  return side == PH_TASK_SOURCE ? EndName::Says::read : EndName::Says::written;
}
// A buffer, as the id of its done names it.
inline std::uint64_t id_of(const ph_task_descriptor& end, std::uint32_t side,
                           std::uint32_t pes) noexcept {
  return id_of(EndName{.slot = end.slot,
                       .generation = end.generation,
                       .rank = static_cast<std::uint8_t>(end.pe % pes),
                       .says = says_of(side)});
}

}  // namespace photon::task
