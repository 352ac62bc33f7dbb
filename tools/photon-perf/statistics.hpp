// What was measured, and its summary.
// Owner: none (values).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace photon::perf {

struct Latency {
  double min_ns;
  double p50_ns;
  double p99_ns;
};

// Nearest-rank percentiles; nothing for no samples.
std::optional<Latency> summarize(std::vector<double> samples_ns);

// One run of one program: batch averages for a latency, operations a second for the rest. Only
// the member with index 0 fills it.
struct Outcome {
  std::vector<double> batches_ns;
  double per_second = 0;
};

// Batches of a latency hold this many round trips: the clock costs nothing then. Who asks for fewer
// gets a batch of those.
inline constexpr std::uint64_t kBatch = 100;
struct Batches {
  std::uint64_t count;
  std::uint64_t each;

  constexpr std::uint64_t total() const noexcept { return count * each; }
};
constexpr Batches batches_for(std::uint64_t round_trips) noexcept {
  return {(round_trips + kBatch - 1) / kBatch, std::clamp<std::uint64_t>(round_trips, 1, kBatch)};
}

// The unit of a row's own figure, and of its limit.
enum class Unit : std::uint8_t { nanoseconds, per_second, megabytes_per_second };

// The figure of an outcome: p50, or the rate, or the rate times the size.
double figure_of(const Outcome& outcome, Unit unit, std::uint64_t size_bytes);

// Is `left` the better figure?
constexpr bool is_better(double left, double right, Unit unit) noexcept {
  return unit == Unit::nanoseconds ? left < right : left > right;
}

}  // namespace photon::perf
