// The receiving half of mailboxes: which are open here, what came for them, what waits for a
// buffer, and what their senders are told.
//
//   mail: came -- judged by its Window --> landed | refused | waits -- post(), close() --> judged
//   offer: as a mail, but: lands -- its bytes are read --> landed | refused, as its sender cannot
//   be
//          read;  -- its buffer leaves --> judged anew
//   mailbox: open -- close() --> closed, with events left -- they are taken --> forgotten
//
// Invariants: only the lane's own progress writes buffers, counts and pointers; each mail is judged
// once, in the order of its sender's numbers, but for those that wait.
// Owner: Mailboxes, under the lane's lock.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/ring_queue.hpp"
#include "service/mailbox/address_table.hpp"
#include "service/mailbox/asking.hpp"
#include "service/mailbox/byte_reader.hpp"
#include "service/mailbox/grants.hpp"
#include "service/mailbox/letter.hpp"
#include "service/mailbox/lingers.hpp"
#include "service/mailbox/pulls.hpp"
#include "service/mailbox/reports.hpp"
#include "service/service.hpp"

namespace photon::service::mailbox {

class Receiver final : public Window::Owner {
 public:
  explicit Receiver(Port& port)
      : port_(port),
        config_(port.config()),
        peers_(port.size()),
        pulls_(port),
        grants_(port),
        reports_(port) {}

  // ---- for the user
  ph_status open(const ph_mailbox_args& args, ph_mailbox& box);
  ph_status post(ph_mailbox box, const ph_mailbox_buffer& buffer);
  ph_status inc_epoch(ph_mailbox box);
  ph_status epoch(ph_mailbox box, std::uint64_t& epoch, std::uint32_t& incarnation);
  ph_status release(ph_mailbox box, std::uint64_t epoch);
  ph_status rewind(ph_mailbox box, std::uint64_t epoch);
  ph_status retained(ph_mailbox box, std::span<ph_mailbox_event> events, std::size_t& count);
  ph_status buf_ptrs(ph_mailbox box, std::span<ph_mailbox_posted> buffers, std::size_t& count);
  ph_status ranges(ph_mailbox box, std::uint64_t epoch, std::span<ph_mailbox_range> ranges,
                   std::size_t& count);
  ph_status close(ph_mailbox box);
  // PH_AGAIN: none is there. PH_ERR_STATE: none will come.
  ph_status take(ph_mailbox box, ph_mailbox_event& event) noexcept;
  ph_status state(ph_mailbox box) noexcept;  // PH_OK: take() would find one

  // ---- what comes
  bool on_mail(Rank from, const Decoded& mail);
  // False: nothing was done, and on_mail() does it.
  bool land_word(const WordMail& mail) noexcept;
  Verdict on_chunk(const Chunk& chunk);
  // Its sender wants it back. False: no honest one can have said so (recalls.cpp).
  bool on_recall(Rank from, std::uint64_t number) noexcept;
  // A part of a get: its bytes, and what its sender is to be told of them. counted() follows when
  // they were copied.
  std::span<const std::byte> on_ask(Rank from, const Ask& ask, Answer& answer) noexcept;
  // The bytes that on_ask() has returned are not needed any more.
  void let_go_of_answer() noexcept { gathered_ = {}; }
  void counted(const Ask& ask, const Answer& answer) noexcept;
  // ---- offers.cpp
  void on_local(Rank from, std::uint64_t token, ph_status status) noexcept;
  void start_pulls() noexcept;  // that wait for the quota of requests
  void on_lost(Rank from) noexcept;

  // ---- what goes
  void tell_all() noexcept;  // credits that nobody was told of yet
  void on_room(Rank to) noexcept {
    if (peers_[to] != nullptr && reports_.send(to)) tell(to);
  }
  bool is_idle() const noexcept { return reports_.empty(); }
  std::int64_t next_turn_ns() const noexcept {
    return std::min({tell_by_ns_, held_by_ns_, wanting_by_ns_, lingers_.next_ns()});
  }
  void free_held() noexcept;  // buffers that a peer was copying into (grants.cpp)
  void give_late_grants() noexcept;
  void end_lingers() noexcept;  // of mailboxes whose time has come
  void close_all() noexcept;
  std::uint64_t held() const noexcept { return early_mails_ + pulls_.size(); }

  void handed_over(Window& window, const HandedOver& over) noexcept override;
  void recall(Window& window, std::uint64_t epoch) noexcept override;  // offers.cpp

 private:
  static constexpr std::int64_t kHeldNs = 100'000;       // between two looks at a peer's copy
  static constexpr std::int64_t kWantingNs = 1'000'000;  // and at a peer that is being met
  static constexpr std::uint32_t kAllGranted = 1u << 30;

  using Parts = std::span<const std::span<const std::byte>>;

  // A message that has come, or whose offer has.
  struct Arrival {
    Rank from = 0;
    std::uint64_t number = 0;
    Letter letter;
    Parts parts;
  };
  struct Early {
    Rank from = 0;
    std::uint64_t number = 0;
    Letter letter;
    std::vector<std::byte> bytes;

