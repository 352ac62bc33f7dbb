// task-registration: one way of a buffer that is made for one message, read by the receiver and
// given back when it was read (PH_TASK_DEREG), beside one that was registered once. Both
// descriptors travel in a message.
#include <fmt/core.h>

#include "array_rows.hpp"
#include "link.hpp"
#include "task_arrays.hpp"
#include "tasks.hpp"

namespace photon::perf {

void ask_task_registration(Bench& bench) {
  TaskArrays arrays;
  TaskPes pes(bench.job, {1, TaskArrays::handlers(), &arrays});  // all processes have PEs
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  arrays.join(pes.pe(), team.other());
  for (const auto size_bytes : sizes_or(bench.options, {4096, 65536, 1 << 20})) {
    auto shape = fresh_shape(bench, size_bytes);
    shape.slots = 1;
    Link link(bench, team, shape);
    arrays.lend(team, link.buffers(), PH_TASK_REG);
    ArrayRows rows(bench, team, size_bytes, [&](Row& row) {
      row.buffers = link.buffers_text();
      row.transport = link.transport();
      row.memory = text_of(bench.options.memory);
      if (row.latency && row.limit)
        row.note += fmt::format("; {:+.2f} us", (row.latency->p50_ns - *row.limit) / 1000);
    });
    rows.add(
        {"made, sent once and given back",
         [&](std::uint64_t count) { return arrays.offer(count, true); }},
        {{"registered once", [&](std::uint64_t count) { return arrays.offer(count, false); }}});
    arrays.take_back();
  }
}

}  // namespace photon::perf
