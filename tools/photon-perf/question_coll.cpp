// coll: one collective operation of all ranks, by each kind and size that was asked for. With two
// ranks of a host its limit is what two bare processes take for the same result in the same
// buffers; with more ranks than processors, for small blocks, that each of them runs once.
#include <fmt/core.h>

#include "coll_calls.hpp"
#include "coll_rounds.hpp"
#include "limit_coll.hpp"
#include "link.hpp"
#include "questions.hpp"

namespace photon::perf {
namespace {

constexpr double kStartBar_ns = 300;

Outcome operate_each(const Job& job, Team& team, CollData& data, CollCall call,
                     std::uint64_t count) {
  CollOperation operation(job, data, call);
  return coll_rounds(team, data, count, [&](std::uint64_t) { operation.operate(); });
}

// What ph_coll_start() takes by itself, at the member where that is longest.
Outcome start_alone(const Job& job, Team& team, CollData& data, std::uint64_t count) {
  CollOperation operation(job, data, CollCall::start);
  const auto samples = coll_samples(count, data.is_fresh());
  SpanBook book(team, samples.each, clock_cost_ns() * static_cast<double>(samples.each));
  if (!data.is_fresh()) data.renew();
  for (std::uint64_t sample = 0; sample < samples.count; ++sample) {
    if (data.is_fresh()) data.renew();
    coll_meet(team);
    CollSpan span{0, 0};
    for (std::uint64_t i = 0; i < samples.each; ++i) {
      const auto start_ns = now_ns();
      operation.post();
      span.end_ns += now_ns() - start_ns;
      operation.wait();
    }
    if (data.is_fresh()) data.check();
    book.add(span);
  }
  if (!data.is_fresh()) data.check();
  return book.close();
}

class CollTable {
 public:
  CollTable(Bench& bench, Team& team)
      : bench_(&bench), team_(&team), is_shm_(transport() == "shm") {}

  void add(const CollKind& kind, std::uint64_t size_bytes) {
    const auto& options = bench_->options;
    CollData data(bench_->job, {&kind, size_bytes, options.memory, is_fresh()});
    Buffers buffers;
    if (team_->count() == 2) buffers = coll_buffers(*team_, data);
    Contest contest;
    contest.size_bytes = size_bytes;
    contest.least = kCollSamples;  // what is not timed fills the time of a run
    contest.ours = {fmt::format("{}, {}", kind.name, text_of(options.call)),
                    [&](std::uint64_t count) {
                      return operate_each(bench_->job, *team_, data, options.call, count);
                    }};
    if (options.has_limits) contest.limits = limits(data, buffers);
    report(contest, {});
    if (options.call != CollCall::start) return;
    contest.limits.clear();
    contest.ours = {fmt::format("{}, start alone", kind.name), [&](std::uint64_t count) {
                      return start_alone(bench_->job, *team_, data, count);
                    }};
    report(contest, kStartBar_ns);
  }

 private:
  bool is_fresh() const noexcept { return bench_->options.buffers == BufferKind::fresh; }
  std::string transport() const {
    return bench_->job.path_to(bench_->job.rank() == 0 ? 1 : 0).transport;
  }

  std::vector<Entry> limits(CollData& data, const Buffers& buffers) {
    std::vector<Entry> all;
    if (team_->count() > bench_->processors.count()) {
      if (data.size_bytes() <= kCollLineBytes) all.push_back(coll_turn_limit(*team_));
      return all;
    }
    if (team_->count() != 2 || !is_shm_) return all;
    const auto take = [&](std::vector<Entry> some) {
      for (auto& entry : some) all.push_back(std::move(entry));
    };
    take(coll_line_limits(*team_, data));
    take(coll_bcast_limits(*team_, data, buffers, bench_->options.memory));
    take(coll_allreduce_limits(*team_, data, buffers));
    return all;
  }

  void report(const Contest& contest, std::optional<double> bar_ns) {
    const auto verdict = compete(*team_, contest, bench_->options.iterations);
    auto row = row_of(*bench_, contest, verdict);
    row.transport = transport();
    row.buffers = text_of(bench_->options.buffers);
    if (contest.size_bytes != 0) row.memory = text_of(bench_->options.memory);
    if (bar_ns && row.latency) {
      row.limit = bar_ns;
      row.limit_ratio = row.latency->p50_ns / *bar_ns;
      row.limit_name = "the bar";
    }
    row.note = fmt::format("{} ranks; ", team_->count()) +
               (row.limit_name.empty() ? "no bare limit" : row.limit_name) +
               row.note.substr(verdict.limit_name.size());
    bench_->report.add(std::move(row));
  }

  Bench* bench_;
  Team* team_;
  bool is_shm_;
};

// Ranks are connected, and have mapped each other's memory, when they have met.
void meet_once(Job& job, Team& team) {
  const CollData nothing(job, {find_coll_kind("barrier"), 0, {}, false});
  CollOperation(job, nothing, CollCall::run).operate();
  team.barrier();
}

}  // namespace

void ask_coll(Bench& bench) {
  Team team(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size());
  meet_once(bench.job, team);
  CollTable table(bench, team);
  const auto sizes = sizes_or(bench.options, {8, 64, 1024, 8192, 65536, 512U << 10, 4U << 20});
  for (const auto* const kind : bench.options.kinds) {
    if (kind->kind == PH_COLL_BARRIER) {
      table.add(*kind, 0);
      continue;
    }
    for (const auto size_bytes : sizes) table.add(*kind, size_bytes);
  }
}

}  // namespace photon::perf
