// What the calls of <photon/task.h> have in common: handles and their checks.
// Invariant: a message that passed is of a pool, held by its caller and in no queue, as far as its
// mark and its count can tell.
// Owner: none (functions).
#pragma once

#include <photon/task.h>

#include "task/run/pe.hpp"
#include "task/run/sends.hpp"

namespace photon::task {

inline constexpr std::uint64_t kMostStackBytes = std::uint64_t{1} << 36;  // of a thread

inline Pe& of(ph_task_pe* pe) noexcept { return *reinterpret_cast<Pe*>(pe); }
inline const Pe& of(const ph_task_pe* pe) noexcept { return *reinterpret_cast<const Pe*>(pe); }
inline ph_task_pe* handle(Pe* pe) noexcept { return reinterpret_cast<ph_task_pe*>(pe); }
inline Message& of(ph_task_message* message) noexcept {
  return *reinterpret_cast<Message*>(message);
}
inline const Message& of(const ph_task_message* message) noexcept {
  return *reinterpret_cast<const Message*>(message);
}
inline ph_task_message* handle(Message* message) noexcept {
  return reinterpret_cast<ph_task_message*>(message);
}

// Why a message that is_held() refuses is none: the words, and the status.
[[gnu::cold]] ph_status refuse(Pe& pe, const char* call, const ph_task_message* message) noexcept;

// Whether the calling thread is that of the PE; the words, if not.
inline bool is_here(Pe& pe, const char* call) noexcept {
  if (pe.is_here()) [[likely]]
    return true;
  static_cast<void>(pe.shared().outsiders.refuse(call, pe.number()));
  return false;
}

// Words for what a send ran into.
[[gnu::cold]] ph_status tell_failed(Pe& pe, const char* call, ph_status status) noexcept;
inline ph_status told(Pe& pe, const char* call, ph_status status) noexcept {
  if (status == PH_OK) [[likely]]
    return status;
  return tell_failed(pe, call, status);
}
[[gnu::cold]] ph_status no_pe(Pe& pe, const char* call, std::uint32_t to) noexcept;
// Checks a priority of the program and fills all of *turn but its place of queue; or the words, and
// PH_ERR_ARGUMENT.
ph_status read_priority(Pe& pe, const char* call, const ph_task_priority* priority,
                        Turn& turn) noexcept;

inline bool is_held(const ph_task_message* message) noexcept {
  return message != nullptr && is_held(of(message));
}

}  // namespace photon::task
