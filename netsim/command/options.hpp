// What stands on the command line of `run`, `sweep`, `ladder` and `paper`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "netsim/clock/result.hpp"
#include "netsim/command/command.hpp"
#include "netsim/command/toml.hpp"

namespace photon::netsim::command {

struct Options {
  std::string file;   // TOML
  std::string case_;  // JSON of tests/netsim
  std::string json;   // where the result goes; empty: a short one is printed
  std::string into;   // a folder
  std::string jobs = "1";
  bool is_audited = false;  // --check
  std::string figure;       // of the paper
  std::string nodes = "8192";
  std::vector<std::pair<std::string, std::string>> changes;  // of --set and --threads, in order
};

// `allowed`: the options that this subcommand has, each between spaces.
Result<Options> options_of(Arguments arguments, std::string_view allowed);
// What options.file has, or the defaults without a file, after the changes of the command line.
Result<Document> read_document(const Options& options);
Result<Document> changed(Document document, const Options& options);
// Prints the sentence; the exit status of bad input.
int refuse(const std::string& what);

}  // namespace photon::netsim::command
