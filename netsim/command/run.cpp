// run: one simulation with settings given as --set key=value. keys: what can be set.
#include <cstdio>
#include <string>

#include "netsim/command/command.hpp"
#include "netsim/run/simulation.hpp"

namespace photon::netsim::command {
namespace {

// The settings that the arguments ask for; or the status is 2 and it was said what is wrong.
Result<Settings> settings_of(Arguments arguments) {
  Settings settings;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word != "--set" || i + 1 == arguments.size()) {
      return Error{"unknown argument " + std::string(word) + ": allowed is --set key=value"};
    }
    const std::string_view pair = arguments[++i];
    const std::size_t sign = pair.find('=');
    if (sign == std::string_view::npos) {
      return Error{"--set " + std::string(pair) + ": allowed is key=value"};
    }
    auto changed = with(settings, pair.substr(0, sign), pair.substr(sign + 1));
    if (!changed) return Error{changed.error()};
    settings = std::move(*changed);
  }
  return settings;
}

void print(const RunResult& result, double seconds, double processors) {
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
              number(result.hops) / seconds / 1e6, seconds, processors,
              result.hops == 0 ? 0 : number(result.events) / number(result.hops));
}

}  // namespace

int run(Arguments arguments) {
  const auto settings = settings_of(arguments);
  if (!settings) {
    std::fprintf(stderr, "photon-netsim: %s\n", settings.error().c_str());
    return 2;
  }
  const double start = wall_seconds();
  const double start_cpu = cpu_seconds();
  const auto result = photon::netsim::run(*settings);
  if (!result) {
    std::fprintf(stderr, "photon-netsim: %s\n", result.error().c_str());
    return 2;
  }
  if (!result->note.empty()) std::fprintf(stderr, "photon-netsim: %s\n", result->note.c_str());
  if (!result->failure.empty()) {
    std::fprintf(stderr, "photon-netsim: the run failed: %s\n", result->failure.c_str());
    return 1;
  }
  print(*result, wall_seconds() - start, cpu_seconds() - start_cpu);
  return 0;
}

int keys() {
  for (const Key& key : photon::netsim::keys()) {
    std::printf("%-26.*s %-6.*s %.*s\n", static_cast<int>(key.name.size()), key.name.data(),
                static_cast<int>(key.unit.size()), key.unit.data(),
                static_cast<int>(key.meaning.size()), key.meaning.data());
  }
  return 0;
}

}  // namespace photon::netsim::command
