// get-from-barrier: a get without copies by the kernel, from the call until the bytes were read: of
// an owner that polls or runs tasks, and of one that waits in a barrier. The limit is a put of that
// size, one way.
#include <fmt/core.h>

#include "array_rows.hpp"
#include "clock.hpp"
#include "contents.hpp"
#include "link.hpp"
#include "means.hpp"
#include "streams.hpp"
#include "task_arrays.hpp"
#include "tasks.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kFromBarrierBytes = 1 << 20;

// The owner is in ph_barrier, or just before it, when the call is made.
Outcome get_from_barrier(Link& link, std::uint64_t count) {
  begin(link.team());
  Outcome outcome;
  Contents contents(link.buffers(), link.team().index());
  auto& ready = link.team().area().means[1].ready[0].line.flag;
  const auto meet = [&] { link.job().check(ph_barrier(link.job().context()), "in the barrier"); };
  for (std::uint64_t number = 1; number <= count; ++number) {
    if (link.team().index() != 0) {
      contents.write(link.source(0), number);
      ready.store_release(number);
      meet();
      link.inbox().await_remote();  // it was read
      continue;
    }
    spin_until_equal<SpinForm::tight>(ready, number);
    const auto locals = link.inbox().locals();
    const auto start_ns = now_ns();
    link.inbox().post([&] { return link.get(0, {0, 0}); }, "getting");
    link.inbox().await_locals(locals + 1);
    contents.read(link.landing(0), number);
    outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns));
    meet();
  }
  if (link.team().index() == 0) contents.expect_all(count);
  link.part();
  return outcome;
}

}  // namespace

void ask_get_from_barrier(Bench& asked) {
  if (asked.job.size() != 2)
    throw CommonFailure("get-from-barrier is asked of two ranks, which meet in barriers: -n 2");
  Job job(asked.job, asked.options, {"shm_cma", "off"});
  Bench bench{job, asked.block, asked.processors, asked.options, asked.report};
  TaskArrays arrays;
  TaskPes pes(job, {1, TaskArrays::handlers(), &arrays});
  Team team(bench.block, Team::Scope::pair, job.rank(), 2);
  arrays.join(pes.pe(), team.other());
  for (const auto size_bytes : sizes_or(bench.options, {kFromBarrierBytes})) {
    auto shape = fresh_shape(bench, size_bytes);
    shape.slots = 1;
    Link link(bench, team, shape);
    arrays.lend(team, link.buffers(), PH_TASK_PREREG);
    ArrayRows rows(bench, team, size_bytes, [&](Row& row) {
      row.buffers = link.buffers_text();
      row.transport = link.transport();
      row.memory = text_of(bench.options.memory);
    });
    const std::vector<Entry> put = {
        {"ph_put", [&](std::uint64_t count) { return ping_pong(link, count); }}};
    rows.add({"ph_get, owner polls", [&](std::uint64_t count) { return get_each(link, count); }},
             put);
    rows.add({"ph_get, owner in ph_barrier",
              [&](std::uint64_t count) { return get_from_barrier(link, count); }},
             put);
    rows.add({"buffer, owner runs tasks",
              [&](std::uint64_t count) { return arrays.get_each(count, false); }},
             put);
    rows.add({"buffer, owner in ph_task_barrier",
              [&](std::uint64_t count) { return arrays.get_each(count, true); }},
             put);
    arrays.take_back();
  }
}

}  // namespace photon::perf
