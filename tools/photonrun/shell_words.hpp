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

// One word for every shell, whatever is in it.
std::string shell_quoted(std::string_view word);

}  // namespace photonrun
