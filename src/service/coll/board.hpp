// The lines by which a team within one host does its small operations, at one of its members: its
// own page, and where it sees those of others (sync/flat_line.hpp; docs/collectives.md, "Lines").
// One for the one-shot operations of a team, and one for each prepared operation.
//
//   fresh -- the first operation --> asking: own page told -- all pages known --> seeing: told
//   whether all can be seen -- all have said so --> ready, or never if one cannot
//
// Invariant: members come to the same of `ready` and `never`, for they hear the same answers.
// Operations stand in the queue in the order of their sequences; the first is carried out.
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

// A page with room for what is longer than a line, for each parity; and what is longer still stands
// behind it, so that who says nothing of that length touches one page of memory alone.
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
    std::uint64_t name = 0;   // of its page
    bool has_told = false;    // its page
    bool has_judged = false;  // whether it sees all
    std::uint32_t done = 0;   // it has read up to there, and more
    std::uint64_t begun = 0;  // for which operation it told that, as a mark
  };
  struct Waiting {
    Operation* op = nullptr;  // null: it has failed
    std::uint32_t sequence = 0;
  };
  // What stands in our line of one parity, and the members that read it: [first, last) but us.
  struct Said {
    bool is_there = false;
    std::uint32_t sequence = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };

  State state = State::fresh;
  std::uint64_t name = 0;  // of our page: no other page of ours ever had it
  std::uint32_t tidied = 0;
  std::uint32_t own = 0;
  BoardPage* page = nullptr;  // ours
  bool is_long = false;       // the pages have room for what is long
  std::vector<Other> others;  // by member; our own place, too
  std::uint32_t told = 0;     // members, of what the state says
  std::uint32_t pages_missing = 0;
  std::uint32_t judgements_missing = 0;
  bool sees = false;       // we see the pages of all
  bool all_see = true;     // as far as members have said
  bool is_active = false;  // in the list of those that are looked at
  std::array<Said, 2> said;
  base::RingQueue<Waiting, 1> queue;
};

}  // namespace photon::service::coll