    std::uint64_t charge() const noexcept;
  };
  struct Box {
    Box(std::uint32_t its_index, std::uint32_t its_generation)
        : index(its_index), generation(its_generation) {}
    std::optional<Window> window;
    Rank source = PH_ANY_RANK;
    const std::uint32_t index;
    std::uint32_t generation;
    bool is_open = false;
    bool is_ready = false;    // among ready_
    bool is_wanting = false;  // among wanting_
    std::uint32_t most_granted = kAllGranted;
    base::RingQueue<ph_mailbox_event, 1> events;
    std::vector<Early> early;
  };
  struct Past {
    std::uint64_t next_epoch = 0;
    bool is_silent = false;
  };
  // A body that comes in.
  struct Coming {
    Letter letter;
    std::vector<std::byte> copy;  // of one in several chunks
  };
  struct From {
    std::uint64_t judged = 0;       // the number of the next mail
    std::uint64_t told = 0;         // up to which its sender knows
    std::uint64_t early_bytes = 0;  // that wait here
    std::uint64_t owed_bytes = 0;   // judged, and the sender does not know
    std::uint64_t recalls = 0;      // ever; each of another mail
    std::size_t offers = 0;         // without a verdict
    bool is_lost = false;           // on_lost() is due
    bool is_owing = false;          // among owing_
    Coming coming;
    std::map<std::uint64_t, Box*> kept;  // where its mails wait, by their numbers
  };

  // While mails are gone through: a peer that is lost by what is said to it is dealt with behind.
  class Round {
   public:
    explicit Round(Receiver& receiver) noexcept : receiver_(receiver) { ++receiver_.rounds_; }
    Round(const Round&) = delete;
    Round& operator=(const Round&) = delete;
    ~Round() {
      if (--receiver_.rounds_ == 0 && receiver_.has_lost_) receiver_.drop_lost();
    }

   private:
    Receiver& receiver_;
  };

  void drop_lost() noexcept;
  void watch_linger(const Box& box) noexcept;
  From& peer(Rank rank);
  std::uint32_t next_incarnation() const noexcept {
    return incarnation_ == UINT32_MAX ? 1 : incarnation_ + 1;
  }
  Box* find(ph_mailbox box) noexcept;
  Box& new_box();
  void shut(Box& box) noexcept;
  void retire(Box& box) noexcept;
  ph_status not_open(const char* call);
  void judge(Rank from, const Letter& letter, Parts parts);
  static ph_status check(const Box* box, Rank from) noexcept;
  Box* box_for(Rank from, const Letter& letter) const noexcept;
  Fate place(Box& box, const Arrival& mail, End& end) noexcept;
  Fate scatter(Box& box, const Arrival& mail, const Outcome& outcome, End& end) noexcept;
  static bool is_divided(const Box& box, const Letter& letter) noexcept;
  std::uint64_t fill(Box& box, const Mail& mail, Parts parts, std::uint64_t& epoch) noexcept;
  static void copy(const Outcome& outcome, std::uint64_t size_bytes, ByteReader& reader) noexcept;
  Fate place_rest(Box& box, Early& early, End& end) noexcept;
  Fate place_early(Box& box, Early& early, End& end) noexcept;
  bool is_silent(std::uint64_t address) const noexcept;
  bool keep(Box& box, const Arrival& mail) noexcept;
  void forget_early(const Early& mail) noexcept;
  bool recall_early(Box& box, Rank from, std::uint64_t number) noexcept;
  void give_verdict(Rank to, std::uint64_t number, bool is_offer, const End& end) noexcept;
  void try_early(Box& box) noexcept;
  void drop_early(Box& box, ph_status status) noexcept;
  void owe(Rank to, std::uint64_t bytes) noexcept;
  void tell(Rank to) noexcept;
  static ph_mailbox_event event_of(ph_mailbox box, const Window& window,
                                   const HandedOver& over) noexcept;
  bool begin_body(const Chunk& chunk, Coming& coming);
  // ---- grants.cpp
  bool land_stored(Box& box, const Arrival& mail) noexcept;
  bool take_back_grants(Box& box) noexcept;
  bool end_grants(Box& box, std::uint32_t most) noexcept;
  void drop_grants(Rank source) noexcept;
  void give_grants(Box& box) noexcept;
  // ---- offers.cpp
  ph_status begin_pull(Box& box, const Arrival& offer, const Outcome& outcome) noexcept;
  void admit_anew(Box& box, const Pull& pull, std::size_t& waiting) noexcept;
  void end_pull(const Pull& pull, ph_status status) noexcept;
  void drop_offers(Rank from) noexcept;

  Port& port_;
  const base::Config& config_;
  std::vector<std::unique_ptr<From>> peers_;
  Pulls pulls_;
  Grants grants_;
  Lingers lingers_;
  Reports reports_;
  AddressTable<Box> table_;
  std::vector<std::unique_ptr<Box>> boxes_;
  std::vector<std::uint32_t> free_;
  Box* catch_all_ = nullptr;              // or null: there is none
  base::RingQueue<std::uint32_t> ready_;  // boxes with events; indexes
  base::RingQueue<Rank> owing_;
  std::deque<std::uint32_t> wanting_;  // boxes whose buffers are granted when their source is met
  std::int64_t tell_by_ns_ = INT64_MAX;
  std::int64_t held_by_ns_ = INT64_MAX;
  std::int64_t wanting_by_ns_ = INT64_MAX;
  bool is_closing_ = false;
  std::unordered_map<std::uint64_t, Past> past_;  // addresses that were closed
  std::uint64_t past_floor_ = 0;                  // of those that were forgotten
  std::uint32_t incarnation_ = 0;                 // the last that was given
  unsigned rounds_ = 0;
  bool has_lost_ = false;
  std::uint64_t early_mails_ = 0;
  std::uint64_t early_bytes_ = 0;
  std::vector<std::byte> gathered_;  // of a get that asks for several segments
};

}  // namespace photon::service::mailbox
