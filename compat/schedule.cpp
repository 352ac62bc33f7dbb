#include "compat/schedule.hpp"

#include <bit>

namespace photon::classic {

namespace {

using Steps = std::vector<Step>;

constexpr std::uint32_t kGathering = 0;
constexpr std::uint32_t kSpreading = 1;

std::uint32_t count_of(const Members& members) {
  return static_cast<std::uint32_t>(members.size());
}

void add_chain(Steps& steps, const Members& members, std::uint32_t own) {
  if (own > 0) steps.push_back({Step::Kind::fold, kGathering, members[own - 1]});
  if (own + 1 < count_of(members))
    steps.push_back({Step::Kind::send, kGathering, members[own + 1]});
}

// Children of `own` in the tree are own + 1, own + 2, own + 4, ... below its lowest bit; its parent
// is without that bit.
void add_tree_up(Steps& steps, const Members& members, std::uint32_t own) {
  for (std::uint64_t bit = 1; bit < members.size(); bit *= 2) {
    if ((own & bit) != 0) {
      steps.push_back({Step::Kind::send, kGathering, members[own - bit]});
      return;
    }
    if (own + bit < members.size())
      steps.push_back({Step::Kind::receive, kGathering, members[own + bit]});
  }
}

// `named(i)`: the member that stands at place i of the tree.
template <class Named>
void add_tree_down(Steps& steps, std::uint64_t place, std::uint64_t count, Named named) {
  const std::uint64_t lowest = place == 0 ? std::bit_ceil(count) : place & -place;
  if (place != 0) steps.push_back({Step::Kind::receive, kSpreading, named(place - lowest)});
  for (std::uint64_t bit = lowest / 2; bit != 0; bit /= 2)
    if (place + bit < count) steps.push_back({Step::Kind::send, kSpreading, named(place + bit)});
}

void add_last_to_first(Steps& steps, const Members& members, std::uint32_t own) {
  const std::uint32_t last = count_of(members) - 1;
  if (last == 0) return;
  if (own == last) steps.push_back({Step::Kind::send, kSpreading, members[0]});
  if (own == 0) steps.push_back({Step::Kind::receive, kSpreading, members[last]});
}

}  // namespace

std::vector<Step> schedule_of(photon_coll kind, const Members& members, std::uint32_t own) {
  Steps steps;
  const std::uint64_t last = members.size() - 1;
  switch (kind) {
    case PHOTON_COLL_BARRIER:
    case PHOTON_COLL_IBARRIER:
      add_tree_up(steps, members, own);
      add_tree_down(steps, own, members.size(),
                    [&](std::uint64_t place) { return members[place]; });
      break;
    case PHOTON_COLL_REDUCE:
      add_chain(steps, members, own);
      add_last_to_first(steps, members, own);
      break;
    case PHOTON_COLL_ALLREDUCE:
    case PHOTON_COLL_IALLREDUCE:
      add_chain(steps, members, own);
      add_tree_down(steps, last - own, members.size(),
                    [&](std::uint64_t place) { return members[last - place]; });
      break;
    default:  // the scans
      add_chain(steps, members, own);
      break;
  }
  return steps;
}

}  // namespace photon::classic
