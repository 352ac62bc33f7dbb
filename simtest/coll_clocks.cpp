#include "simtest/coll_clocks.hpp"

#include <algorithm>

namespace photon::simtest::coll {

void Clocks::clear(std::uint32_t members) {
  members_ = members;
  rows_.assign(members, 0);
  users_.assign(1, members);
  row_of_.assign(members, 0);
  free_.clear();
}

Clocks::Stamp Clocks::stamp(std::uint32_t member, Point point) {
  ++users_[row_of_[member]];
  return {row_of_[member], member, point};
}

std::uint32_t Clocks::own_row(std::uint32_t member) {
  const std::uint32_t row = row_of_[member];
  if (users_[row] == 1) return row;
  std::uint32_t copy = static_cast<std::uint32_t>(users_.size());
  if (free_.empty()) {
    users_.push_back(0);
    rows_.resize(rows_.size() + members_);
  } else {
    copy = free_.back();
    free_.pop_back();
  }
  std::copy_n(&rows_[row * std::size_t{members_}], members_, &rows_[copy * std::size_t{members_}]);
  users_[copy] = 1;
  --users_[row];
  return row_of_[member] = copy;
}

void Clocks::learn(std::uint32_t member, const Stamp& stamp) {
  // Nothing is new of what lies before a point that is known.
  if (known(member, stamp.sender) < stamp.point) {
    Point* own = &rows_[own_row(member) * std::size_t{members_}];
    const Point* told = &rows_[stamp.row * std::size_t{members_}];
    for (std::uint32_t i = 0; i < members_; ++i) own[i] = std::max(own[i], told[i]);
    own[stamp.sender] = stamp.point;
  }
  drop(stamp.row);
}

}  // namespace photon::simtest::coll
