// The messages and the buffers of one mailbox: a pure state machine, without threads, clock or
// network (docs/mailbox.md has the table).
//
//   buffer: posted -- in front of it all are full --> current -- its last message is admitted -->
//           full -- all that was admitted has landed, and all before it are handed over --> over
//           posted, current, full -- inc_epoch(), close() --> leaving: what was landing in it is
//                                    admitted anew -- nothing writes to it any more --> over
//   over -- retained > 0 --> retained -- release(), or `retained` later ones --> forgotten
//                                     -- rewind() to one before it --> void
//
// Invariants: buffers_.front() is that of epoch_, the ones behind it of those that follow; a buffer
// counts a message when it has landed, and only then; what is over changes no more.
// Owner: Mailboxes.
#pragma once

#include <photon/mailbox.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/ring_queue.hpp"
#include "service/mailbox/buffer_layout.hpp"

namespace photon::service::mailbox {

// Policies for bytes that land where bytes have landed.
enum class Overlap : std::uint8_t { counts, counts_once, is_refused };

// The owner's choices for a mailbox.
struct Policy {
  ph_mailbox_unit unit = PH_MAILBOX_BYTES;
  ph_mailbox_placing placing = PH_MAILBOX_STEERED;
  std::uint64_t threshold = 0;  // of buffers that are posted with none
  std::uint32_t retained = 0;
  bool keeps_early = true;
  bool closes_silently = false;  // senders hear nothing of its end
  bool splits = false;           // managed: messages may be divided over buffers
  bool catches_all = false;      // each buffer takes one message, whatever address that names
  bool is_for_reading = false;   // gets count, and nothing lands
  bool grants = false;           // its buffers are granted ahead to its one source
  Overlap overlap = Overlap::counts;
  bool lingers = false;  // managed: handed over some time after the first byte (lingers.hpp)

  bool keeps_ranges() const noexcept { return overlap != Overlap::counts; }
  // Landing is more than a copy to one place: no buffer is written without a look at its layout.
  bool looks_at_layout() const noexcept { return keeps_ranges() || lingers; }
};

// A message as its sender describes it.
struct Mail {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t epoch = PH_ANY_EPOCH;
  std::uint32_t incarnation = 0;  // 0: any
  bool appends = false;
  bool goes_on = false;    // more of the same message follows: not the end of an operation
  bool withdraws = false;  // nothing lands: size_bytes, and `offset` operations, will not come
  ph_rank from = PH_ANY_RANK;
  std::uint64_t named = 0;  // the address that it names
};

// A message of one word to whatever epoch is current.
struct WordMail {
  std::uint64_t named = 0;  // the address that it names
  std::uint64_t offset = 0;
  std::uint64_t word = 0;
  ph_rank from = PH_ANY_RANK;
};

// A get, as its sender describes it.
struct Read {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t epoch = PH_ANY_EPOCH;  // any: the current one
  std::uint32_t incarnation = 0;       // 0: any
  bool is_last = true;                 // else it is a part of one, and no operation by itself
};

// A buffer as it was posted, and what has landed in it.
struct Buffer {
  std::byte* data = nullptr;     // the first of its bytes
  std::uint64_t size_bytes = 0;  // from there on, that need no look at `layout`
  std::uint64_t threshold = 0;
  ph_mailbox_pointer* pointer = nullptr;
  std::uint64_t cookie = 0;
  std::uint64_t admitted = 0;    // of what the threshold counts
  std::uint64_t filled = 0;      // managed: where the next message goes
  std::uint64_t bytes = 0;       // landed
  std::uint64_t operations = 0;  // landed
  std::uint64_t withdrawn_bytes = 0;
  std::uint64_t withdrawn_operations = 0;
  std::uint64_t top = 0;        // one past the highest byte that landed
  std::uint64_t named = 0;      // by the message that landed last, if one did
  ph_rank from = PH_ANY_RANK;   // of that message
  std::uint64_t grant = 0;      // not 0: it is granted ahead (grants.hpp)
  std::uint32_t under_way = 0;  // admitted, and may still be written
  bool is_full = false;         // nothing more is admitted
  bool is_leaving = false;      // `why`; what is under way in it does not count
  ph_mailbox_why why = PH_MAILBOX_COMPLETE;
  Layout* layout = nullptr;  // the Window's; null: all bytes are at `data`, and overlap counts

