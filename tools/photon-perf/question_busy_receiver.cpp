// busy-receiver: how long the sender waits for its local id when the receiver computes in slices
// between its probes; beside process_vm_writev, which needs nothing of the receiver.
#include <fmt/core.h>

#include "checksum.hpp"
#include "clock.hpp"
#include "contents.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kSlice_ns = 500'000;
constexpr std::uint64_t kPutsDefault = 200;
constexpr std::uint64_t kSizeDefault = 1U << 20;

void compute_for(std::uint64_t duration_ns) {
  const auto end_ns = now_ns() + duration_ns;
  while (now_ns() < end_ns) relax_processor();
}

// Puts meet the receiver anywhere in its slice: a fixed sequence of delays, the same for both.
std::uint64_t delay_of(std::uint64_t put) { return put * 2'654'435'761U % kSlice_ns; }

// The receiver: slices of work, a probe in between, until `count` messages were read.
void receive_between_slices(Link& link, std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t taken = 0; taken < count;) {
    compute_for(kSlice_ns);
    const auto before = taken;
    link.inbox().poll([&](const ph_completion&) {
      sum += checksum_of(link.landing(0), link.size_bytes());
      ++taken;
    });
    if (taken == before) continue;
    link.inbox().post([&] { return link.notify(taken); }, "notifying");
  }
  expect_checksum(link.buffers(), sum, count);
}

// Single operations, not batches: each lasts many microseconds, and the slow ones matter.
Outcome put_each(Link& link, std::uint64_t count) {
  link.team().barrier();
  Outcome outcome;
  if (link.team().index() == 1) receive_between_slices(link, count);
  for (std::uint64_t put = 0; link.team().index() == 0 && put < count; ++put) {
    compute_for(delay_of(put));
    std::uint64_t replies = 0;
    const auto reply = [&](const ph_completion&) { ++replies; };
    const auto locals = link.inbox().locals();
    const auto start_ns = now_ns();
    link.inbox().post([&] { return link.put(link.source(0), 0, {put, put}); }, "putting", reply);
    while (link.inbox().locals() == locals) link.inbox().poll(reply);
    outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns));
    while (replies == 0) link.inbox().poll(reply);
  }
  link.part();
  return outcome;
}

Outcome cma_each(Link& link, std::uint64_t count) {
  auto& team = link.team();
  auto& done = team.area().means[0].arrived[0].line.flag;
  auto& taken = team.area().means[0].taken.line.flag;
  if (team.index() == 0) {
    done.store_release(0);
    taken.store_release(0);
  }
  team.barrier();
  Outcome outcome;
  std::uint64_t sum = 0;
  for (std::uint64_t put = 0; put < count; ++put) {
    if (team.index() == 1) {
      do {
        compute_for(kSlice_ns);
      } while (done.load_acquire() != put + 1);
      sum += checksum_of(link.landing(0), link.size_bytes());
      taken.store_release(put + 1);
      continue;
    }
    compute_for(delay_of(put));
    const auto start_ns = now_ns();
    if (!cma_write(link.buffers(), 0)) throw Failure("process_vm_writev stopped working");
    outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns));
    done.store_release(put + 1);
    spin_until_equal<SpinForm::pause>(taken, put + 1);
  }
  if (team.index() == 1) expect_checksum(link.buffers(), sum, count);
  team.barrier();
  return outcome;
}

}  // namespace

void ask_busy_receiver(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  const auto kind = MemoryKind::malloc;  // to mapped memory the sender writes by itself
  const auto puts = bench.options.iterations == 0 ? kPutsDefault : bench.options.iterations;
  for (const auto size_bytes : sizes_or(bench.options, {kSizeDefault})) {
    Link link(bench, team, {kind, size_bytes, 1});
    Contest contest;
    contest.size_bytes = size_bytes;
    if (cma_works(team, link.buffers())) {
      contest.limits = {
          {"process_vm_writev", [&](std::uint64_t count) { return cma_each(link, count); }}};
    }
    contest.ours = {"local completion", [&](std::uint64_t count) { return put_each(link, count); }};
    auto row = row_of(bench, contest, compete(team, contest, puts), link);
    row.memory = text_of(kind);
    if (!row.limit) row.note += "; process_vm_writev is forbidden here: no limit";
    bench.report.add(std::move(row));
  }
}

}  // namespace photon::perf
