// What a member knows of the agreements of its team (docs/collectives.md, "Agreement").
//
//   none -- called --> voting -- proposed to us --> holding -- all hold it --> settled
//                      voting, holding -- told by one to whom it is settled --> settled
//
// Invariants: `told` (the leader that this member has told last) only grows, and this member takes
// a proposal from that leader alone. Members that can talk to each other are in the same agreement
// or in neighbouring ones, so a team needs room for two agreements.
// Owner: a Team, under the lane's lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "service/coll/words.hpp"

namespace photon::service::coll {

// Which call a member has made: ph_team_agree() or ph_team_shrink().
enum class Wish : std::uint8_t { agree = 1, shrink = 2 };

// What is agreed on. `places` has an entry for each member: in the lower 24 bits the slot in which
// it keeps the new team, in the upper 8 bits kDead or kLeft if it counts as lost.
struct Verdict {
  static constexpr std::uint32_t kDead = 1U << 24;
  static constexpr std::uint32_t kLeft = 2U << 24;

  std::uint64_t bits = 0;
  std::uint32_t number = 0;  // the number of the new team
  std::uint32_t round = 0;   // the number of the leader that has proposed the verdict last
  Wish wish = Wish::agree;
  bool differs = false;  // some members called ph_team_agree(), others ph_team_shrink()
  std::vector<std::uint32_t> places;

  bool is_none() const noexcept { return places.empty(); }
  bool is_lost(std::uint32_t member) const noexcept { return places[member] >= kDead; }
};

// A long verdict comes in several messages; this is what has come of it from one member so far.
struct Coming {
  std::uint32_t from = 0;
  Verdict verdict;
  std::uint32_t count = 0;  // how many entries of `places` have come
};

// What this member knows of another one, and what it has told it.
struct Voice {
  std::uint32_t slot = 0;        // where the other would keep the new team
  bool is_heard : 1 = false;     // its vote, or the verdict that it holds, has come
  bool is_asked : 1 = false;     // it was asked for its vote or verdict
  bool asks : 1 = false;         // it has asked us for ours, since it takes itself for the leader
  bool is_proposed : 1 = false;  // we have proposed to it
  bool holds : 1 = false;        // it holds what we have proposed
  bool is_told : 1 = false;      // we have told it that the agreement is settled
  bool is_owed : 1 = false;      // it has asked, and we have yet to send it the settled verdict
};

enum class Stage : std::uint8_t { none, voting, holding, settled };

struct Agreement {
  static constexpr std::uint32_t kNobody = 0xffff'ffff;

  std::uint32_t sequence = kNobody;  // the agreement's number on the team; no voices: a free place
  Stage stage = Stage::none;
  Wish wish = Wish::agree;
  std::uint64_t own_bits = 0;
  std::uint32_t own_proposal = 0;
  std::uint32_t own_slot = 0;
  std::uint32_t told = kNobody;  // the leader to which we have sent our vote, or what we hold
  bool has_proposed = false;     // we lead, have heard all that live, and have chosen a proposal
  bool owes_hold = false;        // `told` has proposed, and we have yet to answer that we hold it

  // The votes that have come so far, put together.
  std::uint64_t bits = ~std::uint64_t{0};
  std::uint32_t highest = 0;  // of the proposed numbers for the new team
  std::uint32_t wishes = 0;   // a bit for each Wish that was voted
  std::vector<Voice> voices;

  Verdict held;   // the verdict that this member holds
  Verdict heard;  // of the verdicts that others hold, the one of the highest round
  std::vector<Coming> coming;

  bool is_of(std::uint32_t number) const noexcept { return !voices.empty() && sequence == number; }
  void count(Wish what, std::uint64_t mask, std::uint32_t proposal) noexcept {
    wishes |= 1U << static_cast<unsigned>(what);
    bits &= mask;
    highest = std::max(highest, proposal);
  }
};

// All that a team keeps for its agreements.
struct Agreed {
  enum class Loss : std::uint8_t { none, dead, left };
  struct Lost {
    Loss how = Loss::none;
    bool is_agreed = false;  // a verdict has said so: all survivors know that it is lost
    bool asks = false;       // it has said something, and is yet to hear that it counts as lost
  };

  std::uint32_t begun = 0;  // agreements begun so far; the sequence of the next one
  std::array<Agreement, 2> two;
  std::vector<Lost> lost;
  bool is_under_way = false;  // a call has begun an agreement, and no call has returned its end yet
  bool is_out = false;        // the others count this member as lost
  bool is_dirty = false;      // something was noted, and drive() has not looked at it yet

  Agreement& last() noexcept { return two[(begun - 1) % 2]; }
};

}  // namespace photon::service::coll
