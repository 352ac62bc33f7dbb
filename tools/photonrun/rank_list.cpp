#include "rank_list.hpp"

#include <fmt/format.h>

namespace photonrun {

std::string list_ranks(std::span<const unsigned> ranks) {
  std::string list = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const unsigned first = ranks[i];
    while (i + 1 < ranks.size() && ranks[i + 1] == ranks[i] + 1) ++i;
    list += fmt::format("{}{}", first == ranks.front() ? "" : ", ", first);
    if (ranks[i] > first) list += fmt::format("-{}", ranks[i]);
  }
  return list;
}

}  // namespace photonrun
