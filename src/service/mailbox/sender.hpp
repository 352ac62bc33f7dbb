// The sending half of mailboxes: what is under way to each rank, and what its user is told.
//
//   sent -- credit --> over                     (landed, and nobody asked)
//        -- verdict --> judged -- credit --> over
//        -- kept --> waits there -- verdict --> over
//        -- its rank is lost --> over, with the status
//
// A large one is an offer: its source is exposed until the verdict, which always comes.
//
// A mail whose user has been told that its source is free holds no promise, so what waits at its
// receiver uses up no `requests`; if it is refused after all, a promise is made then.
//
// Invariants: a mail's number is its position in `sent`, and its receiver counts alike;
// used_bytes is the charge of all that is not over and does not wait at its receiver, at most
// `mailbox_early_bytes`, or that of one mail. So a mailbox without a buffer delays no other.
// Owner: Mailboxes, under the lane's lock.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/ring_queue.hpp"
#include "service/mailbox/ahead.hpp"
#include "service/mailbox/letter.hpp"
#include "service/service.hpp"

namespace photon::service::mailbox {

class Sender {
 public:
  explicit Sender(Port& port) : port_(port), peers_(port.size()), config_(port.config()) {}

  ph_status put(Rank rank, const ph_mailbox_put_args& args, bool appends);
  ph_status withdraw(Rank rank, const ph_mailbox_withdraw_args& args);  // withdraw.cpp
  // Nobody hears of its end but by a refusal.
  ph_status put_u64(Rank rank, std::uint64_t address, std::uint64_t offset,
                    std::span<const std::byte> source);

  void on_local(Rank to, std::uint64_t token, ph_status status) noexcept;
  bool on_reply(Rank from, const Reply& reply) noexcept;  // false: malformed
  void on_grant(Rank from, const Granted& granted);
  std::uint64_t granted(Rank by) const noexcept;  // buffers that were granted ahead, for audits
  void on_lost(Rank rank, ph_status why) noexcept;
  // Its receiver is asked for it, once; the verdict that it owes says what became of it.
  ph_outcome on_cancel(Rank rank, std::uint64_t number);
  // No user waits for a verdict, and no body is under way.
  bool is_idle() const noexcept { return waited_for_ == 0 && refused_.empty(); }
  std::uint64_t held() const noexcept { return waited_for_ + refused_.size(); }
  // Refusals that found no promise. While there are some left they are tried again at that time:
  // what they wait for is the user, who takes completions, and no turn brings that about.
  void tell_refusals();
  std::int64_t next_turn_ns() const noexcept { return retry_ns_; }
  // Nobody takes completions any more: one refusal that is told, or noted where no promise is left,
  // is the error of the lane's end.
  void close() noexcept { is_closing_ = true; }

  // A mail uses up so much of `mailbox_early_bytes`: it costs its receiver that much.
  static std::uint64_t charge(std::uint64_t bytes) noexcept { return bytes + kMailBytes; }

 private:
  static constexpr std::uint64_t kMailBytes = 64;

  struct Sent {
    std::uint64_t promise = 0;  // 0: made if it is refused
    std::uint64_t charge = 0;
    std::uint64_t id = 0;  // of the user's, for that
    std::uint8_t id_bytes = 0;
    bool asks = false;
    bool has_body = false;   // that has not left
    bool is_told = false;    // the user knows its end
    bool is_judged = false;  // a verdict has come
    bool has_long_id = false;
    bool is_recalled = false;
  };
  struct Waiting {
    std::uint64_t number = 0;
    Sent mail;
  };
  struct Offer {
    std::uint64_t number = 0;
    Exposed source;
  };
  // Where its user wants to read the epoch in which it has landed.
  struct Landing {
    std::uint64_t number = 0;
    std::uint64_t* epoch = nullptr;
  };
  struct Refused {
    Rank rank = 0;
    Sent mail;
    ph_status status = PH_OK;
  };
  struct To {
    explicit To(Port& port) noexcept : ahead(port) {}
    std::uint64_t used_bytes = 0;
    Ahead ahead;
    base::RingQueue<Sent> sent;
    std::vector<Waiting> waiting;   // by number; uncharged, for their receiver bounds them
    std::vector<Offer> offers;      // by number: until their verdict
    std::vector<Landing> landings;  // by number: until their end
  };

  ph_status check(Rank rank, const ph_mailbox_put_args& args);
  ph_status check_id(Rank rank, const ph_id& local);
  ph_status post(Rank rank, const ph_mailbox_put_args& args, Letter& letter);
  // PH_OK: there is room for one more, and `to` is set.
  ph_status prepare(Rank rank, std::uint64_t bytes, To*& to);
  ph_status send(Rank rank, const Letter& letter, std::span<const std::byte> bytes,
                 std::uint64_t number, bool& has_body);
  bool has_room(To& to, std::uint64_t bytes);
  ph_status put_word(Rank rank, std::uint64_t address, std::uint64_t offset,
                     const std::byte* source);
  ph_status expose(To& to, std::span<const std::byte> source, Letter& letter);
  void conceal(To& to, std::uint64_t number) noexcept;
  // ---- ahead.cpp
  static bool is_over(const To& to, std::uint64_t number) noexcept;
  bool goes_ahead(Rank rank, const ph_mailbox_put_args& args, bool appends) const noexcept;
  ph_status send_offer(Rank rank, const Letter& letter);
  ph_status say_line(Rank rank, const Encoded& encoded, std::size_t count) noexcept;
  void end(Rank rank, Sent& mail, ph_status status) noexcept;
  void let_go(Sent& mail) noexcept;
  bool tell_refusal(const Refused& refused);
  bool note_refusal(const Refused& refused) noexcept;
  void told_late(Rank rank, const Sent& mail, ph_status status) noexcept;
  void forget(To& to, const Sent& mail) noexcept;
  bool on_credit(To& to, std::uint64_t number) noexcept;
  bool on_kept(To& to, std::uint64_t number) noexcept;
  bool on_verdict(Rank from, To& to, const Reply& reply) noexcept;
  static Sent* find(To& to, std::uint64_t number) noexcept;
  static void note_landing(To& to, std::uint64_t number, std::uint64_t epoch) noexcept;

  Port& port_;
  std::vector<std::unique_ptr<To>> peers_;
  const base::Config& config_;
  base::RingQueue<Refused> refused_;  // that the user is still to hear of
  std::int64_t retry_ns_ = INT64_MAX;
  bool is_closing_ = false;
  bool has_told_end_ = false;     // a refusal, since then
  std::uint64_t waited_for_ = 0;  // verdicts that were asked for, bodies
};

}  // namespace photon::service::mailbox
