#include "boot/launch_hosts.hpp"

#include <algorithm>
#include <cstring>

namespace photon::boot {

std::optional<LaunchHosts> LaunchHosts::read(std::span<const std::byte> runs,
                                             const ph_launch_welcome& welcome) {
  const std::size_t count = runs.size() / sizeof(ph_launch_host_run);
  if (runs.size() % sizeof(ph_launch_host_run) != 0 || count > PH_LAUNCH_MAX_HOST_RUNS) return {};
  LaunchHosts hosts;
  if (count == 0) return hosts;
  hosts.runs_.reserve(count);
  std::uint64_t next = 0;
  bool has_own = false;
  for (std::size_t i = 0; i < count; ++i) {
    ph_launch_host_run run;
    std::memcpy(&run, runs.data() + i * sizeof run, sizeof run);
    // No product of two such numbers is too large for 64 bits, and no sum is with one of 32.
    const std::uint64_t ranks = std::uint64_t{run.hosts} * run.ranks;
    if (ranks == 0 || ranks > welcome.size - next) return {};
    hosts.runs_.push_back({static_cast<Rank>(next), run.ranks});
    const std::uint64_t before = std::uint64_t{welcome.local_first} - next;  // wraps: not in it
    has_own =
        has_own || (before < ranks && before % run.ranks == 0 && welcome.local_size == run.ranks);
    next += ranks;
  }
  if (next != welcome.size || !has_own) return {};
  return hosts;
}

std::optional<Rank> LaunchHosts::first_of(Rank rank) const {
  const auto behind = std::upper_bound(runs_.begin(), runs_.end(), rank,
                                       [](Rank one, const Run& run) { return one < run.first; });
  if (behind == runs_.begin()) return std::nullopt;
  const Run& run = *std::prev(behind);
  return rank - (rank - run.first) % run.host_ranks;
}

}  // namespace photon::boot
