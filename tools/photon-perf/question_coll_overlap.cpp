// coll-overlap: how much of a collective operation is hidden behind what the caller does meanwhile,
// as OSU's tests ask it: first the operation alone; then begin, so long a time of computing or of
// sleep, and wait. The progress thread is on. What the caller still sees stands beside the whole.
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "clock.hpp"
#include "coll_calls.hpp"
#include "coll_rounds.hpp"
#include "link.hpp"
#include "questions.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kUnmeasured = 10;
constexpr std::uint64_t kOverlapIterations = 400;

// Arithmetic that needs no memory, until that time has passed. A look at the clock costs some
// 20 ns.
void compute_ns(std::uint64_t duration_ns) noexcept {
  const auto end_ns = now_ns() + duration_ns;
  double sum = 1;
  while (now_ns() < end_ns)
    for (int i = 0; i < 64; ++i) sum = sum * 0.999 + 0.001;
  if (sum > 2) sched_yield();  // never: so that the loop stays
}

struct Times {
  double alone_ns = 0;    // p50 of the operation by itself
  double visible_ns = 0;  // p50 of what the caller waits for beside its own work
  double visible_p99_ns = 0;
  double visible_min_ns = 0;
  double overlap() const noexcept {
    return alone_ns <= 0 ? 0 : std::clamp(100 * (1 - visible_ns / alone_ns), 0.0, 100.0);
  }
};

class Overlap {
 public:
  Overlap(Bench& bench, Team& team, CollData& data)
      : options_(&bench.options),
        team_(&team),
        data_(&data),
        operation_(bench.job, data,
                   bench.options.call == CollCall::start ? CollCall::start : CollCall::begin) {}

  // Of the member that waits the longest.
  Times measure() {
    data_->renew();
    for (std::uint64_t i = 0; i < kUnmeasured; ++i) alone_ns();
    Times times;
    times.alone_ns = median([&] { return alone_ns(); }).p50_ns;
    const auto length_ns = static_cast<std::uint64_t>(times.alone_ns);
    const Latency visible = median([&] { return visible_ns(length_ns); });
    times.visible_ns = visible.p50_ns;
    times.visible_p99_ns = visible.p99_ns;
    times.visible_min_ns = visible.min_ns;
    data_->check();
    team_->exchange(times);
    Times worst = times;
    for (std::uint32_t i = 0; i < team_->count(); ++i) {
      const auto other = team_->card_of<Times>(i);
      if (other.overlap() < worst.overlap()) worst = other;
    }
    return worst;
  }
  std::uint64_t iterations() const noexcept {
    return options_->iterations == 0 ? kOverlapIterations : options_->iterations;
  }

 private:
  template <class Sample>
  Latency median(Sample sample) {
    std::vector<double> all;
    for (std::uint64_t i = 0; i < iterations(); ++i) all.push_back(sample());
    return *summarize(std::move(all));
  }
  // All begin together, and each looks at its own clock.
  void meet() {
    if (data_->is_fresh()) data_->renew();
    coll_meet(*team_);
  }
  double alone_ns() {
    meet();
    const auto start_ns = now_ns();
    operation_.post();
    operation_.wait();
    const auto end_ns = now_ns();
    if (data_->is_fresh()) data_->check();
    return static_cast<double>(end_ns - start_ns);
  }
  double visible_ns(std::uint64_t length_ns) {
    meet();
    const auto start_ns = now_ns();
    operation_.post();
    const auto begun_ns = now_ns();
    if (options_->is_asleep)
      sleep_ns(length_ns);
    else
      compute_ns(length_ns);
    const auto done_ns = now_ns();
    operation_.wait();
    const auto end_ns = now_ns();
    if (data_->is_fresh()) data_->check();
    return static_cast<double>((begun_ns - start_ns) + (end_ns - done_ns));
  }

  const Options* options_;
  Team* team_;
  CollData* data_;
  CollOperation operation_;
};

void add_row(Bench& bench, Team& team, const CollKind& kind, std::uint64_t size_bytes) {
  CollData data(bench.job, {&kind, size_bytes, bench.options.memory,
                            bench.options.buffers == BufferKind::fresh});
  Overlap overlap(bench, team, data);
  const Times times = overlap.measure();
  Row row;
  row.question = bench.options.question;
  row.transport = bench.job.path_to(bench.job.rank() == 0 ? 1 : 0).transport;
  row.mode = fmt::format("{}, {}", kind.name, bench.options.is_asleep ? "asleep" : "computing");
  row.buffers = text_of(bench.options.buffers);
  if (size_bytes != 0) row.memory = text_of(bench.options.memory);
  row.size_bytes = size_bytes;
  row.iterations = overlap.iterations();
  row.latency = Latency{times.visible_min_ns, times.visible_ns, times.visible_p99_ns};
  row.limit = times.alone_ns;
  row.limit_ratio = times.visible_ns / times.alone_ns;
  row.limit_name = "the operation alone";
  row.note =
      fmt::format("{} ranks; overlap {:.1f} %; {}", team.count(), times.overlap(), row.limit_name);
  bench.report.add(std::move(row));
}

}  // namespace

void ask_coll_overlap(Bench& bench) {
  Team team(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size());
  const auto sizes = sizes_or(bench.options, {8, 4096, 64U << 10, 512U << 10, 4U << 20});
  for (const auto* const kind : bench.options.kinds) {
    if (kind->kind == PH_COLL_BARRIER) {
      add_row(bench, team, *kind, 0);
      continue;
    }
    for (const auto size_bytes : sizes) add_row(bench, team, *kind, size_bytes);
  }
}

}  // namespace photon::perf
