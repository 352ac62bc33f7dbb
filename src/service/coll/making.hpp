// Makes teams. All members of a new team agree on its number, which must be one that none of them
// has used before in the slot where it keeps the team.
//
//   split: the members of the parent gather (colour, key, proposal, slot) of all by an allgather
//   of:    each rank of the list says (proposal, slot) to the first one, which then says the number
//          and all slots to all
//
//   proposal: a number above all that this rank has ever proposed or been given
//   number:   the largest proposal; the next proposal of each member is above it
//
// Invariant: in each slot of a rank numbers only grow, for a rank that reserves a slot proposes a
// larger number than ever before. Owner: Collectives, under the lane's lock.
#pragma once

#include <photon/team.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "service/coll/runner.hpp"

namespace photon::service::coll {

class Making {
 public:
  // What Collectives does for Making: the slots and teams of this lane.
  class Teams {
   public:
    virtual std::uint32_t reserve_slot(std::uint32_t proposal) = 0;  // throws bad_alloc
    // Frees a reserved slot. `why` other than PH_OK says how making the team has failed here; other
    // members may have made theirs, and hear of it when they send something to this slot.
    virtual void give_up_slot(std::uint32_t slot, ph_status why) noexcept = 0;
    virtual Team& add(std::unique_ptr<Team> team) = 0;

   protected:
    ~Teams() = default;
  };

  Making(Port& port, Runner& runner, Teams& teams);

  // PH_TIMEOUT: others have not called yet, and the caller calls again when news() has changed.
  // PH_OK: `team` is the new team, or null where this member has no part in one.
  ph_status split(Team& parent, std::int64_t colour, std::int64_t key, Team*& team);
  ph_status of(const ph_team_of_args& args, Team*& team);
  // This number changes whenever a wait for split() or of() may be over. Many threads may wait.
  std::uint64_t news() const noexcept { return news_; }
  bool is_splitting(const Team& parent) const noexcept;

  std::uint32_t propose() noexcept { return ++highest_; }
  void note_number(std::uint32_t number) noexcept { highest_ = std::max(highest_, number); }

  bool on_meet(const Message& message);
  bool on_met(const Message& message);
  void ended(Operation& op) noexcept;
  void lost(Rank rank, ph_status why) noexcept;
  bool turn();
  const std::string& words() const noexcept { return words_; }

 private:
  // What each member of a split says to all others.
  struct Card {
    std::int64_t colour = 0;
    std::int64_t key = 0;
    std::uint32_t proposal = 0;
    std::uint32_t slot = 0;
    Rank host = 0;  // the first rank on the member's host; PH_ANY_RANK: it does not know that
    std::uint32_t reserved = 0;
  };
  struct Split {
    Team* parent = nullptr;
    Card own;
    std::vector<Card> cards;
    Operation* op = nullptr;  // the allgather; null: it is over
    std::uint32_t sequence = 0;
    ph_status status = PH_OK;
  };
  // What a rank has said to the first of a list, before that one has called ph_team_of() itself.
  struct Heard {
    std::uint64_t hash = 0;
    Rank from = 0;
    std::uint32_t proposal = 0;
    std::uint32_t slot = 0;
  };
  // A call of ph_team_of() that is under way.
  struct Meeting {
    std::uint64_t hash = 0;       // of list and tag
    std::vector<Member> members;  // with their slots, as far as these are known
    std::uint32_t own = 0;
    std::uint32_t number = 0;   // the largest proposal so far
    std::uint32_t missing = 0;  // how many members, or slots, have not been heard of
    std::uint32_t proposal = 0;
    ph_status status = PH_OK;
    bool tells = false;  // the next turn tells the others that it has failed
  };
  // A list that makes no team any more, for one of its ranks is lost.
  struct Refused {
    std::uint64_t hash = 0;
    ph_status status = PH_OK;
  };
  static constexpr std::uint32_t kSlotsAtOnce = 128;
  static constexpr std::size_t kMostOfOne = 4096;
  static constexpr std::size_t kMostHeard = 65536;

  ph_status begin_split(Team& parent, std::int64_t colour, std::int64_t key);
  ph_status end_split(std::list<Split>::iterator at, Team*& team);
  std::list<Split>::iterator find(const Team& parent) noexcept;
  ph_status begin_meeting(const ph_team_of_args& args, std::uint64_t hash);
  ph_status end_meeting(std::list<Meeting>::iterator at, Team*& team);
  std::list<Meeting>::iterator find(std::uint64_t hash) noexcept;
  void join(Meeting& meeting, const Heard& heard);
  ph_status say_meet(const Meeting& meeting);
  void tell_all(Meeting& meeting) noexcept;
  void tell_failed(Meeting& meeting);
  void tell_one(const Meeting& meeting, Rank to);
  bool is_full_of(Rank rank) const noexcept;
  void refuse_list(std::uint64_t hash, ph_status why);
  void answer_refused(const Heard& heard, ph_status why);
  ph_status fail(ph_status status, std::string why);
  void tell() noexcept;

  Port& port_;
  Runner& runner_;
  Teams& teams_;
  std::uint32_t highest_ = 0;
  std::list<Split> splits_;
  std::list<Meeting> meetings_;
  std::vector<Heard> heard_;      // of lists for which this rank has not called yet
  std::vector<Refused> refused_;  // lists that this rank is the first of; later ranks hear of it
  std::string words_;
  std::uint64_t news_ = 0;
};

}  // namespace photon::service::coll
