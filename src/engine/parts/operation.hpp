// The small values that the engine's verbs hand to each other.
// Owner: the caller's stack.
#pragma once

#include <photon/memory.h>
#include <photon/request.h>
#include <photon/rma.h>
#include <photon/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <variant>

#include "engine/parts/store_choice.hpp"
#include "sync/remote_word.hpp"
#include "wire/record.hpp"

namespace photon::engine {

// A record about to be written.
struct Outgoing {
  wire::Kind kind = wire::Kind::put;
  std::uint64_t fixed[5] = {};
  const void* id = nullptr;
  std::uint32_t id_bytes = wire::kNoId;
  wire::Owner owner = wire::Owner::application;  // of the id
  const void* payload = nullptr;
  std::uint32_t payload_bytes = 0;
  // Names the operation should it fail when it is over for us, and its request if it has one.
  std::uint64_t local_id = 0;
  ph_request request = PH_REQUEST_NONE;
  ph_target target{};
  std::uint64_t size_bytes = 0;
  // PH_DELIVERED: what has landed is not called failed any more. Nor is a bare id of which nobody
  // wanted to hear.
  bool is_sure = false;
};

inline Outgoing outgoing(std::uint32_t flags, const ph_id& local, const ph_id& remote) noexcept {
  Outgoing out{};
  out.is_sure = (flags & PH_DELIVERED) != 0;
  out.id = remote.data;
  out.id_bytes = (flags & PH_NO_RCE) == 0 ? remote.size_bytes : wire::kNoId;
  if (local.size_bytes != 0)
    std::memcpy(&out.local_id, local.data, std::min<std::size_t>(8, local.size_bytes));
  return out;
}

inline Outgoing outgoing(const ph_put_args& args) noexcept {
  Outgoing out = outgoing(args.flags, args.local, args.remote);
  out.fixed[0] = args.target.address;
  out.fixed[1] = args.target.key;
  out.target = args.target;
  out.size_bytes = args.size_bytes;
  if (args.size_bytes == 0 && (args.flags & PH_NO_LCE) != 0) out.is_sure = true;
  return out;
}

// The rest of an operation at its target.
struct TargetRange {
  ph_target at{};
  std::uint64_t size_bytes = 0;
};

// The call of which a check speaks.
struct Call {
  const char* name;
  ph_rank rank;
  const void* own;
};

// Equal blocks that repeat.
struct Grid {
  std::byte* own = nullptr;
  ph_target at{};
  std::uint64_t block_bytes = 0;
  std::span<const ph_dimension> dimensions;
};

// A vectored operation as its caller has described it.
struct Vectored {
  const char* call = "";
  bool is_get = false;
  std::variant<std::span<const ph_put_segment>, std::span<const ph_get_segment>, Grid> shape;
  ph_id local{};
  ph_id remote{};
  std::uint32_t flags = 0;
  ph_request* request = nullptr;
};

// A get that queues.
struct QueuedGet {
  const ph_get_args& args;
  const void* here = nullptr;  // what there is to get came along with an announcement
  bool learns = false;         // it could go another way
  bool is_asked = false;       // its owner is asked first
};

// How an operation that is over at its call is told to its initiator.
struct LocalEnd {
  const ph_id& id;
  std::uint32_t flags;
  const ph_request* request;
};

// Bytes that we copy ourselves: from source (put) or to destination (get).
struct Piece {
  ph_target at;
  std::uint64_t size_bytes = 0;
  const std::byte* source = nullptr;
  std::byte* destination = nullptr;
  Way way = Way::plain;  // by which stores, where it is a put to mapped memory
};

// What one call may still copy, in bytes; small blocks and system calls cost more than they have.
struct Allowance {
  std::uint64_t most = 0;
  std::uint64_t spent = 0;
  std::uint64_t copied = 0;
};

// A word that we change ourselves.
struct MappedWord {
  ph_target at;
  sync::WordChange change;
  std::uint32_t access;
  void* local;  // where we have it
};

// A registration that is being taken back.
struct Removal {
  ph_region region{};
  bool is_due = false;  // else it was counted down, or there is none
  bool is_allocated = false;
  bool is_held = false;  // of ph_alloc: a peer has it mapped, or this rank itself
  bool is_sure = false;  // by the caller's word nothing is under way: nobody is waited for
  const char* call = "unregister";
};

// Takes up to `capacity` that are over into results[0 .. done).
struct RequestSweep {
  ph_request_list list;
  ph_result* results;
  std::size_t capacity;
  std::size_t done = 0;
};

// What operations hold on to. All but most_blocks is zero where nothing is under way and everything
// was probed.
struct ResourceUse {
  std::uint64_t requests = 0;
  std::int64_t events = 0;        // promised or waiting
  std::uint64_t blocks = 0;       // of ids and payloads
  std::uint64_t most_blocks = 0;  // that there were at a time, but for those given back
  std::uint64_t queued = 0;       // remote ids, and what peers are owed
  std::uint64_t pins = 0;         // of own memory, for the NIC
};

}  // namespace photon::engine
