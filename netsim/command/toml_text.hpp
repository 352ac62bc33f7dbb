// What no TOML may have, looked for before toml++ reads a text: it ends the program, or does what
// nobody defined, at some characters in places that have none of them.
#pragma once

#include <cstddef>
#include <string_view>

namespace photon::netsim::command {

struct Stray {
  std::size_t line = 0;  // 0: there is none
  const char* what = "";
};

// The first control character besides tabs and ends of lines, or character beyond ASCII that stands
// in no line that is a comment. Strings are not told apart, since toml++ and we might disagree
// where one ends; where one may have several lines, no line is surely a comment.
Stray first_stray(std::string_view text);

}  // namespace photon::netsim::command
