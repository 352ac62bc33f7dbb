// The service behind photon/am.h: hands what comes to its parts, and what the user asks for.
//
//   what comes --> Arriving --> Inbox --> Runner --> Settling --> Answers --> what goes
//                                           --> Pulls --> Runner
//              --> Sender (what a target tells)       the user --> Sender
//
// Invariants: all but run() is called under the lane's lock; `runs_begun_` is at most one more than
// `runs_over_`. Owner: the engine of a lane.
#pragma once

#include <photon/am.h>

#include <cstdint>
#include <memory>

#include "service/am/am_answers.hpp"
#include "service/am/am_arriving.hpp"
#include "service/am/am_inbox.hpp"
#include "service/am/am_loans.hpp"
#include "service/am/am_pull_answers.hpp"
#include "service/am/am_pulls.hpp"
#include "service/am/am_runner.hpp"
#include "service/am/am_sender.hpp"
#include "service/am/gate.hpp"
#include "service/am/handlers.hpp"
#include "service/am/settling.hpp"
#include "service/am/waves.hpp"
#include "service/service.hpp"

namespace photon::service::am {

class Am : public Service {
 public:
  static std::unique_ptr<Service> make(Port& port) { return std::make_unique<Am>(port); }
  // `waves_wanted`: of a quiesce, two; a simulation shows that one is too few.
  explicit Am(Port& port, std::uint32_t waves_wanted = 2);

  // ---- for the user
  // What handlers see as message->context; before it there are none.
  void belong_to(ph_context* context) noexcept {
    if (!runner_.has_context()) runner_.belong_to(context);
  }
  ph_status enroll(std::uint32_t id, ph_am_handler handler, void* user);
  // The handler runs for no message that has not begun. is_dismissed(node): it runs no more.
  ph_status dismiss(std::uint32_t id, const HandlerNode*& node);
  bool is_dismissed(const HandlerNode* node) noexcept { return table_.is_over(node, runs_over_); }
  ph_status send_small(Rank to, std::uint32_t id, ph_const_block bytes) {
    return sent(sender_.send_small(to, id, bytes, asker()));
  }
  // The fast path. no: nothing was sent, and send_small() finds out why.
  [[gnu::always_inline]] Written send_now(Rank to, std::uint32_t id,
                                          ph_const_block bytes) noexcept {
    return sender_.send_now(to, id, bytes);
  }
  Written send_now(Rank to, const ph_am_args& args) noexcept { return sender_.send_now(to, args); }
  // Whether that rank has as many messages as it has slots, as far as is known.
  bool lacks_slots(Rank to) const noexcept {
    return to < port_.size() && !gates_.of(to).has_slot(gates_.slots());
  }
  ph_status send(Rank to, const ph_am_args& args) { return sent(sender_.send(to, args, asker())); }
  ph_status prepare(Rank to, std::uint64_t least, std::uint64_t most, ph_am_slot& slot) {
    return sender_.prepare(to, least, most, slot);
  }
  ph_status commit(const ph_am_slot& slot, const Sender::Commit& what) {
    return sent(sender_.commit(slot, what, asker()));
  }
  ph_status cancel(const ph_am_slot& slot) { return sender_.cancel(slot); }
  ph_status reply(const ph_am_message* message, const ph_am_args& args);
  // Quiescence: enter_quiesce() is followed by take() or leave(). What is held back goes first,
  // which one that is under way may have waited for, also where the call is refused.
  ph_status enter_quiesce() {
    sender_.before_sleep();
    return sent(waves_.enter());
  }
  ph_status begin_quiesce(ph_request* request) {
    sender_.before_sleep();
    return sent(waves_.begin(request));
  }
  Waves& waves() noexcept { return waves_; }
  // Handlers that have run, ever: of runs that are over.
  std::uint64_t handlers_run() const noexcept { return handlers_run_; }

  // ---- a message that is all there is to do (engine/quick_run.hpp)
  // It is taken in: run_alone() and ran_alone() follow. False: nothing was done, for the general
  // way has to.
  [[gnu::always_inline]] bool take_alone(Rank from, const transport::Line& line,
                                         std::uint32_t bytes) noexcept;
  bool take_alone(Rank from, const AloneChunk& chunk) noexcept;
  [[gnu::always_inline]] void run_alone() noexcept { runner_.run_alone(); }
  [[gnu::always_inline]] void ran_alone() noexcept;

