#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace photon::perf {

std::optional<Latency> summarize(std::vector<double> samples_ns) {
  if (samples_ns.empty()) return std::nullopt;
  std::sort(samples_ns.begin(), samples_ns.end());
  const auto count = static_cast<double>(samples_ns.size());
  const auto at = [&](double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * count));
    return samples_ns[std::max<std::size_t>(rank, 1) - 1];
  };
  return Latency{samples_ns.front(), at(0.50), at(0.99)};
}

double figure_of(const Outcome& outcome, Unit unit, std::uint64_t size_bytes) {
  switch (unit) {
    case Unit::nanoseconds: {
      const auto latency = summarize(outcome.batches_ns);
      return latency ? latency->p50_ns : 0;
    }
    case Unit::per_second: return outcome.per_second;
    case Unit::megabytes_per_second:
      return outcome.per_second * static_cast<double>(size_bytes) / 1e6;
  }
  return 0;
}

}  // namespace photon::perf
