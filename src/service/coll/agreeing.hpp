// Lets the members that live agree, whoever dies meanwhile (docs/collectives.md, "Agreement").
//
//   the leader: the first member that is not lost, as each sees it
//   all: vote --> leader: proposal --> all: "we hold it" --> leader: "it is settled" --> all
//   the leader is lost: all tell the next one what they hold, or their vote again
//
// What comes is written down; what is to be said follows from what is known, in drive(). So a turn
// that finds no memory is made again, and says nothing twice.
// Re-entrance: a call of the port may tell that a member is lost. It is looked up, never kept.
// Owner: Collectives, under the lane's lock.
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

  // PH_TIMEOUT: it is not over, and called again.
  ph_status agree(Team& team, std::uint64_t& bits);
  ph_status shrink(Team& team, Team*& smaller);
  // As the last agreement has found.
  static ph_status lost(const Team& team, std::uint32_t member) noexcept;
  static bool is_under_way(const Team& team) noexcept {
    return team.agreed != nullptr && team.agreed->is_under_way;
  }
  std::uint64_t news() const noexcept { return news_; }

  bool on_message(const Message& message, Team& team, const Head& head, std::uint32_t member);
  // The team is freed here: who waits for this member does so no more.
  void answer_stale(const Message& message, const Head& head);
  void on_lost(Rank rank) noexcept;
  void forget(Team& team) noexcept;
  void turn();

 private:
  // What a message of an agreement says. In the place of a channel.
  enum class Word : std::uint32_t {
    vote = 1,  // to the leader: bits, proposal, slot, wish
    ask,       // of a leader, who has not heard of its receiver
    propose,   // of the leader: a verdict
    held,      // to the next leader: a verdict
    holds,     // to the leader
    settled,   // of the leader
    verdict,   // of one to whom it is settled: a verdict
    gone,      // the team is freed there
    out,       // its receiver counts as lost
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
  std::vector<Team*> all_;  // those that have agreed on something, or were asked to
  std::uint64_t news_ = 0;
};

}  // namespace photon::service::coll
