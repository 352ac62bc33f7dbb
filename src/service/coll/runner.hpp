// Carries operations out: goes on with their schedules as messages arrive and transfers end.
//
//   begin() --> [advance(): sends, receives, copies, folds] --> Ends::ended()
//   A message for a step under way lands. One for a later step, or for an operation that has not
//   begun here, is kept among the early ones until its step is begun.
//
// Re-entrance: any call of the port may find that a member is lost. That is only noted, and the
// operations hear of it in turn(), so that none ends while a function still works on it.
// Invariant: each payload is credited once, whether it was used or dropped, and each note is
// answered once. Owner: Collectives, under the lane's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "service/coll/lines.hpp"
#include "service/coll/operation.hpp"
#include "service/coll/post.hpp"

namespace photon::service::coll {

class Runner final : private Lines::Steps {
 public:
  // What Collectives does for Runner. ended() is called when an operation is over, and may free it.
  class Ends {
   public:
    virtual void ended(Operation& op) noexcept = 0;
    // A one-shot operation that is over here has failed at another member.
    virtual void failed_elsewhere(Team& team, std::uint32_t sequence,
                                  const Blame& why) noexcept = 0;

   protected:
    ~Ends() = default;
  };

  Runner(Port& port, Ends& ends)
      : port_(port), ends_(ends), post_(port), lines_(port, post_, *this) {}

  // ---- operations. They stand in a pool; their places in it go into the tokens of the port
  Operation& make();  // throws bad_alloc
  void free(Operation& op) noexcept;
  // Begins an operation whose plan, team and channel are set. Throws bad_alloc before it has begun.
  void begin(Operation& op);
  void advance(Operation& op) override;
  void fail(Operation& op, const Blame& why);
  // The operation's provider has said that it is over, and how.
  void provided(Operation& op, ph_status status);

  // ---- what comes from other members
  // A payload or note. `op` is null if the operation has not begun here yet.
  void arrive(Team& team, Operation* op, const Head& head, const Arrival& what);
  // The answers and failures of docs/collectives.md ("On the wire"), by their names there.
  bool taken(Team& team, Operation& op, std::uint32_t member, const Head& head);
  bool differs(Team& team, const Name& name, const Blame& theirs, std::uint32_t member);
  void failed(Team& team, const Name& name, const Blame& why);
  // A message has come for an operation that is over here, or that will never be begun since it, or
  // its team, was freed. This member answers with its own call where the sender's is another one.
  void check_late(Team& team, const Name& name, std::uint32_t member, std::uint32_t digest);
  // The port's transfer of that token is over.
  void on_local(std::uint64_t token, ph_status status);
  // The next three are about members that have left (departing.cpp). spread_left() is called when
  // something would be begun, and tells the other members.
  void spread_left(Team& team);
  void lacks(Team& team, const Name& name, const Blame& why, std::uint32_t member);
  void never(Operation& op, const Blame& why, std::uint32_t member);
  // A member is lost, or the team is broken: ends the operations that cannot go on, and stops
  // waiting for what lost members would say. Not to be called from inside a call of the port.
  void break_all(Team& team);
  // The next operation of that channel will not be begun here, since a member has left.
  void decline(Team& team, std::uint32_t channel);
  // This member leaves: its operations that are under way fail at all members.
  void give_up(Team& team);
  // The team is freed: messages that have come for it are dropped.
  void drop_team(Team& team);
  // A prepared operation is freed: the same for its channel.
  void drop_channel(Team& team, std::uint32_t number);
  void lost(Rank rank) noexcept { post_.lost(rank); }

  // Does a bounded piece of the work that waits for no message. True: there is more to do.
  bool turn();
  std::int64_t next_turn_ns() const noexcept { return lines_.next_turn_ns(); }

  Post& post() noexcept { return post_; }
  Lines& lines() noexcept { return lines_; }
  std::uint64_t under_way() const noexcept { return under_way_; }
  std::uint64_t held() const noexcept { return under_way_ + early_.used(); }
  // The list of early messages for an operation that has not begun here; null: it is too far ahead.
  EarlyPool::List* early_of(Team& team, std::uint32_t channel, std::uint32_t sequence);

 private:
  static constexpr std::uint64_t kPieceBytes = 256 << 10;
  static constexpr std::uint64_t kLongBytes = 32 << 10;  // moving it takes longer than a wake-up

  bool step_on(Operation& op);
  bool next_phase(Operation& op);
  void settle(Operation& op);
  void end(Operation& op) noexcept;
  bool work(Operation& op, const schedule::Step& step);
  bool by_lines(Operation& op);
  void begin_phases(Operation& op) noexcept;
  void fold(Operation& op, const schedule::Step& step, std::uint64_t first, std::uint64_t count);
  void fold_into(Operation& op, const std::byte* right, std::uint64_t count) override;
  void fold_all(Operation& op, const std::byte* left, const std::byte* right, std::byte* to,
                std::uint64_t count);
  void send(Operation& op, const schedule::Step& step);
  std::pair<ph_status, std::uint32_t> send_note(Operation& op, const schedule::Step& step,
                                                const Head& head, std::span<const std::byte> bytes);
  void take_back_note(Operation& op) noexcept;
  void receive(Operation& op, std::uint32_t index);
  void land(Operation& op, std::uint32_t index, const Arrival& what);
  bool is_right(Operation& op, const schedule::Step& step, const Arrival& what);
  void pull(Operation& op, std::uint32_t index, const Arrival& what);
  void landed(Operation& op, std::uint32_t index) noexcept;
  void retry(Operation& op);
  void fail_short(Operation& op);
  void refuse(Team& team, const Name& name, const Arrival& what, ph_status why = PH_ERR_ARGUMENT);
  void drop_early(Operation& op);
  void ask(Operation& op, std::uint32_t member) override;
  static void number(Operation& op) noexcept;
  void check_digests(Operation& op);
  ph_status say_differs(const Team& team, const Name& name, const Described& call,
                        std::uint32_t member);
  void check_waiting(Operation& op);
  void ask_begun(Operation& op, std::uint32_t member) override;
  void drop_unbegun(Team& team);
  void tell_late(Team& team, std::uint32_t number, const Channel& channel);
  void check(Operation& op, ph_status status, std::uint32_t member) override;
  void spread(Team& team, Op op, const Name& name, const Blame& why);
  void want_turn(Operation& op);
  Name name_at(const Team& team, std::uint32_t member, const Operation& op,
               std::uint32_t tag) const noexcept;

  Port& port_;
  Ends& ends_;
  Post post_;
  Lines lines_;
  EarlyPool early_;
  std::vector<std::unique_ptr<Operation>> all_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> busy_;
  std::uint64_t under_way_ = 0;
};

// The words of ph_last_error() for a failure.
std::string text_of(const Blame& why, const Team& team);

}  // namespace photon::service::coll
