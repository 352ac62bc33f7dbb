// The cores this process may use. Owner: none, functions only.
#pragma once

#include <vector>

namespace photonrun {

// Numbers of the cores in the affinity mask, ascending; never empty.
std::vector<int> usable_cores();

// Restricts the calling thread to one core; false if the kernel refuses.
bool pin_to(int core);

}  // namespace photonrun
