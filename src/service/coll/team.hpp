// A team at one of its members: who belongs to it, and its operations.
//
//   none -- made --> alive -- a member is lost --> broken -- free --> buried
//                          -- free --> buried -- its slot is used again --> none
//
// A member is named by its rank and by the slot in which it keeps this team, so that a record finds
// it by indexing. The number of a team is larger than that of any team that any of its members had
// in the same slot before: so a late record of a freed team is told apart.
// A buried team does nothing of its own, but passes word of failures on.
// Invariant: at most `window` one-shot operations are under way; that of sequence s stands at s
// modulo window.
// Owner: Collectives, under the lane's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/choice.hpp"
#include "schedule/hosts.hpp"
#include "service/coll/agreement.hpp"
#include "service/coll/channels.hpp"
#include "service/coll/words.hpp"

namespace photon::service::coll {

struct Member {
  Rank rank = 0;
  std::uint32_t slot = 0;
};

// A failure that was told already, so that word of it is passed on once.
struct Told {
  std::uint32_t channel = 0;
  std::uint32_t sequence = 0;
  Blame blame;
};

class Team {
 public:
  // Throws bad_alloc.
  Team(std::vector<Member> members, std::uint32_t own, std::uint32_t window);

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(members.size()); }
  // A member's number; size(): it is none.
  std::uint32_t find(Rank rank) const noexcept;
  Operation*& one_shot(std::uint32_t sequence) noexcept { return window[sequence % window.size()]; }
  // The operation of that name, if it is under way.
  Operation* under_way(std::uint32_t channel, std::uint32_t sequence) noexcept;
  const Told* told(std::uint32_t channel, std::uint32_t sequence) const noexcept;
  void note_told(const Told& what);  // throws bad_alloc
  // So long ago, or so far ahead, that no member is there.
  bool is_far(std::uint32_t channel, std::uint32_t sequence) const noexcept;
  // The operation of that name is over here, under way, or was freed before it began.
  bool was_begun(std::uint32_t channel, std::uint32_t sequence) const noexcept;
  // Failures that no member is near any more: sequences come again after 2^32.
  void forget_far() noexcept;

  // Nothing of a peer's is further ahead. A grant holds 16 Ki empty payloads at most, and members
  // in a chain are each that far ahead of the next.
  static constexpr std::uint32_t kMostAhead = 1U << 18;
  // Failures of prepared operations that are freed are remembered until so many others have been
  // prepared since.
  static constexpr std::uint64_t kFreedTold = 8192;

  const std::vector<Member> members;
  const std::uint32_t own;
  std::uint32_t slot = 0;
  std::uint32_t number = 0;
  std::vector<Operation*> window;
  std::vector<Described> history;  // of one-shot operations, by sequence modulo window
  Channels channels;
  std::uint32_t alive = 0;         // operations under way, and prepared ones
  std::unique_ptr<Agreed> agreed;  // null: never asked
  Blame broken;                    // status PH_OK: it is not
  bool has_spread = false;         // word of that, if one has died
  bool has_spread_left = false;    // the same, if one has left
  bool is_dirty = false;           // a member was lost, and operations do not know it yet
  bool is_contacted = false;       // its neighbours are met
  bool is_freed = false;
  bool is_world = false;
  bool shares_lines = false;  // all members may see each other's
  // The split that made it: another member may have failed in that, and have no team.
  std::uint32_t parent_number = 0;
  std::uint32_t parent_sequence = 0;
  bool is_split = false;
  schedule::Layout layout = schedule::Layout::one_host;
  std::unique_ptr<const schedule::Hosts> hosts;  // null: one, or not known of all

 private:
  std::vector<std::pair<Rank, std::uint32_t>> by_rank_;  // sorted; empty: ranks are 0 .. size - 1
  std::vector<Told> told_;  // all that are near: each is passed on once, and none is forgotten
};

}  // namespace photon::service::coll
