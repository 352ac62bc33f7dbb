// Settings from TOML: sections network, nic, motif, run, and sweep for lists of values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "netsim/run/settings.hpp"

namespace photon::netsim::command {

struct Axis {  // of a sweep: the values of one key
  std::string key;
  std::vector<std::string> values;
};

struct Document {
  std::string name;  // of the file
  Settings settings;
  std::vector<Axis> axes;
  std::map<std::string, std::uint32_t, std::less<>> lines;  // key: where it stands; 0: command line

  // The sentence with file and line before it, if it begins with a key that stands in the file.
  std::string placed(const std::string& what) const;
};

// Sentences name what users wrote: whatever would end the line, or speak to a terminal, as \xNN.
std::string on_one_line(std::string_view text);

Result<Document> document_of(const std::string& name, std::string_view text);

}  // namespace photon::netsim::command
