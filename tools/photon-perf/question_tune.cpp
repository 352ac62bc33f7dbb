// tune: which algorithm is the fastest for each kind and size among these ranks, and a table of
// them that the setting coll_table takes. Each algorithm has a context of its own beside the job's,
// in which the setting of the kind names it; they are measured in turns. A row is what is chosen
// now, beside the best.
#include <fmt/core.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "coll_calls.hpp"
#include "coll_rounds.hpp"
#include "contest.hpp"
#include "failure.hpp"
#include "link.hpp"
#include "questions.hpp"

namespace photon::perf {
namespace {

// A row of the table is another one only where that is faster by so much.
constexpr double kClearlyFaster = 0.97;

// Members of the job in which one algorithm does one kind.
class Candidate {
 public:
  Candidate(const Bench& bench, const CollKind& kind, std::string algorithm)
      : name_(std::move(algorithm)),
        setting_(fmt::format("coll_{}", kind.name)),
        job_(bench.job, bench.options, {setting_.c_str(), name_.c_str()}) {}

  const std::string& name() const noexcept { return name_; }
  Job& job() noexcept { return job_; }
  // Whether these ranks can do it so: some want a power of two of them, or several hosts. All find
  // the same.
  bool is_taken(const CollKind& kind) {
    CollData data(job_, {&kind, sizeof(double), MemoryKind::malloc, false});
    CollOperation(job_, data, CollCall::run).operate();
    ph_coll_counter row{};
    std::size_t count = 0;
    job_.check(ph_coll_counters(job_.context(), &row, 1, &count), "asking for the algorithm");
    return count == 1 && row.algorithm == name_;
  }

 private:
  std::string name_;
  std::string setting_;
  Job job_;
};

struct TableRow {
  std::uint64_t bytes;
  std::string algorithm;
};

// The layout that paths of this job show. A network that was asked for is measured in its place.
std::string layout_of(const Job& job) {
  bool is_shm = true;
  for (ph_rank rank = 0; rank < job.size(); ++rank)
    if (rank != job.rank()) is_shm = is_shm && job.path_to(rank).transport == std::string("shm");
  if (is_shm) return "one_host";
  const auto wanted = job.setting("transport", "auto");
  return wanted == "auto" || wanted == "mixed" ? "several_hosts" : "any";
}

class Tuning {
 public:
  Tuning(Bench& bench, Team& team, const CollKind& kind)
      : bench_(&bench), team_(&team), kind_(&kind) {
    for (std::size_t i = 0;; ++i) {
      const char* const name = ph_coll_algorithm_at(kind.kind, i);
      if (name == nullptr) break;
      auto candidate = std::make_unique<Candidate>(bench, kind, name);
      const bool is_taken = candidate->is_taken(kind);
      if (is_taken) candidates_.push_back(std::move(candidate));
    }
  }
  ~Tuning() {
    team_->barrier();  // nobody leaves a job that another is still in
  }
  Tuning(const Tuning&) = delete;
  Tuning& operator=(const Tuning&) = delete;

  void ask(std::uint64_t size_bytes) {
    const auto shape = CollData::Shape{kind_, size_bytes, bench_->options.memory,
                                       bench_->options.buffers == BufferKind::fresh};
    std::vector<std::unique_ptr<CollData>> all;
    Contest contest;
    contest.size_bytes = size_bytes;
    contest.least = kCollSamples;
    CollData now(bench_->job, shape);
    contest.ours = {fmt::format("{}, as now", kind_->name),
                    [&](std::uint64_t count) { return operate(bench_->job, now, count); }};
    for (const auto& candidate : candidates_) {
      all.push_back(std::make_unique<CollData>(candidate->job(), shape));
      contest.limits.push_back({candidate->name(), [&, at = all.size() - 1](std::uint64_t count) {
                                  return operate(candidates_[at]->job(), *all[at], count);
                                }});
    }
    const auto verdict = compete(*team_, contest, bench_->options.iterations);
    auto row = row_of(*bench_, contest, verdict);
    row.transport = bench_->job.path_to(bench_->job.rank() == 0 ? 1 : 0).transport;
    row.buffers = text_of(bench_->options.buffers);
    if (size_bytes != 0) row.memory = text_of(bench_->options.memory);
    if (team_->index() == 0) keep(size_bytes, verdict);
    bench_->report.add(std::move(row));
  }

