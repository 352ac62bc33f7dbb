// How teams are made, so that all members agree on a number that none of them has used in the slot
// that it gives the team.
//
//   split: all members of the parent gather (colour, key, proposal, slot) of all, as an allgather
//   of:    each of the list says (proposal, slot) to the first, who says the number and all slots
//
//   proposal: above every number that this rank has ever proposed or been given
//   number:   the largest proposal; each member's next one is above it
//
// Invariant: in each slot of a rank numbers only grow: who reserves it proposes more than all
// before. Owner: Collectives, under the lane's lock.
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
  // Slots and teams of this lane.
  class Teams {
   public:
    virtual std::uint32_t reserve_slot(std::uint32_t proposal) = 0;  // throws bad_alloc
    // Not PH_OK: others may have made their team of this slot, which has failed here so.
    virtual void give_up_slot(std::uint32_t slot, ph_status why) noexcept = 0;
    virtual Team& add(std::unique_ptr<Team> team) = 0;

   protected:
    ~Teams() = default;
  };

  Making(Port& port, Runner& runner, Teams& teams);

  // PH_TIMEOUT: others have not called yet; it is called again. Else `team` is it, or null.
  ph_status split(Team& parent, std::int64_t colour, std::int64_t key, Team*& team);
  ph_status of(const ph_team_of_args& args, Team*& team);
  // It is another one when a wait for one of these may be over: many may wait.
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
  // The words of each member of a split.
  struct Card {
    std::int64_t colour = 0;
    std::int64_t key = 0;
    std::uint32_t proposal = 0;
    std::uint32_t slot = 0;
    Rank host = 0;  // the first rank there; PH_ANY_RANK: it does not know
    std::uint32_t reserved = 0;
  };
  struct Split {
    Team* parent = nullptr;
    Card own;
    std::vector<Card> cards;
    Operation* op = nullptr;  // null: over
    std::uint32_t sequence = 0;
    ph_status status = PH_OK;
  };
  struct Heard {
    std::uint64_t hash = 0;
    Rank from = 0;
    std::uint32_t proposal = 0;
    std::uint32_t slot = 0;
  };
  struct Meeting {
    std::uint64_t hash = 0;
    std::vector<Member> members;  // slots as far as they are known
    std::uint32_t own = 0;
    std::uint32_t number = 0;   // so far
    std::uint32_t missing = 0;  // members, or slots, that have not been heard of
    std::uint32_t proposal = 0;
    ph_status status = PH_OK;
    bool tells = false;  // a failure to the others, in the next turn
  };
  // A list of which a rank is lost: it makes no team any more.
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
  std::vector<Heard> heard_;      // for meetings that this rank has not come to
  std::vector<Refused> refused_;  // as the first of the list; for those who come later
  std::string words_;
  std::uint64_t news_ = 0;
};

}  // namespace photon::service::coll
