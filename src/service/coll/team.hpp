// A team at one of its members: who belongs to it, and its operations.
//
//   none -- made --> alive -- a member is lost --> broken -- free --> buried
//                          -- free --> buried -- its slot is used again --> none
//
// Each member keeps the team in a slot of its own; messages name the receiver's slot, so that it
// finds the team by indexing. The number of a team is larger than that of any team that its members
// had in the same slots before. So a late message for a freed team is not taken for its
// successor's. A buried team is one that was freed here. It does nothing by itself, but passes on
// word of failures to members that still use the team. Invariant: at most window.size() one-shot
// operations are under way; the operation of sequence s stands in window[s % window.size()]. Owner:
// Collectives, under the lane's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/choice.hpp"
#include "schedule/hosts.hpp"
#include "service/coll/agreement.hpp"
#include "service/coll/channels.hpp"
#include "service/coll/uncompared.hpp"
#include "service/coll/words.hpp"

namespace photon::service::coll {

struct Member {
  Rank rank = 0;
  std::uint32_t slot = 0;  // the slot in which that member keeps the team
};

// A failure of which word was passed on already, so that this is done once.
struct Told {
  std::uint32_t channel = 0;
  std::uint32_t sequence = 0;
  Blame blame;
};

// A prepared operation that was freed.
struct Gone {
  std::uint32_t channel = 0;
  std::uint32_t begun = 0;  // so many starts were made
  Described latest;         // the call of the last of them; its kind is 0 if it is not known
};

class Team {
 public:
  // Throws bad_alloc.
  Team(std::vector<Member> members, std::uint32_t own, std::uint32_t window);

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(members.size()); }
  // The number of the member with that rank; size() if there is none.
  std::uint32_t find(Rank rank) const noexcept;
  Operation*& one_shot(std::uint32_t sequence) noexcept { return window[sequence % window.size()]; }
  // The operation of that channel and sequence; null if it is not under way.
  Operation* under_way(std::uint32_t channel, std::uint32_t sequence) noexcept;
  // Its failure of which word was passed on; null: there was none.
  const Told* told(std::uint32_t channel, std::uint32_t sequence) const noexcept;
  void note_told(const Told& what);  // throws bad_alloc
  // Whether that operation lies so far back, or so far ahead, that no member can be at it.
  bool is_far(std::uint32_t channel, std::uint32_t sequence) const noexcept;
  // Whether that operation is over here, is under way, or was freed before it began.
  bool was_begun(std::uint32_t channel, std::uint32_t sequence) const noexcept;
  // The call of an operation that was begun. Known are those of the last window, and the latest
  // start of a prepared operation, also if that is one of the last window's number to be freed.
  const Described* call_of(std::uint32_t channel, std::uint32_t sequence) const noexcept;
  // As call_of(), and also what is kept until the digest of the member before has come, which may
  // be this one: then it is not kept any more. False: it is not known.
  bool recall(const Name& name, Described& call) noexcept;
  // Whether that operation will never be begun here, for the team or the prepared operation was
  // freed, or is being freed; `freed` says which. False also if that is not known any more.
  bool is_freed_before(std::uint32_t channel, std::uint32_t sequence,
                       Described& freed) const noexcept;
  void reserve_gone();  // throws bad_alloc
  void note_gone(const Operation& prepared) noexcept;
  // Forgets failures of operations that are far: sequences come again after 2^32.
  void forget_far() noexcept;

  // No peer's operation is further ahead than this. A grant holds at most 16 Ki empty payloads, and
  // along a chain each member may be that far ahead of the next.
  static constexpr std::uint32_t kMostAhead = 1U << 18;
  // The failure of a prepared operation that is freed is remembered until so many others have been
  // prepared since.
  static constexpr std::uint64_t kFreedTold = 8192;

  const std::vector<Member> members;
  const std::uint32_t own;
  std::uint32_t slot = 0;
  std::uint32_t number = 0;
  std::vector<Operation*> window;
  std::vector<Described> history;  // the latest one-shot calls, by sequence modulo window.size()
  Channels channels;
  Uncompared uncompared;           // calls whose digest the member before has not sent
  std::uint32_t alive = 0;         // how many operations are under way or prepared
  std::unique_ptr<Agreed> agreed;  // null: there was no agreement yet
  Blame broken;                    // why the team is broken; status PH_OK: it is not
  bool has_spread = false;         // word of a member's death was passed on
  bool has_spread_left = false;    // word that a member has left was passed on
  bool is_dirty = false;           // a member was lost, and the operations do not know it yet
  bool is_contacted = false;       // this member has met its neighbours in the team
  bool is_freed = false;
  bool is_world = false;
  bool shares_lines = false;  // all members may see each other's lines
  // The split that made the team. Another member may have failed in it, and have no team.
  std::uint32_t parent_slot = 0;  // numbers alone may be those of two teams here
  std::uint32_t parent_number = 0;
  std::uint32_t parent_sequence = 0;
  bool is_split = false;
  schedule::Layout layout = schedule::Layout::one_host;
  std::unique_ptr<const schedule::Hosts> hosts;  // null: one host, or not all hosts are known

 private:
  const Gone* gone(std::uint32_t channel) const noexcept;

  std::vector<std::pair<Rank, std::uint32_t>> by_rank_;  // sorted; empty: ranks are 0 .. size - 1
  std::vector<Told> told_;  // all failures of operations that are not far
  // The prepared operations that were freed last, as many as the window has places.
  std::vector<Gone> gone_;
  std::size_t gone_next_ = 0;  // the place in gone_ that is used next
};

}  // namespace photon::service::coll
