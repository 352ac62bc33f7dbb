// What the command line says. Owner: main().
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "host_list.hpp"

namespace photonrun {

struct Options {
  unsigned size = 1;
  unsigned here = 0;             // of them on this host; of a job on several
  std::string root;              // HOST:PORT to wait for other hosts at; empty: none
  std::string join;              // HOST:PORT of the root; empty: this is not a leaf
  std::vector<HostSlots> hosts;  // to start it on; none: here, or as root and join say
  std::string ssh;               // how to get there
  std::string remote_photonrun;  // what to start there; empty: the path of this one
  unsigned seat = 0;             // which of another's `hosts` this is, from 1; 0: of none
  std::string directory;         // to start in; empty: where we are
  std::string key_file;          // empty: PHOTON_JOB_KEY
  std::optional<double> wait_s;
  bool bind = false;
  bool label = false;
  bool keep_going = false;  // the end of a rank ends no other
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
