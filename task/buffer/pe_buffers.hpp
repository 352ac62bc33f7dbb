// What one PE has of buffers: their handles, registrations and the operations that are not over
// (docs/tasks.md, "The life of a buffer").
// Invariant: what a peer sent names slots and generations, and is looked up here; it is never used
// as an address.
// Owner: the crew, which ends it when no PE runs any more, and before the lanes close.
#pragma once

#include <photon/task_buffer.h>

#include <cstdint>

#include "task/buffer/awaited.hpp"
#include "task/buffer/handles.hpp"
#include "task/buffer/registrations.hpp"
#include "task/buffer/underway.hpp"
#include "task/buffer/waiting.hpp"
#include "task/run/pe.hpp"

namespace photon::task {

struct Buffers {
  // Throws bad_alloc.
  Buffers(Pe& own, std::uint64_t kept_bytes)
      : pe(own),
        registrations(kept_bytes),
        awaited(own.shared().processes),
        waiting(own.shared().processes) {}
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
  Awaited awaited;                // by the operations under way that are turned or feed
  Waiting waiting;                // operations for which there was no room
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

// Whether a registration is one that a buffer of this PE gives back.
bool is_of_buffer(Buffers& buffers, std::uint64_t key) noexcept;

// A buffer as it travels.
ph_task_descriptor descriptor_of(const Pe& pe, const Handle& handle) noexcept;
// Whether a descriptor can be one at all. A peer may have made it.
bool is_sound(const ph_task_descriptor& descriptor, std::uint32_t pes_of_job) noexcept;

}  // namespace photon::task
