// ladder: one configuration with the protocols of the ladder, and what each step gains.
#include <algorithm>
#include <cstdio>

#include "netsim/command/cells.hpp"
#include "netsim/command/files.hpp"
#include "netsim/command/jobs.hpp"
#include "netsim/command/options.hpp"
#include "netsim/command/result_json.hpp"
#include "netsim/command/settings_json.hpp"
#include "netsim/run/keys.hpp"
#include "netsim/run/ladder.hpp"

namespace photon::netsim::command {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::uint32_t kLadderVersion = 1;

struct Run {
  std::string name;  // of its settings
  Settings settings;
  RunResult result;
  std::string failure;
};

struct Climb {
  Ladder ladder;
  std::vector<const Run*> runs;  // of its rungs
  std::vector<Step> steps;

  Time first_ps() const { return runs.front()->result.last_ps; }
  Time last_ps() const { return runs.back()->result.last_ps; }
  double speed_up() const {
    return static_cast<double>(first_ps()) / static_cast<double>(last_ps());
  }
};

// A rung that stands on two ladders is run once.
Result<std::vector<Run>> runs_of(const std::vector<Ladder>& ladders) {
  std::vector<Run> runs;
  for (const Ladder& ladder : ladders) {
    for (const Rung& rung : ladder.rungs) {
      auto name = cell_name(rung.settings);
      if (!name) return Error{name.error()};
      const bool is_there = std::any_of(runs.begin(), runs.end(),
                                        [&name](const Run& run) { return run.name == *name; });
      if (!is_there) runs.push_back({std::move(*name), rung.settings, {}, {}});
    }
  }
  return runs;
}

Climb climb_of(const Ladder& ladder, const std::vector<Run>& runs) {
  Climb climb{ladder, {}, {}};
  std::vector<Time> times;
  for (const Rung& rung : ladder.rungs) {
    const std::string text = complete_text(rung.settings);
    const auto run = std::find_if(runs.begin(), runs.end(), [&text](const Run& one) {
      return complete_text(one.settings) == text;
    });
    climb.runs.push_back(&*run);
    times.push_back(run->result.last_ps);
  }
  climb.steps = steps_of(ladder, times);
  return climb;
}

// "nic.protocol = rvma against rdma-usual, ...": all in which the two sides differ.
std::string difference_of(const Settings& one, const Settings& other) {
  std::string text;
  for (const Key& key : photon::netsim::keys()) {
    const std::string its = text_of(value_of(one, key));
    const std::string others = text_of(value_of(other, key));
    if (its == others) continue;
    if (!text.empty()) text += ", ";
    text.append(key.name).append(" = ").append(its).append(" against ").append(others);
  }
  return text;
}

double ns(Time ps) { return static_cast<double>(ps) / 1e3; }

void print(const Climb& climb) {
  const auto& rungs = climb.ladder.rungs;
  std::printf("%s: when the last rank is done, and what each step gains\n",
              climb.ladder.name.c_str());
  std::printf("  %-24s %15.3f ns\n", rungs[0].name.c_str(), ns(climb.first_ps()));
  for (std::size_t i = 0; i < climb.steps.size(); ++i) {
    const Step& step = climb.steps[i];
    std::printf("  %-24s %15.3f ns %15.3f ns  %s\n", rungs[i + 1].name.c_str(), ns(step.to),
                static_cast<double>(step.gain_ps()) / 1e3, step.effect.c_str());
  }
  const Settings& first = rungs.front().settings;
  const Settings& last = rungs.back().settings;
  std::printf("  %-24s %15s    %15.3f ns\n", "whole", "",
              ns(climb.first_ps()) - ns(climb.last_ps()));
  std::printf("  %.3f times as fast, with %s; all else is equal\n", climb.speed_up(),
              difference_of(last, first).c_str());
  std::printf("  settings %s against %s\n", climb.runs.back()->name.c_str(),
              climb.runs.front()->name.c_str());
}

Json rung_json(const Rung& rung, const Run& run) {
  const RunResult& result = run.result;
  return {{"name", rung.name},
          {"last_ps", result.last_ps},
          {"mean_ps", result.mean_ps},
          {"packets", result.packets},
          {"hops", result.hops},
          {"out_of_order", result.out_of_order},
          {"peak_held_bytes", result.peak_held_bytes},
          {"settings_name", run.name},
          {"settings", settings_json(rung.settings)}};
}

Json climb_json(const Climb& climb) {
  Json rungs = Json::array();
  Json steps = Json::array();
  for (std::size_t i = 0; i < climb.runs.size(); ++i) {
    rungs.push_back(rung_json(climb.ladder.rungs[i], *climb.runs[i]));
  }
  for (const Step& step : climb.steps) {
    steps.push_back({{"effect", step.effect},
                     {"from_ps", step.from},
                     {"to_ps", step.to},
                     {"gain_ps", step.gain_ps()}});
  }
  const Step whole{"", climb.first_ps(), climb.last_ps()};
  return {{"name", climb.ladder.name},
          {"rungs", rungs},
          {"steps", steps},
          {"whole_ps", whole.gain_ps()},
          {"speed_up", climb.speed_up()}};
}

std::string json_of(const std::vector<Climb>& climbs) {
  Json json{{"format", "photon-netsim ladder"},
            {"version", kLadderVersion},
            {"model", kModelVersion},
            {"ladders", Json::array()}};
  for (const Climb& climb : climbs) json["ladders"].push_back(climb_json(climb));
  return file_text(json);
}

// The settings of a ladder, all found good; else what is wrong.
std::string wrong_with(const Document& document, const std::vector<Run>& runs) {
  if (!document.axes.empty()) {
    return document.placed(document.axes[0].key +
                           " is a list in [sweep]: allowed for `ladder` is "
                           "one value; `photon-netsim sweep` takes lists");
  }
  for (const Run& run : runs) {
    const auto simulation = make_simulation(run.settings);
    if (!simulation) return document.placed(simulation.error());
  }
  return {};
}

bool run_all(std::vector<Run>& runs, std::uint32_t jobs) {
  bool is_well = in_parallel(runs.size(), jobs, [&runs](std::size_t i) {
    auto result = photon::netsim::run(runs[i].settings);
    if (!result) {
      runs[i].failure = result.error();
      return;
    }
    runs[i].failure = result->failure;
    runs[i].result = std::move(*result);
  });
  for (const Run& run : runs) {
    if (run.failure.empty()) continue;
    std::fprintf(stderr, "photon-netsim: the run with %s on %s failed: %s\n",
                 run.settings.nic.protocol.c_str(), run.settings.network.routing.c_str(),
                 run.failure.c_str());
    is_well = false;
  }
  return is_well;
}

}  // namespace

