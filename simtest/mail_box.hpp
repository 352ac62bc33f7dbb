// The model's knowledge of each message, buffer and mailbox: plain values.
//
//   message: begun -- PH_OK --> accepted -- found in a buffer --> landed
//                                        -- an error is told --> refused
//   buffer:  posted -- the epoch has passed --> handed over: it has the bytes that it has
//   mailbox: open -- closed, or its rank is gone --> its events are taken
//
// The bytes of a message name it: the first four hold its number and a mark that no byte of an
// untouched buffer has. Those of which nothing can be seen, because they have no bytes or share
// their place with others, are counted only.
// A large message is read by its receiver. Where that is given up its bytes may stand in the buffer
// without counting, some of them or all; then the counts of the event tell which ones did count.
// Owner: MailModel. Threads: one.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "simtest/program.hpp"

namespace photon::simtest {

inline constexpr std::uint64_t kMailAddresses[] = {7, 0, 0x1234'5678'9abc'def0};
inline constexpr std::uint32_t kMailAddressesCount = 3;
inline constexpr std::uint64_t kMailSharedBytes = 32;  // of a steered buffer; in front
inline constexpr std::uint64_t kMailSharedSize = 8;    // of each message there
inline constexpr std::uint64_t kMailNamedSize = 4;     // from this size on the bytes name a message
inline constexpr std::uint32_t kMailSlots = 4;         // buffers of one mailbox

struct Posted;
struct MailBox;

struct Mailed {
  std::uint32_t number = 0;  // from 1
  ph_rank from = 0;
  ph_rank to = 0;
  std::uint32_t lane = 0;     // of both
  std::uint32_t address = 0;  // an index
  std::uint64_t offset = 0;
  std::uint64_t epoch = PH_ANY_EPOCH;
  std::uint32_t incarnation = 0;
  std::uint32_t id_bytes = 8;
  bool appends = false;
  bool is_large = false;     // its receiver reads its source
  bool is_nameless = false;  // ph_mailbox_put_u64(): no id
  bool is_silent = false;    // PH_NO_LCE
  bool is_asking = false;    // by a request
  ph_request request = PH_REQUEST_NONE;
  std::vector<std::byte> source;

  std::uint64_t begun_at = 0;      // on the model's clock, and so:
  std::uint64_t over_at = 0;       // known to have landed, or refused
  std::uint64_t posted_since = 0;  // on the oracle's count of events
  bool accepted = false;
  bool local_seen = false;        // PH_OK
  bool confirmed = false;         // its request ended with PH_OK
  ph_status refused = PH_OK;      // heard
  const Posted* place = nullptr;  // landed there
  std::uint64_t position = 0;     // in it
  bool is_void = false;           // landed, and a rewind took it back
  bool is_uncertain = false;      // it may have landed or not: two messages account for the same
  std::uint32_t last_traced = 0;  // the last buffer of its place that has bytes of it uncounted
  bool from_gone = false;         // its sender left, closed the lane, or died
  bool to_gone = false;           // the same of its receiver
  bool is_cut = false;            // the link between the two was lost

  std::uint64_t size_bytes() const noexcept { return source.size(); }
  std::uint64_t end() const noexcept { return offset + size_bytes(); }
  bool is_shared() const noexcept {
    return !appends && offset < kMailSharedBytes && size_bytes() != 0;
  }
  bool is_counted_only() const noexcept { return size_bytes() == 0 || is_shared(); }
  std::uint64_t charge() const noexcept { return size_bytes() + 64; }
  // Whether its sender has heard that it has landed.
  bool is_known_landed() const noexcept { return confirmed || (is_large && local_seen); }
  // Whether its source may be read although its sender has it back: who is told that the link is
  // lost waits for nobody.
  bool may_have_changed() const noexcept { return is_large && is_cut && refused != PH_OK; }
  // Whether it may still be read, as far as is known.
  bool may_be_landing() const noexcept {
    return is_large && accepted && place == nullptr && !is_known_landed() &&
           (refused == PH_OK || is_cut || from_gone);
  }
  // The bytes that it has to have.
  void fill(std::span<std::byte> bytes) const noexcept;
  std::string text() const;
};

// A large message that is in a buffer whole.
struct Candidate {
  Mailed* mail = nullptr;
  std::uint64_t position = 0;
};

// One buffer, from its post on.
struct Posted {
  std::uint32_t ordinal = 0;  // of its place, from 1
  std::uint32_t slot = 0;
  MailBox* box = nullptr;
  std::uint64_t size_bytes = 0;
  std::uint64_t threshold = 0;
  std::uint64_t cookie = 0;
  std::uint64_t epoch = 0;
  std::uint32_t incarnation = 0;  // 0: not known to be handed over
  bool is_early = false;          // ph_mailbox_inc_epoch() handed it over
  bool is_closed = false;         // ph_mailbox_close() did
  bool was_recalled = false;      // the same, while messages may have been landing in it
  bool is_over = false;           // its bytes are known
  bool is_uncertain = false;      // which messages counted cannot be told
  bool is_void = false;
  bool has_pointer = false;
  std::uint64_t posted_at = 0;        // on the model's clock, and so:
  std::uint64_t over_at = 0;          // handed over
  std::vector<std::byte> background;  // of the whole slot: before anything landed
  std::vector<std::byte> image;       // the same when it was handed over, and for ever
  std::vector<std::byte> before;      // the same before a rewind
  std::vector<Candidate> candidates;  // large messages there that may have counted
  std::uint64_t bytes = 0;            // of the messages found, and so:
  std::uint64_t operations = 0;
  std::uint64_t top = 0;
  bool is_shared_changed = false;  // where messages share their place
  ph_mailbox_pointer pointer{};    // what was written there
  ph_mailbox_event event{};        // once taken
  std::uint64_t reads = 0;         // gets that are known to have counted here
};

// An event that has to come.
struct Awaited {
  Posted* posted = nullptr;
  bool is_rewound = false;
};

// One life of a mailbox.
struct MailBox {
  Endpoint at{0};
  std::uint32_t address = 0;
  ph_mailbox_args args{};
  ph_mailbox handle{};
  std::vector<std::uint32_t> incarnations;        // the last one is current
  std::uint64_t opened_at = 0;                    // on the model's clock
  std::uint64_t closed_at = 0;                    // 0: open
  bool is_gone = false;                           // its events never come
  bool ends_with_its_lane = false;                // it answers until that is over
  bool is_changing = false;                       // it is being closed, or rewound
  bool was_landing = false;                       // before that, or before inc_epoch()
  std::uint64_t known_epoch = 0;                  // handed over before it, as far as is known
  std::uint64_t end_epoch = 0;                    // of the buffers posted
  std::uint64_t most_epoch = 0;                   // the highest end_epoch there ever was
  std::uint64_t least_bytes = ~std::uint64_t{0};  // of its buffers
  std::deque<Posted*> posted;                     // from known_epoch on
  std::deque<Posted*> retained;                   // oldest first
  std::deque<Awaited> awaited;

  bool is_managed() const noexcept { return args.placing == PH_MAILBOX_MANAGED; }
  bool is_for_reading() const noexcept { return (args.flags & PH_MAILBOX_READ) != 0; }
  bool is_open() const noexcept { return closed_at == 0; }
};

// The memory of one buffer: guard, bytes, guard; and a completion pointer.
struct MailSlot {
  std::vector<std::byte> memory;
  std::vector<std::byte> pointer;  // one lies in it at a multiple of 64
  Posted* posted = nullptr;        // the last
  bool is_busy = false;            // the library's

  static constexpr std::size_t kGuardBytes = 32;

  std::byte* data() noexcept { return memory.data() + kGuardBytes; }
  ph_mailbox_pointer& at() noexcept;
};

// An address of one lane of a rank, and all its lives.
struct MailPlace {
  std::deque<MailBox> lives;
  std::vector<MailSlot> slots;
  std::vector<Mailed*> mails;         // all that were sent there
  std::deque<Posted> buffers;         // all that were posted
  std::uint64_t reads_begun = 0;      // gets
  std::uint64_t reads_refused = 0;    // of those
  std::uint64_t most_read_bytes = 0;  // the largest
  std::uint64_t empty_count = 0;      // messages without bytes that were counted, and so:
  std::uint64_t shared_count = 0;     // those that share their place
  bool may_lack = false;              // such messages may have gone uncounted: a rewind, a bye

  MailBox* open() noexcept {
    return lives.empty() || !lives.back().is_open() ? nullptr : &lives.back();
  }
};

}  // namespace photon::simtest
