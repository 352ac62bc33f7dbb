// What the command line says. Owner: main().
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace photonrun {

struct Options {
  unsigned size = 1;
  unsigned here = 0;     // of them on this host; of a job on several
  std::string root;      // HOST:PORT to wait for other hosts at; empty: none
  std::string join;      // HOST:PORT of the root; empty: this is not a leaf
  std::string key_file;  // empty: PHOTON_JOB_KEY
  std::optional<double> wait_s;
  bool bind = false;
  bool label = false;
  std::optional<double> timeout_s;
  std::vector<std::string> environment;  // K=V
  std::vector<std::string> command;      // program and its arguments, never empty
};

// How long a root waits for other hosts, and a leaf for the root, by default.
inline constexpr double kRootWaitS = 300;
inline constexpr double kLeafWaitS = 30;

// The options, or the status photonrun exits with (help, version, a mistake that was printed).
std::variant<Options, int> parse_options(int argc, char** argv);

}  // namespace photonrun
