// Where the program to start lies. Owner: none, functions only.
#pragma once

#include <string>

namespace photonrun {

// A name with a slash as it is; else what PATH finds; else a neighbour of photonrun, so that
// examples and tools start from a build tree or an unpacked one; else the name, for exec to refuse.
std::string find_program(const std::string& name);

// What to do about a name that was not found: empty, or words to go behind the error.
std::string advice_for(const std::string& name);

}  // namespace photonrun
