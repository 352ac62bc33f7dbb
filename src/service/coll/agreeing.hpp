// Lets the members that live agree, whoever dies meanwhile (docs/collectives.md, "Agreement").
//
//   The leader is the first member that is not lost, as each member sees it.
//   all: vote --> leader: proposal --> all: "we hold it" --> leader: "it is settled" --> all
//   If the leader is lost, all tell the next one what they hold, or their vote again.
//
// A message that comes is only noted in the Agreement. drive() finds out from these notes what has
// to be sent, and notes what it has sent. So a turn that ends for lack of memory can be made again,
// and sends nothing twice.
// Re-entrance: any call of the port may find that a member is lost, and call on_lost(). So code
// asks anew whether a member lives, and never keeps the answer over a call of the port. Owner:
// Collectives, under the lane's lock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "service/coll/making.hpp"

namespace photon::service::coll {

class Agreeing {
 public:
  Agreeing(Port& port, Post& post, Making& making, Making::Teams& teams)
      : port_(port), post_(post), making_(making), teams_(teams) {}

  // What ph_team_agree() and ph_team_shrink() do. PH_TIMEOUT: the agreement is not over; the caller
  // calls again when news() has changed.
  ph_status agree(Team& team, std::uint64_t& bits);
  ph_status shrink(Team& team, Team*& smaller);
  // What ph_team_lost() answers: how the last agreement has found that member.
  static ph_status lost(const Team& team, std::uint32_t member) noexcept;
  static bool is_under_way(const Team& team) noexcept {
    return team.agreed != nullptr && team.agreed->is_under_way;
  }
  // This number changes whenever a call that said PH_TIMEOUT may be over.
  std::uint64_t news() const noexcept { return news_; }

  bool on_message(const Message& message, Team& team, const Head& head, std::uint32_t member);
  // A message for a team that is freed here. The answer is `gone`, so that its sender waits for
  // this member no more.
  void answer_stale(const Message& message, const Head& head);
  void on_lost(Rank rank) noexcept;
  void forget(Team& team) noexcept;
  void turn();

 private:
  // What a message of an agreement says; it stands in the message in place of a channel. The table
  // in docs/collectives.md ("Agreement") explains each.
  enum class Word : std::uint32_t {
    vote = 1,  // to the leader, with bits, proposal, slot and wish
    ask,       // from a leader that has not heard from the receiver
    propose,   // from the leader, with a verdict
    held,      // to the next leader, with the verdict that the sender holds
    holds,     // to the leader: the sender holds what was proposed
    settled,   // from the leader: all hold the verdict
    verdict,   // from a member to whom the agreement is settled, with the verdict
    gone,      // the sender has freed the team
    out,       // the receiver counts as lost
  };
  static constexpr std::uint32_t kPlacesAtOnce = 240;
  static constexpr std::size_t kVerdictWords = 6;
  static constexpr std::size_t kVoteWords = 6;

  Agreed& all_of(Team& team);
  ph_status call(Team& team, Wish wish, std::uint64_t bits);
  void begin(Team& team, Wish wish, std::uint64_t bits);
  ph_status end(Wish wish, Team& team);
  Agreement* find(Team& team, std::uint32_t sequence);
  static void clear(Team& team, Agreement& one, std::uint32_t sequence);

  bool is_alive(const Team& team, std::uint32_t member) const noexcept;
  void drive(Team& team);
  void drive(Team& team, Agreement& one);
  void lead(Team& team, Agreement& one);
  bool ask_all(Team& team, Agreement& one);
  void choose(Team& team, Agreement& one);
  bool propose_to_all(Team& team, Agreement& one);
  void tell_all(Team& team, Agreement& one);
  void tell_late(Team& team, Agreement& one);
  void tell_leader(Team& team, Agreement& one, std::uint32_t leader);
  void settle(Team& team, Agreement& one);
  void wants_turn(Team& team) noexcept;
  void tell() noexcept;

  void say(Team& team, std::uint32_t member, Word word, const Agreement& one);
  void say_verdict(Team& team, std::uint32_t member, Word word, const Agreement& one);
  void note_said(Team& team, std::uint32_t member, ph_status status) noexcept;
  static Head head_of(const Team& team, std::uint32_t member, Word word, std::uint32_t sequence);

  static bool take_vote(const Message& message, Agreement& one, std::uint32_t member);
  bool take_verdict(const Message& message, Team& team, const Head& head, std::uint32_t member);
  static bool take_part(const Message& message, const Team& team, Coming& coming);
  void take_whole(Team& team, Agreement& one, Word word, std::uint32_t member, Verdict&& verdict);
  void take_word(Team& team, Agreement& one, Word word, std::uint32_t member);

  Port& port_;
  Post& post_;
  Making& making_;
  Making::Teams& teams_;
  std::vector<Team*> all_;  // teams with an agreement, here or asked for by another member
  std::uint64_t news_ = 0;
};

}  // namespace photon::service::coll
