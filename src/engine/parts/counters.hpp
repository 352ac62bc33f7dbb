// What was done, how, and what it waited for: per peer, and of the whole rank.
//
//   off -- start --> counting -- stop --> off (what was counted stays)
//
// Where it is off a peer has no counters, and a test for that is all it costs; what the fast path
// sends is counted from the lines of its credit grant, when that ends.
// Invariant: sums never fall; those named most_ are high-water marks while counting was on.
// Owner: the Engine and its Peers, under the lane's lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "engine/parts/request.hpp"

namespace photon::engine {

enum class Count : std::uint8_t {
  puts,
  notifications,
  gets,
  atomics,
  put_bytes,
  get_bytes,
  packed,
  bulk,
  direct,
  posted,
  overflowed,
  get_direct,
  get_posted,
  get_served,
  copied_bytes,
  kernel_bytes,
  staged_bytes,
  streamed_bytes,
  queued,
  line_stalls,
  ledger_stalls,
  bulk_stalls,
  nic_stalls,
  kicks,
  lines_sent,
  lines_received,
  ids_probed,
  most_outstanding,
  most_waiting_ids,
  most_overflow_bytes,
};
inline constexpr std::size_t kPeerCounts = static_cast<std::size_t>(Count::most_overflow_bytes) + 1;

struct PeerCounters {
  std::array<std::uint64_t, kPeerCounts> values{};

  void add(Count what, std::uint64_t more) noexcept {
    values[static_cast<std::size_t>(what)] += more;
  }
  void raise(Count what, std::uint64_t to) noexcept {
    auto& value = values[static_cast<std::size_t>(what)];
    value = std::max(value, to);
  }
  // Sums of another are added, high-water marks compared.
  void merge(const PeerCounters& other) noexcept;
};

// Of the rank; counted always, for nothing here is on a fast path.
struct RankCounters {
  std::uint64_t refusals = 0;  // PH_AGAIN
  std::uint64_t sleeps = 0;
  std::uint64_t dropped = 0;
  std::uint64_t most_requests = 0;
};

// How a put that takes a request travels.
constexpr Count mode_of(Request::Kind kind) noexcept {
  switch (kind) {
    case Request::Kind::bulk: return Count::bulk;
    case Request::Kind::direct: return Count::direct;
    case Request::Kind::posted: return Count::posted;
    default: return Count::packed;
  }
}

struct CounterText {
  const char* name;
  const char* help;
};
std::span<const CounterText, kPeerCounts> peer_counter_texts() noexcept;

// A value with its name, as told to callers.
struct NamedCount {
  CounterText text;
  std::uint64_t value;
};

}  // namespace photon::engine
