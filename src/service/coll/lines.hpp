// Small operations of a team within one host, by lines in memory that all its members see: each
// says its block once, and reads those of others. What it folds it folds in team order.
//
//   asked -- all see all --> lines: say the own block -- read those of others --> over
//         -- one does not --> by messages, as operations of other teams
//
// The board of a team, and who has to act: board.hpp, docs/collectives.md ("Lines").
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
  // What carries operations out.
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

  // Whether members may see each other's lines: each of them says the same.
  bool are_shared(const Team& team) const noexcept;
  // Whether it goes by lines where all see all.
  static bool takes(const Team& team, const Plan& plan) noexcept;

  // Reserves what join() needs, or watch(). Throws bad_alloc.
  void reserve(Operation& op);
  void join(Operation& op) noexcept;
  Outcome step(Operation& op);
  void ended(Operation& op) noexcept;
  // Whether it cannot go on without that member.
  bool waits_for(const Operation& op, std::uint32_t member) const noexcept;
  // Members are gone: whether it waits for more of one of them.
  void check_lost(Operation& op);
  // A member says where its lines are, or whether it sees all. False: malformed.
  struct Told {
    std::uint64_t word = 0;  // an address, or whether it sees all
    std::uint64_t name = 0;  // of its page
  };
  bool take(Team& team, const Head& head, std::uint32_t member, const Told& what);
  // Nothing of this channel is begun any more.
  void drop(Channel& channel) noexcept;
  // One that goes by messages, in a team that has lines: whether others have begun another there.
  void watch(Operation& op);
  bool look();
  void turn();
  std::int64_t next_turn_ns() const noexcept { return strays_.empty() ? INT64_MAX : due_ns_; }

 private:
  static constexpr std::int64_t kWatchNs = 20'000'000;
  static constexpr std::uint32_t kTidyEach = 1U << 24;
  static constexpr std::size_t kMostAhead = 65536;  // boards that peers have asked for
  static constexpr std::size_t kSwept = 16;         // retired boards, for each page that is taken

  Board& board_of(Team& team, std::uint32_t channel);
  static bool is_long(const Plan& plan) noexcept;
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
  void wake_others(Board& board, std::uint32_t first, std::uint32_t last) noexcept;
  void look_for(Operation& op);

  Port& port_;
  Post& post_;
  Steps& steps_;
  std::vector<Board*> active_;
  std::vector<Operation*> strays_;
  std::int64_t due_ns_ = 0;
  std::size_t boards_ = 0;
  std::uint64_t last_name_ = 0;                  // of a page
  std::vector<std::shared_ptr<Board>> retired_;  // has room for all boards
  std::size_t next_swept_ = 0;
  std::array<std::vector<BoardPage*>, 2> pages_;  // free ones, short and long
};

}  // namespace photon::service::coll
