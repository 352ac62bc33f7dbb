#include "options.hpp"

#include <photon/launch.h>

#include <CLI/CLI.hpp>

#include "cores.hpp"

namespace photonrun {
namespace {

constexpr unsigned kMaxRanks = 16384;  // far above what one host carries; catches typing mistakes
constexpr int kUsageStatus = 125;      // as env(1) and timeout(1): the fault was the launcher's

constexpr const char* kExamples = R"(
Examples:
  photonrun program arguments         one rank per usable core
  photonrun -n 4 --label heat2d       four ranks, each output line begins with its rank
  photonrun -n 8 --timeout 60 ./test  ended after a minute, exit status 124
  photonrun --env PHOTON_LOG=debug --bind ./program

The exit status is that of the rank that failed first (128 + signal if a signal killed it, 127 or
126 if the program could not be started, 124 after --timeout, 125 for a mistake in the call).
Standard input goes to rank 0. Signals sent to photonrun reach all ranks.)";

std::string check_assignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return text + " is not NAME=VALUE";
  return {};
}

void describe(CLI::App& app, Options& options) {
  app.prefix_command();
  app.footer(kExamples);
  app.set_version_flag("--version",
                       std::string("photonrun " PHOTON_VERSION_TEXT ", launcher protocol ") +
                           std::to_string(PH_LAUNCH_VERSION));
  app.add_option("-n,--ranks", options.size, "Ranks to start (default: the usable cores)")
      ->type_name("N")
      ->check(CLI::Range(1u, kMaxRanks));
  app.add_flag("--bind", options.bind, "Pin rank i to the i-th usable core, modulo their number");
  app.add_flag("--label", options.label, "Begin each line of output with [rank]");
  app.add_option("--timeout", options.timeout_s, "End the job after so many seconds")
      ->type_name("S")
      ->check(CLI::Range(0.001, 1e9));
  app.add_option("--env", options.environment, "Set a variable in the ranks; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->check(CLI::Validator(check_assignment, ""));
}

}  // namespace

std::variant<Options, int> parse_options(int argc, char** argv) {
  Options options;
  options.size = static_cast<unsigned>(usable_cores().size());
  CLI::App app(
      "photonrun [options] program [arguments...]\n\n"
      "Starts the ranks of a Photon job on this host and ends them together.",
      "photonrun");
  describe(app, options);
  try {
    app.parse(argc, argv);
    options.command = app.remaining();
    if (!options.command.empty() && options.command.front() == "--") {
      options.command.erase(options.command.begin());
    } else if (!options.command.empty() && options.command.front().starts_with("-")) {
      throw CLI::ExtrasError({options.command.front()});
    }
    if (options.command.empty()) throw CLI::RequiredError("program");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageStatus;
  }
  return options;
}

}  // namespace photonrun
