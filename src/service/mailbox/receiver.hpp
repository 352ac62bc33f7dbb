// The receiving half of mailboxes: which are open here, what came for them, what waits for a
// buffer, and what their senders are told.
//
//   mail: came -- judged by its Window --> landed | refused | waits -- post(), close() --> judged
//   mailbox: open -- close() --> closed, with events left -- they are taken --> forgotten
//
// Invariants: only the lane's own progress writes buffers, counts and pointers; each mail is judged
// once, in the order of its sender's numbers, but for those that wait.
// Owner: Mailboxes, under the lane's lock.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/ring_queue.hpp"
#include "service/mailbox/address_table.hpp"
#include "service/mailbox/letter.hpp"
#include "service/service.hpp"

namespace photon::service::mailbox {

class Receiver final : public Window::Owner {
 public:
  explicit Receiver(Port& port) : port_(port), peers_(port.size()) {}

  // ---- for the user
  ph_status open(const ph_mailbox_args& args, ph_mailbox& box);
  ph_status post(ph_mailbox box, const ph_mailbox_buffer& buffer);
  ph_status inc_epoch(ph_mailbox box);
  ph_status epoch(ph_mailbox box, std::uint64_t& epoch, std::uint32_t& incarnation);
  ph_status release(ph_mailbox box, std::uint64_t epoch);
  ph_status rewind(ph_mailbox box, std::uint64_t epoch);
  ph_status retained(ph_mailbox box, std::span<ph_mailbox_event> events, std::size_t& count);
  ph_status close(ph_mailbox box);
  // PH_AGAIN: none is there. PH_ERR_STATE: none will come.
  ph_status take(ph_mailbox box, ph_mailbox_event& event) noexcept;
  ph_status state(ph_mailbox box) noexcept;  // PH_OK: take() would find one

  // ---- what comes
  bool on_mail(Rank from, const Decoded& mail);
  Verdict on_chunk(const Chunk& chunk);
  void on_lost(Rank from) noexcept;

  // ---- what goes
  void tell_all() noexcept;  // credits that nobody was told of yet
  std::int64_t next_turn_ns() const noexcept { return tell_by_ns_; }
  void close_all() noexcept;
  std::uint64_t held() const noexcept { return early_mails_; }

  void handed_over(Window& window, const HandedOver& over) noexcept override;

 private:
  using Parts = std::span<const std::span<const std::byte>>;

  struct Early {
    Rank from = 0;
    std::uint64_t number = 0;
    bool asks = false;
    Mail mail;
    std::vector<std::byte> bytes;
  };
  struct Box {
    Box(std::uint32_t its_index, std::uint32_t its_generation)
        : index(its_index), generation(its_generation) {}
    std::unique_ptr<Window> window;
    Rank source = PH_ANY_RANK;
    const std::uint32_t index;
    std::uint32_t generation;
    bool is_open = false;
    bool is_ready = false;  // among ready_
    base::RingQueue<ph_mailbox_event> events;
    std::deque<Early> early;
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
    bool is_owing = false;          // among owing_
    Coming coming;
  };

  From& peer(Rank rank);
  std::uint32_t next_incarnation() const noexcept {
    return incarnation_ == UINT32_MAX ? 1 : incarnation_ + 1;
  }
  Box* find(ph_mailbox box) noexcept;
  Box& new_box();
  void retire(Box& box) noexcept;
  ph_status not_open(const char* call);
  void judge(Rank from, const Letter& letter, Parts parts);
  static ph_status check(const Box* box, Rank from) noexcept;
  Fate place(Box& box, const Mail& mail, Parts parts, ph_status& status) noexcept;
  bool keep(Box& box, Rank from, const Letter& letter, Parts parts) noexcept;
  void forget_early(const Early& mail, ph_status status) noexcept;
  void try_early(Box& box) noexcept;
  void drop_early(Box& box, ph_status status) noexcept;
  void say(Rank to, Op op, std::uint64_t number, ph_status status = PH_OK) noexcept;
  void owe(Rank to, std::uint64_t bytes) noexcept;
  void tell(Rank to) noexcept;
  static ph_mailbox_event event_of(ph_mailbox box, const Window& window,
                                   const HandedOver& over) noexcept;
  bool begin_body(const Chunk& chunk, Coming& coming);

  Port& port_;
  std::vector<std::unique_ptr<From>> peers_;
  AddressTable<Box> table_;
  std::vector<std::unique_ptr<Box>> boxes_;
  std::vector<std::uint32_t> free_;
  base::RingQueue<std::uint32_t> ready_;  // boxes with events; indexes
  base::RingQueue<Rank> owing_;
  std::int64_t tell_by_ns_ = INT64_MAX;
  std::unordered_map<std::uint64_t, std::uint64_t> past_;  // addresses that were closed: next epoch
  std::uint64_t past_floor_ = 0;                           // of those that were forgotten
  std::uint32_t incarnation_ = 0;                          // the last that was given
  std::uint64_t early_mails_ = 0;
  std::uint64_t early_bytes_ = 0;
};

}  // namespace photon::service::mailbox
