// run: one simulation with the settings of a file and of --set key=value. keys: what can be set.
#include <cstdio>
#include <string>

#include "netsim/command/case.hpp"
#include "netsim/command/files.hpp"
#include "netsim/command/options.hpp"
#include "netsim/command/progress.hpp"
#include "netsim/command/stopwatch.hpp"
#include "netsim/run/keys.hpp"

namespace photon::netsim::command {
namespace {

Result<Document> document_of(const Options& options) {
  if (!options.case_.empty()) {
    const auto text = read_file(options.case_);
    if (!text) return Error{text.error()};
    auto settings = settings_of_case(options.case_, *text);
    if (!settings) return Error{settings.error()};
    Document document;
    document.settings = std::move(*settings);
    return changed(std::move(document), options);
  }
  auto document = read_document(options);
  if (document && !document->axes.empty()) {
    return Error{document->placed(document->axes[0].key + " is a list in [sweep]: allowed for " +
                                  "`run` is one value; `photon-netsim sweep` takes lists")};
  }
  return document;
}

Result<RunResult> run_and_show(const Settings& settings, bool is_audited) {
  auto simulation = make_simulation(settings);
  if (!simulation) return Error{simulation.error()};
  if (is_audited) (*simulation)->audit();
  Progress progress;
  return (*simulation)->run(&progress);
}

void print(const RunResult& result, const Speed& speed) {
  const auto number = [](auto value) { return static_cast<double>(value); };
  std::printf("last rank done    %.3f ns\n", number(result.last_ps) / 1e3);
  std::printf("mean rank done    %.3f ns\n", result.mean_ps / 1e3);
  std::printf("packets           %.0f\n", number(result.packets));
  std::printf("packet-hops       %.0f\n", number(result.hops));
  std::printf("out of order      %.4f of packets\n",
              result.packets == 0 ? 0 : number(result.out_of_order) / number(result.packets));
  std::printf("bytes on hosts' links  %.0f out, %.0f in\n", number(result.bytes_from_cards),
              number(result.bytes_to_cards));
  std::printf("packet-hops/s     %.3f million (%.3f s, %.3f s of processors, %.2f events a hop)\n",
              number(result.hops) / speed.seconds / 1e6, speed.seconds, speed.cpu_seconds,
              result.hops == 0 ? 0 : number(result.events) / number(result.hops));
  std::printf("memory            %.1f MB at most; of one card %.0f B, held %.0f B\n",
              number(speed.memory_bytes) / 1e6, number(result.peak_card_bytes),
              number(result.peak_held_bytes));
}

}  // namespace

int run(Arguments arguments) {
  const auto options = options_of(arguments, " --case --set --threads --json --check ");
  if (!options) return refuse(options.error());
  if (!options->file.empty() && !options->case_.empty()) return refuse("give FILE or --case");
  const auto document = document_of(*options);
  if (!document) return refuse(document.error());
  const Settings& settings = document->settings;
  if (!options->json.empty()) {
    const auto is_writable = check_writable(options->json);
    if (!is_writable) return refuse("--json " + is_writable.error());
  }
  const Stopwatch watch;
  const auto result = run_and_show(settings, options->is_audited);
  if (!result) return refuse(document->placed(result.error()));
  if (!result->note.empty()) std::fprintf(stderr, "photon-netsim: %s\n", result->note.c_str());
  if (!result->failure.empty()) {
    std::fprintf(stderr, "photon-netsim: the run failed: %s\n", result->failure.c_str());
    return 1;
  }
  const Speed speed = watch.speed();
  if (options->json != "-") print(*result, speed);
  if (options->json.empty()) return 0;
  const auto is_written = write_file(options->json, result_json(settings, *result, speed));
  return is_written ? 0 : refuse("--json " + is_written.error());
}

namespace {

void print_as_markdown(const Key& key) {
  const std::string standard = text_of(value_of(Settings{}, key));
  std::printf("| `%s` | %s | %s | %s | %s |\n", std::string(key.name).c_str(),
              std::string(key.unit).c_str(), standard.c_str(), allowed_text(key).c_str(),
              std::string(key.meaning).c_str());
}

}  // namespace

int keys(Arguments arguments) {
  if (!arguments.empty()) {
    if (arguments.size() > 1 || std::string_view(arguments[0]) != "--markdown") {
      return refuse("keys " + std::string(arguments[0]) + ": allowed is --markdown");
    }
    std::puts("| key | unit | default | allowed | meaning |\n|---|---|---|---|---|");
    for (const Key& key : photon::netsim::keys()) print_as_markdown(key);
    return 0;
  }
  std::printf("%-26s %-8s %-10s %s\n", "name", "unit", "default", "meaning; allowed");
  for (const Key& key : photon::netsim::keys()) {
    const std::string meaning(key.meaning);
    std::printf("%-26s %-8s %-10s %s; %s\n", std::string(key.name).c_str(),
                std::string(key.unit).c_str(), text_of(value_of(Settings{}, key)).c_str(),
                meaning.c_str(), allowed_text(key).c_str());
  }
  return 0;
}

}  // namespace photon::netsim::command
