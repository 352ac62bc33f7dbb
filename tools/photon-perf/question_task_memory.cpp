// task-memory: by how much the resident memory of the side that grew most exceeds both buffers
// while an array goes to and fro, as a buffer of libphoton_task and as a message.
#include <fmt/core.h>

#include <algorithm>

#include "link.hpp"
#include "resources.hpp"
#include "task_arrays.hpp"
#include "tasks.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kGoneBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kGrowthBar_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kTripsDefault = 8;

// The most of both members. Buffers were touched before.
template <class Trips>
std::uint64_t growth_of(Team& team, Trips trips) {
  const auto before_bytes = resident_bytes();
  trips();
  team.exchange(std::max(peak_resident_bytes(), before_bytes) - before_bytes);
  return std::max(team.card_of<std::uint64_t>(0), team.card_of<std::uint64_t>(1));
}

}  // namespace

void ask_task_memory(Bench& bench) {
  if (bench.options.sizes.size() > 1)  // the most of a process does not become less again
    throw CommonFailure("task-memory is asked of one size at a time");
  TaskArrays arrays;
  TaskPes pes(bench.job, {1, TaskArrays::handlers(), &arrays});  // all processes have PEs
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  arrays.join(pes.pe(), team.other());
  const auto trips = bench.options.iterations == 0 ? kTripsDefault : bench.options.iterations;
  for (const auto size_bytes : sizes_or(bench.options, {kGoneBytes})) {
    auto shape = fresh_shape(bench, size_bytes);
    shape.slots = 1;
    Link link(bench, team, shape);
    arrays.lend(team, link.buffers(), PH_TASK_REG);
    const auto add = [&](const char* mode, bool has_bar, auto way) {
      Row row;
      row.question = bench.options.question;
      row.transport = link.transport();
      row.mode = mode;
      row.memory = text_of(bench.options.memory);
      row.buffers = link.buffers_text();
      row.size_bytes = growth_of(team, way);
      row.iterations = trips;
      if (has_bar) {
        row.limit = static_cast<double>(kGrowthBar_bytes);
        row.limit_name = "bar";
        row.limit_ratio = static_cast<double>(row.size_bytes) / *row.limit;
      }
      row.note = fmt::format("beyond the buffers, at most, while {} bytes went to and fro {} times",
                             size_bytes, trips);
      bench.report.add(std::move(row));
    };
    add("put of a buffer", true, [&] { arrays.put(trips); });
    add("get of a buffer", true, [&] { arrays.get(trips); });
    add("message", false, [&] { arrays.pack(trips); });
    arrays.take_back();
  }
}

}  // namespace photon::perf
