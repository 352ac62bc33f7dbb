// startup: how long a job takes to stand. Each rank measures on its own host, from the start of its
// launcher and from its call of ph_context_create until that returns; then until everyone has heard
// of its two neighbours, which is what a first contact costs with all at once.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "clock.hpp"
#include "inbox.hpp"
#include "questions.hpp"
#include "resources.hpp"
#include "team.hpp"

namespace photon::perf {
namespace {

enum Step : std::size_t { from_launcher, from_create, from_contact, kSteps };
using Steps = std::array<double, kSteps>;  // nanoseconds

constexpr std::array<const char*, kSteps> kModes = {"photonrun to ready", "ph_context_create",
                                                    "neighbours greeted"};

void greet_neighbours(const Job& job) {
  Inbox inbox(job);
  const auto count = job.size();
  std::uint32_t heard = 0;
  const auto take = [&](const ph_completion&) { ++heard; };
  for (const auto neighbour : {(job.rank() + 1) % count, (job.rank() + count - 1) % count})
    inbox.post([&] { return ph_notify(job.context(), neighbour, 1); }, "notifying", take);
  // More ranks than cores is the rule here: who has nothing to do sleeps.
  const ph_query query{PH_ANY_RANK, PH_EITHER, nullptr};
  while (heard < 2) {
    job.check(ph_wait(job.context(), query, PH_FOREVER), "waiting for the neighbours");
    inbox.poll(take);
  }
}

Steps measure(const Job& job) {
  Steps steps{};
  const auto& created = job.created();
  steps[from_launcher] =
      static_cast<double>(parent_age_ns()) - static_cast<double>(now_ns() - created.ready_ns);
  steps[from_create] = static_cast<double>(created.ready_ns - created.begun_ns);
  const auto start_ns = now_ns();
  greet_neighbours(job);
  steps[from_contact] = static_cast<double>(now_ns() - start_ns);
  return steps;
}

}  // namespace

void ask_startup(Bench& bench) {
  Team crew(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size());
  crew.exchange(measure(bench.job));
  for (std::size_t step = 0; step < kSteps; ++step) {
    std::vector<double> each_ns;
    for (std::uint32_t rank = 0; rank < crew.count(); ++rank)
      each_ns.push_back(std::max(1.0, crew.card_of<Steps>(rank)[step]));
    Row row;
    row.question = bench.options.question;
    row.transport = bench.job.path_to(bench.job.rank() == 0 ? 1 : 0).transport;
    row.mode = kModes[step];
    row.iterations = crew.count();
    row.note = fmt::format("the last of {} ranks after {:.3f} s", crew.count(),
                           *std::max_element(each_ns.begin(), each_ns.end()) / 1e9);
    row.latency = summarize(std::move(each_ns));
    bench.report.add(std::move(row));
  }
}

}  // namespace photon::perf
