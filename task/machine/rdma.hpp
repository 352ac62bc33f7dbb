// Reads and writes of memory of other processes, for buffers (docs/tasks.md, "An operation").
//
// An operation has one record, of the pool: it holds both ends, and lives from the call to the end
// that the network tells of, which comes once as the local id. The other side hears by the remote
// id; both are EndNames.
// Owner: none (functions of a lane, by the thread of its PE).
#pragma once

#include <photon/photon.h>
#include <photon/task_buffer.h>

#include <cstddef>
#include <cstdint>

namespace photon::task {

// What an id of a lane says: 8 bytes that a peer may forge, so each part is looked up.
struct EndName {
  enum class Says : std::uint8_t {
    none,
    read,     // all of your buffer of that slot was read
    written,  // all of it was written
    turned,   // your operation of that slot, which its other side has issued, is over
    fed,      // a process that your broadcast of that slot feeds has read
    issued,   // the operation of that slot of who probes it, as a local id: never of a peer
    ended     // an operation of that slot is over, and its done is queued here: no id
  };
  std::uint32_t slot;        // 24 bits
  std::uint32_t generation;  // 24 bits
  std::uint8_t rank;         // of the PE that is meant
  Says says;
};
inline constexpr std::uint32_t kMostSlots = (1U << 24) - 64;
inline constexpr std::uint32_t kMostGeneration = (1U << 24) - 1;

// The highest byte is not 0, so no id is the address of a message.
inline std::uint64_t id_of(const EndName& name) noexcept {
  return std::uint64_t{name.slot} | std::uint64_t{name.generation} << 24 |
         std::uint64_t{name.rank} << 48 | static_cast<std::uint64_t>(name.says) << 56;
}
inline EndName name_of_id(std::uint64_t id) noexcept {
  return {.slot = static_cast<std::uint32_t>(id & kMostGeneration),
          .generation = static_cast<std::uint32_t>(id >> 24 & kMostGeneration),
          .rank = static_cast<std::uint8_t>(id >> 48),
          .says = static_cast<EndName::Says>(id >> 56)};
}

enum class Verb : std::uint8_t { get, put };
// What an operation of a broadcast does (task/buffer/spread.hpp); none: it is of no broadcast.
enum class Feeds : std::uint8_t { none, landing, feeding, fed };

struct Message;

// The body of a record.
struct Operation {
  ph_task_descriptor own;
  ph_task_descriptor other;
  ph_task_buffer buffer;  // the own one
  std::uint64_t moved_bytes;
  std::uint64_t local;  // ids
  std::uint64_t remote;
  std::uint32_t other_process;
  ph_status status;
  Verb verb;
  bool is_told_apart;  // the remote id cannot say it: a part of a larger destination is written
  bool is_begun_here;
  Feeds feeds;
  ph_status below;              // of those that are fed
  std::uint32_t pending_count;  // processes that are fed and have not answered
  Message* pending;             // their numbers
  ph_task_offer offer;
};

// Memory that peers may reach: its key, to be given back.
ph_status set_rdma_info(ph_context* lane, void* base, std::uint64_t size_bytes,
                        std::uint64_t& key) noexcept;
// The same of memory that is registered already, which is not given back.
ph_status find_rdma_info(ph_context* lane, const void* base, std::uint64_t size_bytes,
                         std::uint64_t& key) noexcept;
// Waits for nobody: nothing is under way with the key, or its peers have been told so.
void deregister(ph_context* lane, std::uint64_t key) noexcept;
// Waits for copies that peers make: for the end, when nobody knows what is under way.
void deregister_at_end(ph_context* lane, std::uint64_t key) noexcept;

// PH_OK: its local id will come, once. PH_AGAIN, PH_ERR_MEMORY: later. Else it has failed.
ph_status issue_get(ph_context* lane, const Operation& operation) noexcept;
ph_status issue_put(ph_context* lane, const Operation& operation) noexcept;

}  // namespace photon::task
