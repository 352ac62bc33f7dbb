// The buffers of one PE (docs/tasks.md, "The life of a buffer"): a table of slots, of which
// siblings read what they need to copy by themselves.
//
//   slot: free -- make() --> live, hidden -- show() --> shown -- hide() --> hidden
//         live -- free() --> free: the generation has grown, so descriptors and names are stale
//         free -- its generation would wrap --> never used again
//
// Invariant: a handle stays where it is. What siblings see of a slot is of one generation of it,
// since they read its key, which is made of both, before and behind the rest (sync/region_table.hpp
// has the argument).
// Owner: the PE, whose thread makes every call but read().
#pragma once

#include <photon/task_buffer.h>

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "sync/published.hpp"
#include "sync/region_table.hpp"
#include "task/buffer/registrations.hpp"
#include "task/machine/rdma.hpp"

namespace photon::task {

struct Handle {
  std::byte* address;
  std::uint64_t size_bytes;
  void* user;
  Registration registration;
  std::uint32_t slot;
  std::uint32_t generation;
  std::uint32_t source_done;
  std::uint32_t destination_done;
  std::uint32_t reads;  // operations begun here that it is the source of
  std::uint8_t when_registered;
  std::uint8_t when_given_back;
  bool is_landing;  // it is the destination of one that was begun here
  bool is_cut;      // the program has deregistered it
  bool is_live;

  bool is_in_use() const noexcept { return reads != 0 || is_landing; }
  ph_task_buffer name() const noexcept { return std::uint64_t{generation} << 24 | slot; }
};

class Handles {
 public:
  using Entry = sync::RegionEntry<sync::HardwarePolicy>;

  Handles() = default;
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  // A live one, hidden, zero but for its slot and generation. Null: there are no more, or no
  // memory.
  Handle* make() noexcept;
  void free(Handle& handle) noexcept;
  // Null: there is none, or it is gone.
  Handle* find(std::uint32_t slot, std::uint32_t generation) noexcept;
  Handle* find(ph_task_buffer name) noexcept {
    if (name >> 48 != 0) return nullptr;
    return find(static_cast<std::uint32_t>(name & kMostGeneration),
                static_cast<std::uint32_t>(name >> 24));
  }
  void show(Handle& handle) noexcept;
  void hide(Handle& handle) noexcept;
  template <class Function>
  void each(Function function) noexcept {
    for (std::uint32_t slot = 0; slot < made_; ++slot)
      if (Handle& handle = at(slot)->handle; handle.is_live) function(handle);
  }

  // Any thread of the process: where a buffer lies. False: it is hidden, or gone.
  bool read(std::uint32_t slot, std::uint32_t generation, sync::RegionView& view) const noexcept;

 private:
  struct alignas(64) Slot {
    Entry entry;
    Handle handle;
  };
  static constexpr std::uint32_t kFirstSlots = 64;  // of a segment; each has twice as many
  static constexpr std::size_t kSegments = 18;
  static_assert(kFirstSlots * ((1U << kSegments) - 1) == kMostSlots);

  static std::size_t segment_of(std::uint32_t slot) noexcept {
    return static_cast<std::size_t>(std::bit_width(slot / kFirstSlots + 1)) - 1;
  }
  static std::uint32_t first_of(std::size_t segment) noexcept {
    return kFirstSlots * ((1U << segment) - 1);
  }
  static std::uint64_t key_of(std::uint32_t slot, std::uint32_t generation) noexcept {
    return std::uint64_t{generation} << 24 | slot;
  }
  Slot* at(std::uint32_t slot) const noexcept;
  bool grow() noexcept;

  std::array<sync::Published<sync::HardwarePolicy, Slot>, kSegments> segments_;
  std::vector<std::unique_ptr<Slot[]>> owned_;
  std::vector<std::uint32_t> free_;  // slots; room for all that were made
  std::uint32_t made_ = 0;           // slots that were used once
  std::uint32_t room_ = 0;           // slots in segments
};

}  // namespace photon::task
