// Which points of other members' schedules lie before a point of one's own in every run, however
// slow messages and members are: vector clocks (Fidge; Mattern 1988) over messages.
//
// Points of a member are numbered from 1: the begin of a phase, and the end of each copy or fold.
// Invariant: known(member, other) never falls. Rows are shared as long as they are equal, and what
// a message carries is a row.
// Owner: a Machine. Threads: one.
#pragma once

#include <cstdint>
#include <vector>

namespace photon::simtest::coll {

class Clocks {
 public:
  using Point = std::uint32_t;

  // What a message says: its sender's point, and all that lay before it.
  struct Stamp {
    std::uint32_t row = 0;
    std::uint32_t sender = 0;
    Point point = 0;
  };

  void clear(std::uint32_t members);
  Point known(std::uint32_t member, std::uint32_t other) const noexcept {
    return rows_[row_of_[member] * std::size_t{members_} + other];
  }
  // Each stamp is learnt or dropped once.
  Stamp stamp(std::uint32_t member, Point point);
  void learn(std::uint32_t member, const Stamp& stamp);

 private:
  std::uint32_t own_row(std::uint32_t member);
  void drop(std::uint32_t row) { --users_[row] == 0 ? free_.push_back(row) : void(); }

  std::uint32_t members_ = 0;
  std::vector<Point> rows_;
  std::vector<std::uint32_t> users_;   // of a row: members and stamps
  std::vector<std::uint32_t> row_of_;  // of a member
  std::vector<std::uint32_t> free_;
};

}  // namespace photon::simtest::coll
