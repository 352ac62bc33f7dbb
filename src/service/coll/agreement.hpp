// What a member knows of the agreements of its team (docs/collectives.md, "Agreement").
//
//   none -- called --> voting -- proposed to us --> holding -- all hold it --> settled
//                      voting, holding -- told by one to whom it is settled --> settled
//
// Invariants: `told` only grows, and what is proposed is taken from `told` alone. Members that can
// talk to each other are in two neighbouring agreements at most, so two places suffice.
// Owner: a Team, under the lane's lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "service/coll/words.hpp"

namespace photon::service::coll {

// The call that a member has made.
enum class Wish : std::uint8_t { agree = 1, shrink = 2 };

// What is agreed on. A place is a member's: the slot of its new team, and in the upper 8 bits how
// it is lost; none of these: it survives.
struct Verdict {
  static constexpr std::uint32_t kDead = 1U << 24;
  static constexpr std::uint32_t kLeft = 2U << 24;

  std::uint64_t bits = 0;
  std::uint32_t number = 0;  // of the new team
  std::uint32_t round = 0;   // the member that has proposed it last
  Wish wish = Wish::agree;
  bool differs = false;  // some called the one, some the other
  std::vector<std::uint32_t> places;

  bool is_none() const noexcept { return places.empty(); }
  bool is_lost(std::uint32_t member) const noexcept { return places[member] >= kDead; }
};

// A verdict of which parts have come from a member.
struct Coming {
  std::uint32_t from = 0;
  Verdict verdict;
  std::uint32_t count = 0;  // of its places, so far
};

// What is known of a member, and what it was told.
struct Voice {
  std::uint32_t slot = 0;
  bool is_heard : 1 = false;     // its vote, or what it holds, has come
  bool is_asked : 1 = false;     // for that
  bool asks : 1 = false;         // us for that: it leads, or thinks so
  bool is_proposed : 1 = false;  // to it
  bool holds : 1 = false;        // what was proposed to it
  bool is_told : 1 = false;      // that it is settled
  bool is_owed : 1 = false;      // the verdict, by us to whom it is settled
};

enum class Stage : std::uint8_t { none, voting, holding, settled };

struct Agreement {
  static constexpr std::uint32_t kNobody = 0xffff'ffff;

  std::uint32_t sequence = kNobody;  // kNobody and no voices: the place is free
  Stage stage = Stage::none;
  Wish wish = Wish::agree;
  std::uint64_t own_bits = 0;
  std::uint32_t own_proposal = 0;
  std::uint32_t own_slot = 0;
  std::uint32_t told = kNobody;  // the leader that has our vote, or what we hold
  bool has_proposed = false;     // we lead, and have heard all
  bool owes_hold = false;        // to `told`: that we hold what it has proposed

  // The votes so far.
  std::uint64_t bits = ~std::uint64_t{0};
  std::uint32_t highest = 0;
  std::uint32_t wishes = 0;  // a bit for each
  std::vector<Voice> voices;

  Verdict held;
  Verdict heard;  // of what others hold, that of the highest round
  std::vector<Coming> coming;

  bool is_of(std::uint32_t number) const noexcept { return !voices.empty() && sequence == number; }
  void count(Wish what, std::uint64_t mask, std::uint32_t proposal) noexcept {
    wishes |= 1U << static_cast<unsigned>(what);
    bits &= mask;
    highest = std::max(highest, proposal);
  }
};

// All of a team.
struct Agreed {
  enum class Loss : std::uint8_t { none, dead, left };
  struct Lost {
    Loss how = Loss::none;
    bool is_agreed = false;  // all survivors know
    bool asks = false;       // it does not know, and wants to
  };

  std::uint32_t begun = 0;  // calls, ever: the sequence of the next
  std::array<Agreement, 2> two;
  std::vector<Lost> lost;
  bool is_under_way = false;  // a call has begun one, and none has taken its end
  bool is_out = false;        // the others count this member as lost
  bool is_dirty = false;

  Agreement& last() noexcept { return two[(begun - 1) % 2]; }
};

}  // namespace photon::service::coll
