// The lines by which a team within one host does its small operations, at one of its members: its
// own page, and where it sees those of others (sync/flat_line.hpp; docs/collectives.md, "Lines").
// One for the one-shot operations of a team, and one for each prepared operation.
//
//   fresh -- the first operation --> asking: this member has told all where its page is
//   asking -- the pages of all are known --> seeing: it has told all whether it sees all pages
//   seeing -- all have told that --> ready if all see all, else never
//
// Invariant: all members end in `ready`, or all in `never`, for they hear the same answers.
// Operations stand in the queue in the order of their sequences, and only the first of them runs.
// Owner: Lines, under the lane's lock; a Channel names it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ring_queue.hpp"
#include "service/service.hpp"
#include "sync/flat_line.hpp"

namespace photon::service::coll {

class Team;
struct Operation;

using FlatPage = sync::FlatPage<transport::Policy>;

// A page: two lines, and beside each room for a block that is longer than a line. Operations use
// the one or the other by turns (sequence modulo 2). What is longer still stands behind the page,
// so that who says nothing of that length touches 4 KiB of memory alone.
struct BoardPage {
  static constexpr std::size_t kLineBytes = FlatPage::kWords * sizeof(std::uint64_t);
  static constexpr std::size_t kNearBytes = 1920;
  static constexpr std::size_t kRoomBytes = 32768;  // the longest block

  const std::byte* room(std::uint32_t sequence, std::size_t size_bytes) const noexcept {
    return size_bytes <= kNearBytes ? near[sequence & 1] : far[sequence & 1];
  }
  std::byte* room(std::uint32_t sequence, std::size_t size_bytes) noexcept {
    return size_bytes <= kNearBytes ? near[sequence & 1] : far[sequence & 1];
  }

  FlatPage lines;
  std::byte near[2][kNearBytes];
  std::byte far[2][kRoomBytes];
};
// Where nothing as long is said, what is long has no place.
inline constexpr std::size_t page_bytes(bool is_long) {
  return is_long ? sizeof(BoardPage) : offsetof(BoardPage, far);
}
static_assert(offsetof(BoardPage, near) % 64 == 0 && offsetof(BoardPage, far) == 4096);

struct Board {
  enum class State : std::uint8_t { fresh, asking, seeing, ready, never };
  struct Other {
    Rank rank = 0;
    const BoardPage* page = nullptr;
    std::uint64_t address = 0;
    std::uint64_t name = 0;   // the name of its page
    bool has_told = false;    // it has told where its page is
    bool has_judged = false;  // it has told whether it sees the pages of all
    std::uint32_t done = 0;   // it has read the operations up to this sequence at least
    std::uint64_t begun = 0;  // the mark of its operation for which it asked for lines
  };
  struct Waiting {
    Operation* op = nullptr;  // null: the operation has failed, and its turn is passed over
    std::uint32_t sequence = 0;
  };
  // What stands in our line of one parity, and who reads it: the members [first, last) without us.
  struct Said {
    bool is_there = false;
    std::uint32_t sequence = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };

  State state = State::fresh;
  std::uint64_t name = 0;     // the name of our page, which no other page of ours ever had
  std::uint32_t tidied = 0;   // the sequence at which Lines::tidy() ran last
  std::uint32_t own = 0;      // this member's number
  BoardPage* page = nullptr;  // our page
  bool is_long = false;       // one-shot: pages have room for more than BoardPage::kNearBytes
  std::vector<Other> others;  // an entry for each member, this one included
  std::uint32_t told = 0;     // members before this number have been told what the state says
  std::uint32_t pages_missing = 0;
  std::uint32_t judgements_missing = 0;
  bool sees = false;         // this member sees the pages of all
  bool all_see = true;       // no member has said so far that it does not see all
  bool has_passed = false;   // an operation by messages has failed here, where others may have said
  std::uint32_t passed = 0;  // lines that this member will not read: its sequence
  bool is_active = false;    // the board is in the list of those that Lines looks at
  std::array<Said, 2> said;
  base::RingQueue<Waiting, 1> queue;
};

}  // namespace photon::service::coll
