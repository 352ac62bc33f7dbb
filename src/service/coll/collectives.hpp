// The service behind photon/team.h and photon/coll.h. It keeps the teams, begins and ends their
// operations, and takes the messages that come for them. runner.hpp carries operations out,
// making.hpp makes teams; docs/collectives.md has the design.
//
// Invariant: a slot is free (then it may hold a buried team), or reserved for a team that is being
// made, or it holds a team that lives.
// Owner: the engine of a lane, under the lane's lock.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/ring_queue.hpp"
#include "service/coll/agreeing.hpp"
#include "service/coll/choosing.hpp"
#include "service/coll/making.hpp"
#include "service/coll/providing.hpp"
#include "service/coll/runner.hpp"

namespace photon::service::coll {

class Collectives final : public Service, private Runner::Ends, private Making::Teams {
 public:
  static std::unique_ptr<Service> make(Port& port) { return std::make_unique<Collectives>(port); }
  explicit Collectives(Port& port);

  // Called before the first team is made; later it is refused.
  ph_status add_provider(ph_context* context, const ph_coll_provider& provider);

  // ---- teams; `team` is null unless the status is PH_OK
  ph_status world(Team*& team);
  // The next four say PH_TIMEOUT as long as they are not over; the caller calls again when
  // making_news() has changed.
  ph_status split(Team& parent, std::int64_t colour, std::int64_t key, Team*& team);
  ph_status of(const ph_team_of_args& args, Team*& team);
  ph_status agree(Team& team, std::uint64_t& bits);
  ph_status shrink(Team& team, Team*& smaller);
  // How the last agree() or shrink() has found that member to be lost; PH_OK: it was not lost.
  static ph_status lost(const Team& team, std::uint32_t member) noexcept {
    return Agreeing::lost(team, member);
  }
  // This number changes whenever a wait for split(), of(), agree() or shrink() may be over.
  std::uint64_t making_news() const noexcept { return making_.news() + agreeing_.news(); }
  ph_status free(Team& team);

  // ---- operations
  // With `op` not null (ph_coll_run()) the end is told to nobody: the caller looks at (*op)->state,
  // and gives the operation back by done().
  ph_status begin(Team& team, const ph_coll_args& args, Operation** op = nullptr);
  // Whether a one-shot operation has a place in the team's window.
  bool has_room(Team& team) const noexcept {
    return team.one_shot(team.channels.one_shot().begun) == nullptr;
  }
  ph_status prepare(Team& team, const ph_coll_args& args, Operation*& op);
  ph_status start(Operation& op);
  ph_status change(Operation& op, const ph_coll_args& args);
  ph_status free(Operation& op);
  ph_status done(Operation& op);
  const Choosing& choosing() const noexcept { return choosing_; }

  // ---- Service
  bool on_message(const Message& message) override;
  void on_local(Rank to, std::uint64_t token, ph_status status) override;
  void on_lost(Rank rank, ph_status why) noexcept override;
  bool turn() override;
  bool look() override { return runner_.lines().look(); }
  void before_sleep() override { runner_.lines().doubt(); }
  std::int64_t next_turn_ns() const noexcept override {
    return std::min(runner_.next_turn_ns(), providing_.next_turn_ns());
  }
  void collect() override;
  void run() noexcept override;
  void ran() noexcept override;
  void close() override;
  bool is_idle() const noexcept override { return runner_.under_way() == 0; }
  std::uint64_t held() const noexcept override { return runner_.held(); }

 private:
  // The weights of all buried teams together are at most this much.
  static constexpr std::size_t kMostBuried = 1 << 16;
  static std::size_t weight_of(const Team& team) noexcept { return 64 + team.size(); }

  // A handler that run() is to call.
  struct Due {
    ph_coll_handler handler;
    void* user;
    ph_status status;
  };

  // A message that has come for a team while the team is still being made here.
  struct Mail {
    Rank from = 0;
    std::size_t header_bytes = 0;
    std::vector<std::byte> bytes;
  };
  // A slot that is reserved has a team that is being made, whose number will be `proposal` or more.
  struct Slot {
    std::unique_ptr<Team> team;
    bool is_reserved = false;
    std::uint32_t proposal = 0;
    std::vector<Mail> mail;
    // How the team was lost that was here last, or that was to be made here.
    std::uint32_t gone_number = 0;  // the number of that team; 0: it was never known
    ph_status gone_status = PH_OK;
    std::uint32_t gone_begun = 0;  // so many one-shot operations were begun on it
  };

  void ended(Operation& op) noexcept override;
  void failed_elsewhere(Team& team, std::uint32_t sequence, const Blame& why) noexcept override;
  // Making::Teams
  std::uint32_t reserve_slot(std::uint32_t proposal) override;
  void give_up_slot(std::uint32_t slot, ph_status why) noexcept override;
  Team& add(std::unique_ptr<Team> team) override;

  Team& make_world();
  Team* find(const Name& name);
  Team* buried(const Name& name) noexcept;
  void bury(Team& team) noexcept;
  void unbury(std::uint32_t slot) noexcept;
  bool still_compares(std::uint32_t slot) const noexcept;
  bool dispatch(const Message& message);
  void hand_over(const Mail& mail) noexcept;
  void note_gone(Team& team) noexcept;
  void note_lost(Team& team, std::uint32_t member, ph_status why) noexcept;
  void note_broken(Team& team, const Blame& why) noexcept;
  ph_status may_begin(Team& team, const char* call);
  ph_status join(Team& team, std::uint32_t channel, const char* call);
  ph_status contact_neighbours(Team& team);
  Asker asker_of(const Team& team) const noexcept;
  Operation& plan_for(Team& team, const ph_coll_args& args, const char* call);
  ph_status promise(Operation& op);
  ph_status begin_now(Operation& op);
  bool take_blame(const Message& message, Team& team, const Head& head, std::uint32_t member);
  bool take_data(const Message& message, Team& team, const Head& head, std::uint32_t member);
  bool take_absent(const Message& message, const Head& head);
  void say_absent(const Message& message, const Head& head);
  bool take_stale(const Message& message, const Head& head);
  static bool is_of_call(const Head& head) noexcept;
  bool take_freed(const Message& message, const Head& head);
  bool answer_stale(const Message& message, const Head& head);
  ph_status fail(ph_status status, const char* call, const std::string& why);

  Port& port_;
  Choosing choosing_;
  const fold::Isa isa_ = fold::best_isa();  // to ask the processor takes microseconds
  Runner runner_;
  Providing providing_;
  std::vector<Slot> slots_;                    // slot 0 is that of the team of all ranks
  base::RingQueue<std::uint32_t> free_slots_;  // the slot that was freed last is used last
  std::size_t buried_ = 0;                     // weight of all buried teams
  Making making_;
  Agreeing agreeing_;
  std::vector<Due> due_;      // handlers to be called; there is room for `handlers_` more
  std::size_t handlers_ = 0;  // how many operations under way end by a handler
  std::vector<Due> running_;  // touched by the thread inside run() alone
  bool is_closed_ = false;
};

}  // namespace photon::service::coll
