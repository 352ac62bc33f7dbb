// task-zero-copy: one way of an array from one process to another, by libphoton_task: a buffer that
// is put or got where it is, beside a message into which it is packed and from which it is copied.
// Sources are rewritten before each message, and every byte is read by the owner of the landing.
// Limits, in the same run and of the same memory: the better of ph_put and ph_get; and of whatever
// copies twice or bypasses the library, the better of the two buffers, so that a ratio there says
// how many times faster zero-copy is.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "array_rows.hpp"
#include "contents.hpp"
#include "link.hpp"
#include "means.hpp"
#include "ping_pong.hpp"
#include "streams.hpp"
#include "task_arrays.hpp"
#include "tasks.hpp"

namespace photon::perf {
namespace {

enum class ArrayId : std::uint64_t { ready = 1, left = 2 };

// As ping_pong(), but whoever is told that a source is ready gets it.
Outcome get_ping_pong(Link& link, std::uint64_t round_trips) {
  Contents contents(link.buffers(), link.team().index());
  begin(link.team());
  auto& inbox = link.inbox();
  const auto locals_before = inbox.locals();
  std::uint64_t ready = 0;
  std::uint64_t left = 0;
  const auto take = [&](const ph_completion& completion) {
    ++(completion.id == static_cast<std::uint64_t>(ArrayId::ready) ? ready : left);
  };
  const auto await = [&](const std::uint64_t& met, std::uint64_t wanted) {
    while (met < wanted) inbox.poll(take);
  };
  const auto fetch = [&](std::uint64_t number) {
    await(ready, number);
    const ph_u64_ids ids{0, static_cast<std::uint64_t>(ArrayId::left)};
    inbox.post([&] { return link.get(0, ids); }, "getting", take);
    while (inbox.locals() < locals_before + number) inbox.poll(take);
    contents.read(link.landing(0), number);
  };
  auto outcome = half_trips(link.team(), contents, round_trips,
                            PingPong{[&](std::uint64_t number) {
                                       await(left, number - 1);
                                       contents.write(link.source(0), number);
                                     },
                                     [&](std::uint64_t) {
                                       const auto id = static_cast<std::uint64_t>(ArrayId::ready);
                                       inbox.post([&] { return link.notify(id); },
                                                  "telling of a source", take);
                                     },
                                     fetch});
  const auto total = batches_for(round_trips).total();
  await(left, total);
  contents.expect_all(total);
  link.part();
  return outcome;
}

// PEs that keep their messages, and PEs that have each from the heap.
struct ArrayPes {
  explicit ArrayPes(Job& job)
      : pes(job, {1, TaskArrays::handlers(), &kept}),
        heap_pes(job, {1, TaskArrays::handlers(), &heap, nullptr, 0, nullptr, false}) {
    const auto other = 1 - job.rank();  // only the first two measure
    kept.join(pes.pe(), other);
    heap.join(heap_pes.pe(), other);
  }
  TaskArrays kept;
  TaskArrays heap;
  TaskPes pes;
  TaskPes heap_pes;
};

// How the kernel and the library have these two reach each other.
std::string_view way_of(const Link& link, MemoryKind kind) {
  const auto path = link.job().path_to(link.peer());
  if (link.transport() != "shm") return "by the network";
  if (path.arena_mapped != 0 && kind == MemoryKind::alloc) return "mapped";
  return path.cma != 0 ? "CMA" : "served";
}

Link::Shape array_shape(const Bench& bench, std::uint64_t size_bytes) {
  auto shape = fresh_shape(bench, size_bytes);
  shape.slots = 1;
  return shape;
}

struct BareForms {  // that were the best ones of the size before
  std::string ring;
  std::string kernel;
};

// The rows of one size: how many times as long a message takes as a buffer.
double add_arrays(Bench& bench, Team& team, ArrayPes& pes, BareForms& best,
                  std::uint64_t size_bytes) {
  Link link(bench, team, array_shape(bench, size_bytes));
  pes.kept.lend(team, link.buffers(), PH_TASK_PREREG);
  pes.heap.lend(team, link.buffers(), PH_TASK_PREREG);
  ArrayRows rows(bench, team, size_bytes, [&](Row& row) {
    row.buffers = link.buffers_text();
    row.transport = link.transport();
    row.memory = text_of(bench.options.memory);
    row.note += fmt::format("; {}", way_of(link, bench.options.memory));
  });
  const std::vector<Entry> library = {
      {"ph_put", [&](std::uint64_t count) { return ping_pong(link, count); }},
      {"ph_get", [&](std::uint64_t count) { return get_ping_pong(link, count); }}};
  const std::vector<Entry> buffers = {
      {"put of a buffer", [&](std::uint64_t count) { return pes.kept.put(count); }},
      {"get of a buffer", [&](std::uint64_t count) { return pes.kept.get(count); }}};
  for (const Entry& buffer : buffers) rows.add(buffer, library);
  const double ratio =
      rows.add({"message", [&](std::uint64_t count) { return pes.kept.pack(count); }}, buffers);
  rows.add({"message of the heap", [&](std::uint64_t count) { return pes.heap.pack(count); }},
           buffers);
  const auto bare = latency_limits(team, link.buffers(), bench.options.memory);
  rows.add_best_of(bare, "two-copy ring", buffers, best.ring);
  rows.add_best_of(bare, "process_vm_readv", buffers, best.kernel);
  pes.kept.take_back();
  pes.heap.take_back();
  return ratio;
}

}  // namespace

void ask_task_zero_copy(Bench& bench) {
  ArrayPes pes(bench.job);  // all processes have PEs
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  auto sizes = sizes_or(bench.options, {64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 131072,
                                        262144, 524288, 1 << 20, 4 << 20, 16 << 20, 64 << 20});
  std::sort(sizes.begin(), sizes.end());
  std::vector<SizeRatio> ratios;
  BareForms best;
  for (const auto size_bytes : sizes)
    ratios.push_back({size_bytes, add_arrays(bench, team, pes, best, size_bytes)});
  say_threshold(bench, ratios);
}

}  // namespace photon::perf
