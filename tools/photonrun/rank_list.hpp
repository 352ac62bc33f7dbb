// Ranks in words. Owner: none, a function only.
#pragma once

#include <span>
#include <string>

namespace photonrun {

// "rank 3", "ranks 0, 2-5, 9": in ascending order, none twice.
std::string list_ranks(std::span<const unsigned> ranks);

}  // namespace photonrun
