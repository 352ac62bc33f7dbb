// What the command line says. Owner: main().
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace photonrun {

struct Options {
  unsigned size = 1;
  bool bind = false;
  bool label = false;
  std::optional<double> timeout_s;
  std::vector<std::string> environment;  // K=V
  std::vector<std::string> command;      // program and its arguments, never empty
};

// The options, or the status photonrun exits with (help, version, a mistake that was printed).
std::variant<Options, int> parse_options(int argc, char** argv);

}  // namespace photonrun
