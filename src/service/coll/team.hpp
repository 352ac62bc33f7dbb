// A team at one of its members: who belongs to it, and its operations.
//
//   none -- made --> alive -- a member is lost --> broken -- free --> none
//                          -- free --> none
//
// A member is named by its rank and by the slot in which it keeps this team, so that a record finds
// it by indexing. The number of a team is larger than that of any team that any of its members had
// in the same slot before: so a late record of a freed team is told apart.
// Invariant: at most `window` one-shot operations are under way; that of sequence s stands at s
// modulo window.
// Owner: Collectives, under the lane's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/ring_queue.hpp"
#include "schedule/choice.hpp"
#include "schedule/hosts.hpp"
#include "service/coll/early.hpp"
#include "service/coll/words.hpp"

namespace photon::service::coll {

struct Operation;

struct Member {
  Rank rank = 0;
  std::uint32_t slot = 0;
};

// One order of operations: the one-shot ones of a team, or the starts of a prepared one.
struct Channel {
  std::uint32_t begun = 0;                    // operations; the next one's sequence
  Operation* prepared = nullptr;              // of channels from 1 on
  base::RingQueue<EarlyPool::List, 1> early;  // of sequences `begun`, begun + 1 ...
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
  // Failures that no member is near any more: sequences come again after 2^32.
  void forget_far() noexcept;

  // Nothing of a peer's is further ahead. A grant holds 16 Ki empty payloads at most, and members
  // in a chain are each that far ahead of the next.
  static constexpr std::uint32_t kMostAhead = 1U << 18;
  static constexpr std::uint32_t kMostChannelsAhead = 8192;

  const std::vector<Member> members;
  const std::uint32_t own;
  std::uint32_t slot = 0;
  std::uint32_t number = 0;
  std::vector<Operation*> window;
  std::vector<Described> history;  // of one-shot operations, by sequence modulo window
  std::vector<Channel> channels;   // 0: one-shot
  std::uint32_t prepared = 0;      // ever; the number of the last one's channel
  std::uint32_t alive = 0;         // operations under way, and prepared ones
  Blame broken;                    // status PH_OK: it is not
  bool has_spread = false;         // word of that
  bool is_dirty = false;           // a member was lost, and operations do not know it yet
  bool is_contacted = false;       // its neighbours are met
  bool is_freed = false;
  bool is_world = false;
  schedule::Layout layout = schedule::Layout::one_host;
  std::unique_ptr<const schedule::Hosts> hosts;  // null: one, or not known of all

 private:
  std::vector<std::pair<Rank, std::uint32_t>> by_rank_;  // sorted; empty: ranks are 0 .. size - 1
  std::vector<Told> told_;  // all that are near: each is passed on once, and none is forgotten
};

}  // namespace photon::service::coll
