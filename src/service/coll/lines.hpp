// Carries out small operations of teams within one host by lines in memory that all members see.
// Each member writes ("says") its block once into its own line, and reads the lines of others.
// Folds are made in team order.
//
//   asked -- all see all --> lines: say the own block -- read those of others --> over
//         -- one does not --> by messages, as in other teams
//
// board.hpp has the board of a team; docs/collectives.md ("Lines") says who has to act.
// Invariant: a page that others may still read is given to no other board.
// Owner: Runner, under the lane's lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "service/coll/board.hpp"
#include "service/coll/operation.hpp"
#include "service/coll/post.hpp"

namespace photon::service::coll {

class Lines {
 public:
  // What Runner does for Lines.
  class Steps {
   public:
    virtual void advance(Operation& op) = 0;
    virtual void check(Operation& op, ph_status status, std::uint32_t member) = 0;
    virtual void ask(Operation& op, std::uint32_t member) = 0;
    virtual void ask_begun(Operation& op, std::uint32_t member) = 0;
    virtual void fold_into(Operation& op, const std::byte* right, std::uint64_t count) = 0;

   protected:
    ~Steps() = default;
  };
  enum class Outcome : std::uint8_t { waits, over, messages };

  Lines(Port& port, Post& post, Steps& steps) : port_(port), post_(post), steps_(steps) {}

  // Whether the members may see each other's lines. All members get the same answer.
  bool are_shared(const Team& team) const noexcept;
  // Whether an operation goes by lines if all members see the lines of all.
  static bool takes(const Team& team, const Plan& plan, std::uint32_t channel) noexcept;

  // Reserves the memory that join() or watch() needs. Throws bad_alloc.
  void reserve(Operation& op);
  // Puts the operation into its board's queue.
  void join(Operation& op) noexcept;
  // Carries the operation on as far as the lines of others allow.
  Outcome step(Operation& op);
  void ended(Operation& op) noexcept;
  // Whether the operation cannot go on before that member has written or read something.
  bool waits_for(const Operation& op, std::uint32_t member) const noexcept;
  // Members are lost: looks whether the operation waits for more of one of them, and then fails it.
  void check_lost(Operation& op);
  // Takes a message of a member that says where its page is, or whether it sees all pages. False:
  // the message is malformed.
  struct Told {
    std::uint64_t word = 0;  // the page's address, or whether the member sees all
    std::uint64_t name = 0;  // the page's name
  };
  bool take(Team& team, const Head& head, std::uint32_t member, const Told& what);
  // No operation of this channel is begun any more: gives up its board.
  void drop(Channel& channel) noexcept;
  // Called for an operation that goes by messages in a team that has lines. From now on turn()
  // looks whether others have begun another operation in its place, by lines.
  void watch(Operation& op);
  bool look();
  void turn();
  // Looks whether the pages that operations have waited for make sense. An operation fails when its
  // page has made none for a second.
  void doubt() noexcept;
  std::int64_t next_turn_ns() const noexcept { return strays_.empty() ? INT64_MAX : due_ns_; }

 private:
  static constexpr std::int64_t kWatchNs = 20'000'000;
  static constexpr std::uint32_t kTidyEach = 1U << 24;
  static constexpr std::uint32_t kDoubtEach = 4096;  // looks that found nothing
  static constexpr std::uint8_t kMostDoubts = 50;    // one each kWatchNs
  static constexpr std::size_t kMostAhead = 65536;   // boards that only peers have asked for yet
  static constexpr std::size_t kSwept = 16;          // so many retired boards take_page() looks at

  Board& board_of(Team& team, std::uint32_t channel);
  BoardPage* take_page(bool is_long);
  bool is_over(const Board& board) const noexcept;
  bool has_read(Board& board, std::uint32_t member, std::uint32_t sequence) const noexcept;
  void tidy(Board& board, std::uint32_t done) noexcept;
  void settle(Team& team, std::uint32_t channel, Board& board);
  void open(Team& team, std::uint32_t channel, Board& board);
  void see_all(Board& board);
  void tell(Team& team, std::uint32_t channel, Board& board, std::uint32_t tag, std::uint64_t word);
  bool has_other(const Board& board, Operation& op);
  void go_on(Board& board);
  void activate(Board& board);
  bool say(Board& board, Operation& op);
  bool read(Board& board, Operation& op);
  void use(Operation& op, std::uint32_t member, const std::byte* bytes);
  void pass(const Operation& op) noexcept;
  void tell_passed(Board& board) noexcept;
  void wake_others(Board& board, std::uint32_t first, std::uint32_t last) noexcept;
  void look_for(Operation& op);
  std::uint32_t nonsense_of(const Operation& op) const noexcept;
  void doubt_again(Operation& op);

  Port& port_;
  Post& post_;
  Steps& steps_;
  std::vector<Board*> active_;      // boards that look() looks at
  std::vector<Operation*> strays_;  // the operations that watch() was called for, or in doubt
  std::uint32_t vain_ = 0;          // looks that found nothing
  std::int64_t due_ns_ = 0;         // when turn() looks at strays_ next
  std::size_t boards_ = 0;
  std::uint64_t last_name_ = 0;                   // the name that a page was given last
  std::vector<std::shared_ptr<Board>> retired_;   // given up, but read by others; room for all
  std::size_t next_swept_ = 0;                    // where take_page() goes on looking in retired_
  std::array<std::vector<BoardPage*>, 2> pages_;  // free pages: short ones, and long ones
};

}  // namespace photon::service::coll
