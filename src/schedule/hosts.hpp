// Says which members of a team are on which host.
// Invariants: hosts are numbered in the team order of their first members, and the members of a
// host have places on it in team order. All members of a team have the same Hosts. Owner: the Team;
// a Call points to it. Threads: any; it never changes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace photon::schedule {

class Hosts {
 public:
  Hosts() = default;  // of no member: enough to ask whether an algorithm can do a call
  // `names` has for each member any number that names its host. Throws bad_alloc.
  explicit Hosts(std::span<const std::uint32_t> names) : of_(names.size()) {
    std::vector<std::uint32_t> order(names.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t one, std::uint32_t other) {
      return names[one] < names[other];
    });
    std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;  // first member, where it stands
    for (std::uint32_t i = 0; i < order.size(); ++i)
      if (i == 0 || names[order[i]] != names[order[i - 1]]) runs.emplace_back(order[i], i);
    std::sort(runs.begin(), runs.end());
    members_.reserve(order.size());
    for (const auto& [first, at] : runs) {
      begins_.push_back(static_cast<std::uint32_t>(members_.size()));
      for (std::uint32_t i = at; i < order.size() && names[order[i]] == names[first]; ++i) {
        of_[order[i]] = static_cast<std::uint32_t>(begins_.size() - 1);
        members_.push_back(order[i]);
      }
    }
  }

  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(begins_.size()); }
  std::uint32_t of(std::uint32_t member) const noexcept { return of_[member]; }
  std::uint32_t size(std::uint32_t host) const noexcept {
    const std::size_t end = host + 1 < begins_.size() ? begins_[host + 1] : members_.size();
    return static_cast<std::uint32_t>(end) - begins_[host];
  }
  std::uint32_t member(std::uint32_t host, std::uint32_t place) const noexcept {
    return members_[begins_[host] + place];
  }
  std::uint32_t place(std::uint32_t member) const noexcept {
    const auto first = members_.begin() + begins_[of_[member]];
    const auto at = std::lower_bound(first, first + size(of_[member]), member);
    return static_cast<std::uint32_t>(at - first);
  }

 private:
  std::vector<std::uint32_t> of_;       // each member's host
  std::vector<std::uint32_t> members_;  // all members, by host, then in team order
  std::vector<std::uint32_t> begins_;   // where each host begins in members_
};

}  // namespace photon::schedule
