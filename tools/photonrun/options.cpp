#include "options.hpp"

#include <photon/launch.h>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "address.hpp"
#include "cores.hpp"
#include "host_handshake.hpp"
#include "job_key.hpp"
#include "remote_command.hpp"
#include "shell_words.hpp"

namespace photonrun {
namespace {

constexpr int kUsageStatus = 125;  // as env(1) and timeout(1): the fault was the launcher's

constexpr const char* kExamples = R"(
Examples:
  photonrun program arguments         one rank per usable core
  photonrun -n 4 --label heat2d       four ranks, each output line begins with its rank
  photonrun -n 8 --timeout 60 ./test  ended after a minute, exit status 124
  photonrun --env PHOTON_LOG=debug --bind ./program

On several hosts, started by ssh:
  photonrun -H node1,node2:4 ./program              rank 0 on node1, ranks 1 to 4 on node2
  photonrun -H node1:8,node2:8 --ssh "ssh -p 2222 -i key" --label ./program

Started by hand on two, with one PHOTON_JOB_KEY in the environment of both (openssl rand -hex 32):
  node1$ photonrun --root node1:7000 -n 4 --here 2 ./program   ranks 0 and 1, waits for the others
  node2$ photonrun --join node1:7000 --here 2 ./program        ranks 2 and 3

The exit status is that of the rank that failed first, not of one that failed because it had lost
that one (128 + signal if a signal killed it, 127 or 126 if the program could not be started, 124
after --timeout, 125 for a mistake in the call). With --keep-going it is the same at the end.
Standard input goes to rank 0. Signals sent to photonrun reach all ranks (sent to one that joined:
the ranks there; one that ends it ends the job).)";

// It would stand among the arguments of other hosts' photonruns, and ranks have no use for it.
constexpr const char* kKeyRefusal =
    "PHOTON_JOB_KEY is not given to ranks: the key travels by itself";

std::string check_assignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return text + " is not NAME=VALUE";
  if (text.substr(0, equals) == kKeyVariable) return kKeyRefusal;
  return {};
}

// To go with a range: a NaN is in all of them.
std::string check_number(const std::string& text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is no number" : "";
}

// The program is what options leave over, so the parser does not know of it.
class ProgramLast : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: photonrun [OPTIONS] PROGRAM [ARGUMENTS...]\n";
  }
};

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
  app.add_flag("--keep-going", options.keep_going,
               "Name a rank that ends, and let the others go on");
  app.add_option("--timeout", options.timeout_s, "End the job after so many seconds")
      ->type_name("S")
      ->check(CLI::Range(0.001, 1e9))
      ->check(CLI::Validator(check_number, ""));
  app.add_option("--env", options.environment, "Set a variable in the ranks; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->check(CLI::Validator(check_assignment, ""));
}

std::string check_place(const std::string& text) { return objection(text); }

void describe_hosts(CLI::App& app, Options& options) {
  const CLI::Validator is_place(check_place, "");
  auto* const root = app.add_option("--root", options.root,
                                    "Wait at this address for photonruns of other hosts to join")
                         ->type_name("HOST:PORT")
                         ->check(is_place);
  app.add_option("--join", options.join, "Join the job of the photonrun there")
      ->type_name("HOST:PORT")
      ->check(is_place)
      ->excludes(root)
      ->excludes("--ranks")
      ->excludes("--keep-going")
      ->excludes("--timeout");
  app.add_option("--here", options.here,
                 "Ranks on this host, with --root or --join (default: the usable cores)")
      ->type_name("N")
      ->check(CLI::Range(1u, kMaxRanks));
  app.add_option("--key-file", options.key_file,
                 "Read the job's key from a file instead of PHOTON_JOB_KEY")
      ->type_name("FILE");
  app.add_option("--wait", options.wait_s,
                 "Wait so many seconds for all to join (default 300), for the root (default 30)")
      ->type_name("S")
      ->check(CLI::Range(0.0, 1e9))
      ->check(CLI::Validator(check_number, ""));
  app.add_option("--seat", options.seat, "Which host of a list this is; --hosts says it")
      ->group("");
}