int ladder(Arguments arguments) {
  const auto options = options_of(arguments, " --set --threads --jobs --json ");
  if (!options) return refuse(options.error());
  if (options->file.empty()) return refuse("ladder FILE");
  const std::uint32_t jobs = jobs_of(options->jobs);
  if (jobs == 0) return refuse("--jobs " + options->jobs + ": allowed is 1 to 256");
  const auto document = read_document(*options);
  if (!document) return refuse(document.error());
  const std::vector<Ladder> ladders = ladders_of(document->settings);
  auto runs = runs_of(ladders);
  if (!runs) return refuse(document->placed(runs.error()));
  if (const std::string wrong = wrong_with(*document, *runs); !wrong.empty()) return refuse(wrong);
  if (!options->json.empty()) {
    const auto is_writable = check_writable(options->json);
    if (!is_writable) return refuse("--json " + is_writable.error());
  }
  if (!run_all(*runs, jobs)) return 1;
  std::vector<Climb> climbs;
  climbs.reserve(ladders.size());
  for (const Ladder& one : ladders) climbs.push_back(climb_of(one, *runs));
  if (options->json != "-") {
    for (const Climb& climb : climbs) print(climb);
    if (adaptive_routing_of(document->settings.network).empty())
      std::puts("order: the topology has no routing that lets packets overtake");
  }
  if (options->json.empty()) return 0;
  const auto is_written = write_file(options->json, json_of(climbs));
  return is_written ? 0 : refuse("--json " + is_written.error());
}

}  // namespace photon::netsim::command
