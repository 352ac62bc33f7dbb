// Numbers for tables.
#pragma once

#include <charconv>
#include <string>

namespace photon::netsim::command {

// With so many digits behind the point.
inline std::string number_text(double value, int digits) {
  char text[400];  // the largest double has 309 digits before the point
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits).ptr;
  return {text, end};
}

}  // namespace photon::netsim::command
