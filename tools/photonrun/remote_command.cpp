#include "remote_command.hpp"

#include <fmt/format.h>
#include <photon/launch.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "job_key.hpp"
#include "shell_words.hpp"

namespace photonrun {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// PHOTON_...=VALUE of our environment that ranks anywhere are to have; not what is about this
// process (a rank of an outer job) or is secret.
Words settings() {
  constexpr std::array kOurs{kKeyVariable, kSshVariable, PH_LAUNCH_FD_VARIABLE,
                             PH_LAUNCH_RANK_VARIABLE, PH_LAUNCH_SIZE_VARIABLE};
  Words found;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view assignment = *at;
    const std::string_view name = assignment.substr(0, assignment.find('='));
    const bool is_ours =
        std::ranges::any_of(kOurs, [name](const char* ours) { return name == ours; });
    if (name.starts_with("PHOTON_") && !is_ours) found.emplace_back(assignment);
  }
  return found;
}

Words photonrun_command(const Errand& errand, const Options& options,
                        const std::string& photonrun) {
  Words words{photonrun,
              "--join",
              errand.place,
              "--seat",
              std::to_string(errand.seat),
              "--here",
              std::to_string(errand.ranks),
              "--chdir",
              (fs::current_path() / options.directory).string()};
  if (options.bind) words.emplace_back("--bind");
  if (options.label) words.emplace_back("--label");
  for (const std::string& assignment : options.environment) {
    words.insert(words.end(), {"--env", assignment});
  }
  words.emplace_back("--");
  words.insert(words.end(), options.command.begin(), options.command.end());
  return words;
}

// ssh gets it as one argument, and so does the login shell there.
void check_length(const std::string& line, const std::string& host) {
  const auto limit = static_cast<std::size_t>(32 * ::sysconf(_SC_PAGESIZE));  // MAX_ARG_STRLEN
  if (line.size() < limit) return;
  throw std::runtime_error(
      fmt::format("the command for {} is {} bytes long, {} are possible: the program's arguments, "
                  "--env, -x and "
                  "the PHOTON_ variables stand in it, and most characters but letters and digits "
                  "take five; let "
                  "the ranks read what is long from a file",
                  host, line.size(), limit - 1));
}

}  // namespace

Words command_for(const Errand& errand, const Options& options) {
  const std::string own = fs::read_symlink("/proc/self/exe").string();
  if (errand.host.is_here()) return photonrun_command(errand, options, own);
  Words command = split_words(options.ssh);
  // Nobody is there to answer a question; a connection of its own, which ends with us; and never a
  // terminal, which would echo the key.
  for (const char* const option :
       {"BatchMode=yes", "ConnectTimeout=20", "ControlMaster=no", "ControlPath=none"}) {
    command.insert(command.end(), {"-o", option});
  }
  command.emplace_back("-T");
  command.push_back(errand.host.name);
  Words remote{"env"};
  for (std::string& setting : settings()) remote.push_back(std::move(setting));
  const std::string& there = options.remote_photonrun;
  for (const std::string& word : photonrun_command(errand, options, there.empty() ? own : there)) {
    remote.push_back(word);
  }
  command.push_back(shell_line(remote));
  check_length(command.back(), errand.host.name);
  return command;
}

}  // namespace photonrun
