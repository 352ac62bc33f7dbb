// limits: the limit programs alone. A row's limit is the row's own figure, its ratio 1.
#include <algorithm>

#include "limit_network.hpp"
#include "limit_socket.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kSmallest = 33;         // above what fits into a flag's line
constexpr std::uint64_t kLargest = 256 * 1024;  // of a latency: beyond, bandwidth says it all

class LimitTable {
 public:
  LimitTable(Bench& bench, Team& team) : bench_(&bench), team_(&team) {}

  // One row for each family among `entries`: forms of one program compete, programs do not.
  void add(const std::vector<Entry>& entries, Unit unit, const Link& link, bool has_memory) {
    std::vector<std::string> names;
    for (const auto& entry : entries) {
      const auto& name = family_of(entry);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    for (const auto& name : names) {
      Contest contest;
      contest.unit = unit;
      contest.size_bytes = link.size_bytes();
      for (const auto& entry : entries) {
        if (family_of(entry) == name) contest.limits.push_back(entry);
      }
      const auto verdict = compete(*team_, contest, bench_->options.iterations);
      auto row = row_of(*bench_, contest, verdict);
      row.transport = "none";
      row.mode = name;
      if (has_memory) row.memory = text_of(bench_->options.memory);
      row.buffers = link.buffers_text();
      bench_->report.add(std::move(row));
    }
  }

 private:
  static const std::string& family_of(const Entry& entry) noexcept {
    return entry.family.empty() ? entry.name : entry.family;
  }

  Bench* bench_;
  Team* team_;
};

}  // namespace

void ask_limits(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  LimitTable table(bench, team);
  const auto kind = bench.options.memory;
  const auto names = fabric_names(bench.job);
  std::string missing;
  for (const auto size_bytes :
       sizes_or(bench.options, {0, 8, 32, 128, 1024, 4096, 65536, 1U << 20, 4U << 20})) {
    Link link(bench, team, fresh_shape(bench, size_bytes));
    const FabricLimits fabric(team, link.buffers(), names);
    missing = fabric.missing();
    if (size_bytes <= kLargest) {
      table.add(latency_limits(team, link.buffers(), kind), Unit::nanoseconds, link, true);
      table.add(socket_latency_limits(team, link.buffers()), Unit::nanoseconds, link, false);
      table.add(fabric.latency(), Unit::nanoseconds, link, false);
    }
    if (size_bytes < kSmallest) continue;
    if (size_bytes <= kLargest) {
      table.add(in_place_limits(team, link.buffers()), Unit::nanoseconds, link, false);
    }
    table.add(put_bandwidth_limits(team, link.buffers(), kind), Unit::megabytes_per_second, link,
              true);
    table.add(socket_bandwidth_limits(team, link.buffers()), Unit::megabytes_per_second, link,
              true);
    table.add(fabric.bandwidth(), Unit::megabytes_per_second, link, true);
    table.add({local_copy(team, link.buffers())}, Unit::megabytes_per_second, link, true);
  }
  Link link(bench, team, {kind, 8});
  table.add(rate_limits(team), Unit::per_second, link, false);
  table.add(socket_rate_limits(team), Unit::per_second, link, false);
  const FabricLimits fabric(team, link.buffers(), names);
  table.add(fabric.rate(), Unit::per_second, link, false);
  if (!missing.empty()) bench.report.say("bare libfabric is left out: " + missing);
}

}  // namespace photon::perf
