// Words as a shell sees them: those of --ssh, and those of the command that ssh hands to a shell.
// Owner: none, functions only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace photonrun {

// Split at blanks; '...' and "..." keep them. Nothing is expanded. Throws std::runtime_error: a
// quotation mark is left open, there is no word.
std::vector<std::string> split_words(std::string_view text);

// A line that makes any login shell (sh, zsh, csh, fish) become the command of these words,
// whatever is in them. Shells differ in what they expand and in how they quote, so theirs sees one
// word of harmless characters, which is for sh.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace photonrun
