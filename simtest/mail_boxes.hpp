// Checks the owner's side of mailboxes against the promises of photon/mailbox.h: each buffer comes
// back once, in the order of its epochs, with the messages that landed in it, and with nothing
// else; and then its bytes change no more.
//
// The calls of an owner but take and wait make no progress, so what ph_mailbox_epoch() says holds
// for the call after it: the model knows then which buffers have been handed over (sync()).
// Invariant: MailBox::posted are the buffers that are not known to be handed over.
// Owner: MailModel. Threads: one.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "simtest/mail_box.hpp"
#include "simtest/oracle.hpp"

namespace photon::simtest {

class MailBoxes {
 public:
  // `mails`: all messages by number - 1.
  MailBoxes(Oracle& oracle, const Program& program, std::deque<Mailed>& mails);

  std::uint64_t tick() noexcept { return ++clock_; }
  // Messages whose bytes were found where they did not count, once for each such buffer.
  std::uint64_t recalls() const noexcept { return recalls_; }
  MailPlace& place(const Endpoint& at, std::uint32_t address) noexcept {
    return places_[(at.rank * lanes_ + at.lane) * kMailAddressesCount + address];
  }
  MailPlace& place_of(const Mailed& mail) noexcept {
    return place({mail.to, mail.lane}, mail.address);
  }

  // ---- calls; `at`: where they were made
  void opened(const Endpoint& at, std::uint32_t address, const ph_mailbox_args& args,
              ph_mailbox handle, ph_status status);
  // What ph_mailbox_epoch() says of the open mailbox there.
  void sync(MailBox& box, std::uint64_t epoch, std::uint32_t incarnation, ph_status status);
  // Whether the buffer that was posted there may still be the library's.
  bool is_busy(const MailBox& box, std::uint32_t slot) {
    return place(box.at, box.address).slots[slot].is_busy;
  }
  // Whether it is one that the library must refuse: it has it, or retains it. Known after sync().
  bool is_held(const MailBox& box, std::uint32_t slot) const;
  ph_mailbox_buffer prepare(MailBox& box, std::uint32_t slot, const Step& step);
  // Before the post of one that may be posted.
  void fill(MailBox& box, std::uint32_t slot, const ph_mailbox_buffer& buffer);
  static ph_status right_of(const MailBox& box, const ph_mailbox_buffer& buffer) noexcept;
  void posted(MailBox& box, std::uint32_t slot, const ph_mailbox_buffer& buffer, ph_status status,
              ph_status right);
  // Before buffers are taken back, in whatever way; and what the calls said.
  void taking_back(MailBox& box) { box.was_landing = may_be_landing(box); }
  void advanced(MailBox& box, ph_status status);  // ph_mailbox_inc_epoch()
  void listed(MailBox& box, const std::vector<ph_mailbox_event>& events);
  void released(MailBox& box, std::uint64_t epoch, ph_status status);
  // Whether a large message may be landing in one of its buffers.
  bool may_be_landing(const MailBox& box);
  void rewinding(MailBox& box, std::uint64_t epoch);  // before the call, and so:
  void rewound(MailBox& box, std::uint64_t epoch, ph_status status);
  void closing(MailBox& box) {
    taking_back(box);
    box.is_changing = true;
  }
  void closed(MailBox& box, ph_status status);
  // What a take or a wait gave there; null: of any mailbox.
  void took(const Endpoint& at, const ph_mailbox_event& event);
  // The same of one that gave none. Known after sync().
  void took_none(MailBox& box, ph_status status);

  // ---- the ends of ranks, lanes and runs (mail_ends.cpp)
  void gone(const Endpoint& end);  // before its bye: its mailboxes close
  void left(const Endpoint& end);  // it is over: nothing of the library's touches its memory
  void died(ph_rank rank);         // the same, but that a network may still read into it
  bool is_settled(const MailPlace& place) const;
  bool is_settled() const;
  void report_pending();
  void check_memory();  // what was handed over has not changed
  bool is_mine(const Endpoint& end, const MailBox& box) const noexcept {
    return box.at.rank == end.rank && (end.lane == 0 || box.at.lane == end.lane);
  }
  std::vector<MailPlace>& places() noexcept { return places_; }
  std::vector<MailBox*> closed_ones(const Endpoint& at);  // with events left

 private:
  using Bytes = std::vector<std::byte>;
  // Where the bytes of a large message may be although it did not count there.
  struct Trace {
    Mailed* mail = nullptr;
    std::uint64_t position = 0;
    Bytes bytes{};

    // Who was told that it is lost may have changed its source, and it is still read.
    bool explains(std::uint64_t offset, std::byte byte) const noexcept {
      const std::uint64_t at = offset - position;
      return at < bytes.size() &&
             (bytes[at] == byte || (mail->may_have_changed() && mail->source[at] == byte));
    }
  };

  void wrong(const char* kind, const MailBox& box, const std::string& what);
  void wrong(const char* kind, const Mailed& mail, const std::string& what);
  MailSlot& slot_of(const Posted& posted) noexcept;
  MailPlace& place_of(const MailBox& box) noexcept { return place(box.at, box.address); }
  void expect(const MailBox& box, const char* call, ph_status status, ph_status right);
  void hand_over(MailBox& box);
  void make_void(Posted& posted);
  // mail_landing.cpp: which messages a buffer has. mail_counts.cpp: what its event says of them.
  void settle(Posted& posted);
  void find_all(Posted& posted, const Bytes& memory);
  void find_steered(Posted& posted, const Bytes& memory);
  void find_managed(Posted& posted, const Bytes& memory);
  void land(Posted& posted, Mailed& mail, std::uint64_t position);
  void check_order(const Posted& posted, const Mailed& mail);
  bool may_have_been_recalled(const Mailed& mail);
  bool has_room_again(const Mailed& first, const Mailed& second);
  void check_untouched(Posted& posted, const Bytes& memory);
  bool may_be_shared(const Posted& posted, std::uint64_t offset, std::byte byte);
  void explain(Posted& posted, const Bytes& memory, std::uint64_t offset);
  std::vector<Trace> traces_in(Posted& posted, const Bytes& memory);
  static bool is_there(const Posted& posted, const Trace& trace, const Bytes& memory);
  void choose_candidates(Posted& posted, const ph_mailbox_event& event);
  void check_reads(Posted& posted, const ph_mailbox_event& event);
  void check_counts(Posted& posted, const ph_mailbox_event& event);
  void check_why(Posted& posted, const ph_mailbox_event& event);
  bool is_changed(Posted& posted);

  Oracle& oracle_;
  const std::uint32_t lanes_;
  const std::uint64_t slot_bytes_;
  std::deque<Mailed>& mails_;
  std::vector<MailPlace> places_;
  std::uint64_t clock_ = 0;
  std::uint64_t recalls_ = 0;
  std::uint32_t posts_ = 0;
};

std::string name_of(const MailBox& box);
std::string place_text(const Posted& posted);

}  // namespace photon::simtest