void describe_starting(CLI::App& app, Options& options, std::string& hosts) {
  app.add_option("-H,--hosts", hosts, "Start the job on these hosts by ssh; SLOTS: ranks, 1")
      ->type_name("HOST[:SLOTS],...")
      ->excludes("--join")
      ->excludes("--here")
      ->excludes("--key-file");
  app.add_option("--ssh", options.ssh, "With -H: the command that reaches a host (PHOTON_SSH; ssh)")
      ->type_name("COMMAND");
  app.add_option("--remote-photonrun", options.remote_photonrun,
                 "With -H: photonrun's path there (the path of this one)")
      ->type_name("PATH");
  app.add_option("--chdir", options.directory, "Start the ranks in this directory")
      ->type_name("DIR");
  app.add_option_function<std::vector<std::string>>(
         "-x",
         [&options](const std::vector<std::string>& names) {
           for (const std::string& name : names) {
             if (name == kKeyVariable) throw CLI::ValidationError("-x", kKeyRefusal);
             const char* const value = std::getenv(name.c_str());
             if (!value) throw CLI::ValidationError("-x", name + " is not set");
             options.environment.push_back(name + "=" + value);
           }
         },
         "Set a variable in the ranks to what it is here; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

// -H: how many ranks, where, and how to get there.
void settle_hosts(const CLI::App& app, Options& options, const std::string& hosts) {
  const char* const variable = std::getenv(kSshVariable);
  const std::string usual = variable ? variable : "ssh";
  ::unsetenv(kSshVariable);  // it is ours: ranks would find that it is no setting of the library
  if (app.count("--hosts") == 0) {
    for (const char* const name : {"--ssh", "--remote-photonrun"}) {
      if (app.count(name) > 0) throw CLI::RequiresError(name, "--hosts");
    }
    return;
  }
  try {
    options.hosts = parse_host_list(hosts);
    if (app.count("--ranks") == 0) options.size = slots_of(options.hosts);
    if (options.ssh.empty()) options.ssh = usual;
    (void)split_words(options.ssh);
  } catch (const std::runtime_error& error) {
    throw CLI::ValidationError(options.hosts.empty() ? "-H" : "--ssh", error.what());
  }
}

void check_hosts(const CLI::App& app, Options& options) {
  const bool several = !options.root.empty() || !options.join.empty() || !options.hosts.empty();
  for (const char* const name : {"--here", "--key-file", "--wait"}) {
    if (!several && app.count(name) > 0) throw CLI::RequiresError(name, "--root or --join");
  }
  if (options.seat > 0 && options.join.empty()) throw CLI::RequiresError("--seat", "--join");
  if (!options.hosts.empty()) return;
  if (!options.root.empty() && app.count("--ranks") == 0) {
    throw CLI::RequiresError("--root", "--ranks");
  }
  if (several && options.here == 0) options.here = static_cast<unsigned>(usable_cores().size());
  if (!options.root.empty() && options.here > options.size) {
    throw CLI::ValidationError("--here", "more ranks than --ranks says that the job has");
  }
}

}  // namespace

std::variant<Options, int> parse_options(int argc, char** argv) {
  Options options;
  options.size = static_cast<unsigned>(usable_cores().size());
  CLI::App app(
      "Starts the ranks of a Photon job on this host, or this host's part of a job on several, "
      "and\n"
      "ends them together.",
      "photonrun");
  app.formatter(std::make_shared<ProgramLast>());
  app.failure_message([](const CLI::App* which, const CLI::Error& error) {
    return "photonrun: " + CLI::FailureMessage::simple(which, error);  // ranks write there, too
  });
  describe(app, options);
  describe_hosts(app, options);
  std::string hosts;
  describe_starting(app, options, hosts);
  try {
    app.parse(argc, argv);
    settle_hosts(app, options, hosts);
    check_hosts(app, options);
    options.command = app.remaining();
    if (!options.command.empty() && options.command.front() == "--") {
      options.command.erase(options.command.begin());
    } else if (!options.command.empty() && options.command.front().starts_with("-")) {
      throw CLI::ExtrasError({options.command.front()});
    }
    if (options.command.empty()) throw CLI::RequiredError("PROGRAM");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageStatus;
  }
  return options;
}

}  // namespace photonrun