  // ---- Service
  bool on_message(const Message& message) override;
  Verdict on_chunk(const Chunk& chunk) override;
  void on_local(Rank to, std::uint64_t token, ph_status status) override;
  void on_room(Rank to) override;
  void on_met(Rank rank) noexcept override { waves_.on_met(rank); }
  void on_lost(Rank rank, ph_status why) noexcept override;
  bool turn() override;
  std::int64_t next_turn_ns() const noexcept override { return sender_.next_turn_ns(); }
  // What was held back may have been all that kept a quiesce's answer back.
  void before_sleep() override {
    sender_.before_sleep();
    waves_.look();
  }
  void before_flush(Rank rank) override {
    sender_.before_flush(rank);
    waves_.look();
  }
  bool runs_beside_caller() const noexcept override {
    return port_.config().am == base::ActiveMessages::threaded;
  }
  bool may_wait() const noexcept override { return false; }
  bool runs_while_leaving() const noexcept override { return false; }
  void collect() override;
  void run() noexcept override { runner_.run(); }
  void ran() noexcept override;
  void close() override;
  bool is_idle() const noexcept override;
  std::uint64_t held() const noexcept override;
  std::uint64_t counter(Rank rank, std::size_t place) const noexcept override;
  std::string ways(Rank rank) const override { return sender_.ways(rank); }

 private:
  Asker asker() const noexcept { return port_.is_in_run() ? Asker::handler : Asker::user; }
  // It may have sent what was held back, all that kept a quiesce's answer back.
  ph_status sent(ph_status status) noexcept {
    waves_.look_later();
    return status;
  }
  [[gnu::always_inline]] HandlerNode* may_run_alone(Rank from, const Word& word) noexcept;
  void settle_alone() noexcept;
  bool is_told(Rank from, const Word& word, std::span<const std::byte> rest);
  bool is_refused(Rank from, const Word& word, std::span<const std::byte> rest);
  bool is_unreplied(Rank from, std::uint64_t count);
  // Nothing is under way that this rank knows of: what it has sent, or what has come to it.
  bool is_settled() const noexcept {
    return inbox_.empty() && runs_over_ == runs_begun_ && sender_.is_idle() && pulls_.is_idle();
  }
  ph_status no_reply(Rank rank, const char* why) { return port_.fail(PH_ERR_STATE, rank, why); }

  static constexpr std::size_t kLeastAtOnce = 16;  // messages of a run

  Port& port_;
  Gates gates_;
  HandlerTable table_;
  Inbox inbox_;
  Loans loans_;
  Answers answers_;
  PullAnswers pull_answers_;
  Pulls pulls_;
  Sender sender_;
  Arriving arriving_;
  Runner runner_;
  Settling settling_;
  Waves waves_;
  std::uint64_t runs_begun_ = 0;
  std::uint64_t runs_over_ = 0;
  std::uint64_t runs_beside_ = 0;  // of runs_begun_, those by the progress thread
  std::uint64_t handlers_run_ = 0;
  bool is_closed_ = false;
};

// What the general way asks of such a message, too, and says in words. Null: it has to.
inline HandlerNode* Am::may_run_alone(Rank from, const Word& word) noexcept {
  const Gate& gate = gates_.of(from);
  if (is_closed_ || !inbox_.empty() || gate.arrived - gate.handled >= gates_.slots()) [[unlikely]]
    return nullptr;
  HandlerNode* const node = table_.find(word.id);
  return node != nullptr && sender_.learn_alone(from, word.handled) ? node : nullptr;
}

inline bool Am::take_alone(Rank from, const transport::Line& line, std::uint32_t bytes) noexcept {
  const std::uint64_t bits = line.words[0].get();
  if (bytes < sizeof bits || !is_plain(bits, Op::line)) [[unlikely]]
    return false;
  const Word word = plain_word(bits);
  HandlerNode* const node = may_run_alone(from, word);
  if (node == nullptr) [[unlikely]]
    return false;
  runner_.show_alone({node, from, word, gates_.of(from).arrived++}, line, bytes - sizeof bits);
  ++runs_begun_;
  return true;
}

// As ran() does, for one message.
inline void Am::ran_alone() noexcept {
  handlers_run_ = runner_.calls();
  runs_over_ = runs_begun_;
  if (table_.retired() != 0) [[unlikely]]
    port_.wake();
  const Runner::Alone& alone = runner_.alone();
  if (alone.status == PH_OK) [[likely]]
    answers_.note_handled(alone.from, false);
  if (alone.status != PH_OK || answers_.has_due() || !inbox_.empty()) [[unlikely]]
    settle_alone();
  if (waves_.is_asked()) [[unlikely]]
    waves_.look();
}

}  // namespace photon::service::am