  std::uint64_t total_bytes() const noexcept {
    return layout == nullptr ? size_bytes : layout->size_bytes();
  }
};

// One that is over. Its layout ends with the call that tells of it.
struct HandedOver {
  Buffer buffer;
  std::uint64_t epoch = 0;
  std::uint32_t incarnation = 0;
  ph_mailbox_why why = PH_MAILBOX_COMPLETE;
};

enum class Fate : std::uint8_t {
  lands,     // at `place`; landed() has to follow
  waits,     // for a buffer: to be asked again after the next post()
  refused,   // for the reason in `status`
  scatters,  // as lands, but each piece() has a place of its own, and scattered() follows
};

struct Outcome {
  Fate fate = Fate::refused;
  ph_status status = PH_OK;
  std::uint64_t epoch = 0;  // in which it lands
  std::byte* place = nullptr;
  std::uint64_t offset = 0;        // in the buffer
  const Layout* layout = nullptr;  // of one that scatters

  bool is_admitted() const noexcept { return fate == Fate::lands || fate == Fate::scatters; }
  // Where the bytes go that follow the first `done` ones: at most `most_bytes`, and at least one.
  std::span<std::byte> piece(std::uint64_t done, std::uint64_t most_bytes) const noexcept {
    if (fate == Fate::lands) return {place + done, most_bytes};
    return layout->piece(offset + done, most_bytes);
  }
};

class Window {
 public:
  // Hears of buffers that are over, in order.
  class Owner {
   public:
    virtual void handed_over(Window& window, const HandedOver& over) noexcept = 0;
    // Messages landing in the buffer of that epoch are to be admitted anew; of each let_go()
    // has to follow when nothing writes for it any more.
    virtual void recall(Window& /*window*/, std::uint64_t /*epoch*/) noexcept {}

   protected:
    ~Owner() = default;
  };

  // `tag`: how its owner names it.
  struct Life {
    std::uint32_t tag = 0;
    std::uint32_t incarnation = 1;
    std::uint64_t first_epoch = 0;
  };
  Window(std::uint64_t address, const Policy& policy, const Life& life) noexcept
      : address_(address),
        policy_(policy),
        epoch_(life.first_epoch),
        incarnation_(life.incarnation),
        tag_(life.tag),
        takes_words_(policy.placing == PH_MAILBOX_STEERED && !policy.catches_all &&
                     !policy.is_for_reading && !policy.grants) {}
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window();

  std::uint64_t address() const noexcept { return address_; }
  std::uint32_t incarnation() const noexcept { return incarnation_; }
  std::uint64_t epoch() const noexcept { return epoch_; }
  std::uint32_t tag() const noexcept { return tag_; }
  std::uint64_t posted() const noexcept { return buffers_.size(); }
  const Buffer& posted(std::uint64_t ahead) const noexcept {
    return buffers_.at(buffers_.begin() + ahead);
  }
  const Policy& policy() const noexcept { return policy_; }

  // ---- its owner
  // PH_ERR_ARGUMENT, PH_ERR_STATE: nothing was done. Throws bad_alloc. One with segments has
  // neither data nor size_bytes.
  ph_status post(const Buffer& buffer, std::span<const ph_block> segments = {});
  // The first buffer that is not leaving, as it is; PH_AGAIN: there is none.
  ph_status inc_epoch(Owner& owner, ph_mailbox_why why = PH_MAILBOX_EARLY) noexcept;
  // True: bytes have landed in that one; it sets which it is.
  bool has_bytes(std::uint64_t& epoch) const noexcept;
  ph_status release(std::uint64_t epoch) noexcept;
  // PH_ERR_STATE: that epoch is not retained. PH_AGAIN: messages are landing.
  ph_status rewind(std::uint64_t epoch, std::uint32_t incarnation, Owner& owner) noexcept;
  // All buffers are leaving.
  void close(Owner& owner) noexcept;
  std::uint64_t retained() const noexcept { return retained_.size(); }
  const HandedOver& retained(std::uint64_t newest_first) const noexcept {
    return retained_.at(retained_.end() - 1 - newest_first);
  }

  // The bytes that have landed in the buffer of that epoch; null: there is none, or nobody keeps
  // it.
  const Coverage* coverage(std::uint64_t epoch) const noexcept;

  // ---- messages
  // The place of a message, in one step with its epoch. It may hand over what it does not fit into.
  Outcome admit(const Mail& mail, Owner& owner) noexcept;
  // ---- messages that may be divided (split.cpp)
  bool divides(const Mail& mail) const noexcept {
    return policy_.splits && mail.appends && mail.epoch == PH_ANY_EPOCH;
  }
  // It says whether one that divides() would land now, all of it; its place is admit_part()'s to
  // say.
  Outcome admit_all(const Mail& mail) const noexcept;
  // As admit(), of as much as the first buffer with room takes: `mail` is cut to that.
  Outcome admit_part(Mail& mail, Owner& owner) noexcept;

