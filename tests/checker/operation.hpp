// One operation of a thread under the checker, as the policy reports it to the model.
// Invariant: everything a thread does is a function of the results of its operations.
// Owner: plain value.
#pragma once

#include <atomic>
#include <cstdint>

namespace photon::checker {

using LocationId = std::uint32_t;
using NodeId = std::uint32_t;  // a thread's history so far, see program.hpp
inline constexpr LocationId kNoLocation = ~LocationId{0};
inline constexpr NodeId kNoNode = ~NodeId{0};
inline constexpr unsigned kMaxThreads = 4;

enum class OpKind : std::uint8_t {
  load,
  store,
  exchange,
  compare_exchange,
  fetch_add,
  cell_get,
  cell_set,
  full_fence,
  heavy_barrier,
  event_write,  // add to the counter
  event_read,   // wait until it is not 0, take it
  event_wait,   // wait until it is not 0, leave it
  relax,        // a spin loop's turn: nothing happens until a value read in it has changed
  retry,        // the same for wait_until; the thread goes back to the history `operand`
  failure,      // an expectation did not hold
  done,
};

struct Operation {
  OpKind kind = OpKind::done;
  std::uint8_t size_bytes = 8;
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order failure_order = std::memory_order_relaxed;
  LocationId location = kNoLocation;
  std::uint64_t operand = 0;
  std::uint64_t expected = 0;
  const char* text = nullptr;  // failure: what was expected

  friend bool operator==(const Operation&, const Operation&) = default;
};

constexpr bool acquires(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_consume ||
         order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
constexpr bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
constexpr bool is_read_modify_write(OpKind kind) noexcept {
  return kind == OpKind::exchange || kind == OpKind::compare_exchange || kind == OpKind::fetch_add;
}
constexpr bool is_event_read(OpKind kind) noexcept {
  return kind == OpKind::event_read || kind == OpKind::event_wait;
}
constexpr bool is_fence(OpKind kind) noexcept {
  return kind == OpKind::full_fence || kind == OpKind::event_write || is_event_read(kind);
}
// The result is a value found at the location.
constexpr bool reads(OpKind kind) noexcept {
  return kind == OpKind::load || kind == OpKind::cell_get || is_read_modify_write(kind);
}
// What a read-modify-write leaves behind; a compare_exchange that fails leaves what it found.
constexpr std::uint64_t modified(const Operation& op, std::uint64_t found) noexcept {
  const std::uint64_t mask =
      op.size_bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (op.size_bytes * 8)) - 1;
  if (op.kind == OpKind::fetch_add) return (found + op.operand) & mask;
  if (op.kind == OpKind::compare_exchange && found != op.expected) return found;
  return op.operand;
}

}  // namespace photon::checker