  // Rows, each from the middle between two sizes on; those that say what the one before says are
  // left out.
  std::string text(const std::string& layout) const {
    std::string text;
    std::string last;
    std::uint64_t before = 0;
    for (const auto& row : rows_) {
      const auto middle = std::sqrt(static_cast<double>(before) * static_cast<double>(row.bytes));
      const auto from = before == 0 ? 0 : static_cast<std::uint64_t>(middle) + 1;
      if (row.algorithm != last)
        text += fmt::format("{} {} {} {} {}\n", kind_->name, layout, team_->count(),
                            kind_->has_counts ? 0 : from, row.algorithm);
      last = row.algorithm;
      before = row.bytes;
      if (kind_->has_counts) break;  // such kinds are chosen for without their sizes
    }
    return text;
  }

 private:
  Outcome operate(const Job& job, CollData& data, std::uint64_t count) {
    CollOperation operation(job, data, bench_->options.call);
    return coll_rounds(*team_, data, count, [&](std::uint64_t) { operation.operate(); });
  }
  void keep(std::uint64_t size_bytes, const Verdict& verdict) {
    const auto ours = figure_of(verdict.ours, Unit::nanoseconds, size_bytes);
    const bool is_faster = verdict.limit < ours * kClearlyFaster;
    rows_.push_back({size_bytes, is_faster ? verdict.limit_name : chosen_now(size_bytes)});
  }
  std::string chosen_now(std::uint64_t size_bytes) const {
    ph_coll_question question{};
    question.size = sizeof question;
    question.kind = kind_->kind;
    question.members = team_->count();
    question.size_bytes = size_bytes;
    question.several_hosts = layout_of(bench_->job) == "several_hosts";
    ph_coll_answer answer{};
    answer.size = sizeof answer;
    bench_->job.check(ph_coll_choice(bench_->job.context(), &question, &answer),
                      "asking for the algorithm");
    return answer.algorithm;
  }

  Bench* bench_;
  Team* team_;
  const CollKind* kind_;
  std::vector<std::unique_ptr<Candidate>> candidates_;
  std::vector<TableRow> rows_;
};

// At once, not after an hour of measurements, it should be known that it cannot be written.
std::ofstream open_table(const Bench& bench) {
  if (bench.options.table_path.empty() || bench.job.rank() != 0) return {};
  std::ofstream file(bench.options.table_path);
  if (!file) throw Failure(fmt::format("--table: {} cannot be written", bench.options.table_path));
  return file;
}

}  // namespace

void ask_tune(Bench& bench) {
  Team team(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size());
  std::ofstream file = open_table(bench);
  const auto sizes = sizes_or(bench.options, {8, 512, 8192, 65536, 512U << 10, 4U << 20});
  std::string text = "photon-coll-table 1\n";
  text += fmt::format("# {} ranks; kind layout members bytes algorithm\n", team.count());
  for (const auto* const kind : bench.options.kinds) {
    Tuning tuning(bench, team, *kind);
    if (kind->kind == PH_COLL_BARRIER)
      tuning.ask(0);
    else
      for (const auto size_bytes : sizes) tuning.ask(size_bytes);
    text += tuning.text(layout_of(bench.job));
  }
  if (team.index() != 0) return;
  if (bench.options.table_path.empty()) {
    bench.report.say(text);
    return;
  }
  file << text;
  file.close();
  if (!file) throw Failure(fmt::format("--table: {} was not written", bench.options.table_path));
}

}  // namespace photon::perf