  // ---- withdraw.cpp: what will not come counts at once, and nothing follows.
  Outcome withdraw(const Mail& mail, Owner& owner) noexcept;
  // A word that names no epoch and no incarnation, in one step, if nothing is in its way; false:
  // nothing was done, and admit() says why. It costs a fraction of admit() and landed().
  bool land_word(const WordMail& mail, Owner& owner) noexcept;
  // ---- buffers that are granted ahead (grants.hpp)
  std::uint64_t current_epoch() const noexcept { return epoch_ + full_; }
  std::uint64_t end_epoch() const noexcept { return epoch_ + buffers_.size(); }
  Buffer& of_epoch(std::uint64_t epoch) noexcept {
    return buffers_.at(buffers_.begin() + (epoch - epoch_));
  }
  // The grant of the buffer that the next message to any epoch lands in; 0: none.
  std::uint64_t current_grant() const noexcept {
    return full_ < buffers_.size() ? buffers_.at(buffers_.begin() + full_).grant : 0;
  }
  // Somebody may still write to that buffer: it is not handed over until free().
  void hold(std::uint64_t epoch) noexcept;
  void free(std::uint64_t epoch, Owner& owner) noexcept;

  // All bytes of what admit() let in are in place.
  void landed(const Mail& mail, const Outcome& outcome, Owner& owner) noexcept;
  // The same of what scatters.
  void scattered(const Mail& mail, const Outcome& outcome, Owner& owner) noexcept;
  // They are not, and never will be: it counts as if it had not come.
  void failed(const Mail& mail, const Outcome& outcome, Owner& owner) noexcept;
  // The place of a get's bytes, to be copied before anything else is done; or why there is none.
  Outcome read(const Read& what) noexcept;
  // They were copied; in a window for reading that counts.
  void was_read(const Read& what, const Outcome& outcome, Owner& owner) noexcept;
  // Nothing writes any more for one that was recalled from that epoch.
  void let_go(std::uint64_t epoch, Owner& owner) noexcept;

 private:
  Outcome admit_apart(const Mail& mail, std::uint64_t ahead, std::uint64_t from,
                      Owner& owner) noexcept;
  ph_status cover(const Buffer& buffer, std::uint64_t from, Mail& mail) const noexcept;
  static std::uint64_t uncover(const Buffer& buffer, const Mail& mail,
                               const Outcome& outcome) noexcept;
  void take_in(const Mail& mail, std::uint64_t ahead, std::uint64_t from, Owner& owner) noexcept;
  void forget_retained() noexcept;
  void leave(Buffer& buffer, ph_mailbox_why why, Owner& owner, std::uint64_t epoch) noexcept;
  void count_full() noexcept;
  bool is_at_end(const Buffer& buffer) const noexcept;
  std::uint64_t first_not_leaving() const noexcept;
  std::uint64_t room_from(std::uint64_t ahead) const noexcept;
  std::uint64_t first_with_room(const Mail& mail) const noexcept;
  void seal_before(std::uint64_t ahead) noexcept;
  ph_status check(const Mail& mail) const noexcept;
  const Buffer* find(std::uint64_t epoch) const noexcept;
  ph_status check_life(const Mail& mail) const noexcept;
  ph_mailbox_why why_complete(const Buffer& buffer) const noexcept;
  const Buffer* of_read(const Read& what, std::uint64_t& epoch) const noexcept;
  ph_status check_kind(const Mail& mail) const noexcept;
  Outcome without_buffer(std::uint64_t epoch) const noexcept;
  bool overlaps(const Buffer& buffer) const noexcept;
  std::uint64_t reachable(const Buffer& buffer) const noexcept;
  void hand_over_full(Owner& owner) noexcept;
  void hand_over(ph_mailbox_why why, Owner& owner) noexcept;

  const std::uint64_t address_;
  const Policy policy_;
  std::uint64_t epoch_;
  std::uint32_t incarnation_;
  const std::uint32_t tag_;
  const bool takes_words_;     // by land_word()
  std::uint32_t full_ = 0;     // of the first buffers, so many admit nothing more
  std::uint32_t landing_ = 0;  // admitted, not landed nor recalled
  base::RingQueue<Buffer, 1> buffers_;
  base::RingQueue<HandedOver, 1> retained_;
};

}  // namespace photon::service::mailbox
