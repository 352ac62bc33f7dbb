// photon-perf: one question about speed a run, each figure beside the machine's own limit.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <vector>

#include "failure.hpp"
#include "job.hpp"
#include "plot.hpp"
#include "questions.hpp"
#include "team.hpp"

namespace photon::perf {
namespace {

// Memory of the limit programs: a window of the largest messages. Untouched pages cost nothing.
std::size_t data_bytes(const Options& options) {
  std::uint64_t largest = std::uint64_t{4} << 20;
  for (const auto size : options.sizes) largest = std::max(largest, size);
  return kWindow * largest;
}

SharedBlock share_block(Job& job, const Options& options) {
  const auto bytes = data_bytes(options);
  SharedBlock::Ticket mine{-1, -1};
  std::vector<SharedBlock::Ticket> all(job.size());
  std::vector<SharedBlock> created;
  if (job.rank() == 0) {
    created.push_back(SharedBlock::create(bytes));
    mine = created.front().ticket();
  }
  job.check(ph_allgather(job.context(), &mine, all.data(), sizeof mine), "exchanging set-up");
  SharedBlock block =
      job.rank() == 0 ? std::move(created.front()) : SharedBlock::attach(all[0], bytes);
  job.check(ph_barrier(job.context()), "waiting for all ranks at set-up");
  block.close_descriptor();
  return block;
}

void require_ranks(const Question& question, const Job& job) {
  if (job.size() > kMaxTeam) {
    throw CommonFailure(
        fmt::format("{} ranks: photon-perf measures at most {}", job.size(), kMaxTeam));
  }
  if (job.size() >= question.ranks_min) return;
  throw CommonFailure(fmt::format(
      "{} needs at least {} ranks, this job has {}: start it as "
      "photonrun -n {} photon-perf {}",
      question.name, question.ranks_min, job.size(), question.ranks_min, question.name));
}

struct Outputs {
  Report report;
  Plot plot;
};

// Only rank 0 writes, but all must know if it cannot, so that none waits for it.
Outputs open_outputs(Job& job, const Options& options) {
  std::optional<Outputs> outputs;
  std::string trouble;
  try {
    const bool speaks = job.rank() == 0;
    outputs.emplace(Report(speaks, options.json_path), Plot(speaks ? options.plot_path : ""));
  } catch (const Failure& failure) {
    trouble = failure.what();
  }
  const char mine = outputs ? 0 : 1;
  std::vector<char> all(job.size());
  job.check(ph_allgather(job.context(), &mine, all.data(), sizeof mine), "opening the outputs");
  if (all[0] != 0) throw CommonFailure(trouble);
  return std::move(*outputs);
}

void run(std::optional<Job>& place, const Options& options) {
  const Processors processors;
  const auto& question = *find_question(options.question);
  auto& job = place.emplace(options);
  require_ranks(question, job);
  const auto facts = facts_of(job, processors);
  auto [report, plot] = open_outputs(job, options);
  auto block = share_block(job, options);
  processors.bind(job.rank());
  Bench bench{job, block, processors, options, report};
  question.ask(bench);
  Team(block, Team::Scope::job, job.rank(), job.size()).barrier_asleep();
  report.write_json(facts);
  job.finish();
  plot.draw(report.json(facts));  // the others may leave meanwhile
}

}  // namespace
}  // namespace photon::perf

int main(int argc, char** argv) {
  const auto parsed = photon::perf::parse_options(argc, argv);
  if (!parsed.options) return parsed.exit_status;
  // Outlives the message: peers fail when this rank leaves, and that ends the job.
  std::optional<photon::perf::Job> job;
  try {
    photon::perf::run(job, *parsed.options);
    return 0;
  } catch (const std::exception& failure) {
    const bool is_common = dynamic_cast<const photon::perf::CommonFailure*>(&failure) != nullptr;
    if (is_common && !photon::perf::is_speaker()) return 0;
    std::fflush(stdout);
    fmt::print(stderr, "photon-perf: {}\n", failure.what());
    return 1;
  }
}
