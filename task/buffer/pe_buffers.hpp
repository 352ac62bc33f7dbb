// What one PE has of buffers: their handles, registrations and the operations that are not over
// (docs/tasks.md, "The life of a buffer").
// Invariant: what a peer sent names slots and generations, and is looked up here; it is never used
// as an address.
// Owner: the crew, which ends it when no PE runs any more, and before the lanes close.
#pragma once

#include <photon/task_buffer.h>

#include <cstdint>

#include "task/buffer/handles.hpp"
#include "task/buffer/registrations.hpp"
#include "task/buffer/underway.hpp"
#include "task/run/pe.hpp"

namespace photon::task {

struct Buffers {
  Buffers(Pe& own, std::uint64_t kept_bytes) noexcept : pe(own), registrations(kept_bytes) {}
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  ph_context* lane() noexcept { return pe.machine().lane(); }
  // How often this PE looks after what waits here.
  void watch() noexcept;
  void count(ph_task_counts& counts) const noexcept;
  // The program has ended: says what it leaves behind.
  void leave() noexcept;

  Pe& pe;
  Handles handles;
  Registrations registrations;
  Underway underway;
  // Operations for which there was no room, by the links of their records.
  Message* first_waiting = nullptr;
  Message* last_waiting = nullptr;
  std::uint32_t looked_slot = 0;  // of the turned operation that was looked after last
  std::uint32_t looked_feed = 0;  // the same of those that feed
  std::uint64_t operations = 0;   // begun here
  std::uint64_t turned = 0;       // those that the other side was asked to issue
  std::uint64_t stale_dones = 0;  // of buffers or operations that are gone
};

inline Buffers& buffers_of(const Pe& pe) noexcept {
  return *static_cast<Buffers*>(pe.part(Part::buffer));
}

inline Operation& operation_of(Message& record) noexcept {
  return *reinterpret_cast<Operation*>(body_of(record));
}

// A buffer as it travels.
ph_task_descriptor descriptor_of(const Pe& pe, const Handle& handle) noexcept;
// Whether a descriptor can be one at all. A peer may have made it.
bool is_sound(const ph_task_descriptor& descriptor, std::uint32_t pes_of_job) noexcept;

}  // namespace photon::task
