// One rank we have been in contact with: its rings, its credits, what is under way to it.
//
//   connecting -- both halves of the link --> connected -- bye --> departed
//   connecting, connected -- lost or malformed --> dead
//   departed, dead -- its process is gone --> the same without a link: its rings are given back
//
// Invariants: ledger_sent - ledger_known <= ledger_slots; unexpected.size() <= ledger_slots, but
// for what stands in the overflow of a rank that is gone.
//
// Credit grant: while nothing queues to this peer, small puts of one line may be sent up to line
// grant_end without looking at credits or limits; what they use is counted in one go by settle().
// The fewer stores a put makes, the more of its lines can be on their way to the peer at once.
// Owner: the Engine, under the lane's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/ring_queue.hpp"
#include "engine/parts/arrivals.hpp"
#include "engine/parts/bodies.hpp"
#include "engine/parts/bulk_ring.hpp"
#include "engine/parts/copy_choice.hpp"
#include "engine/parts/counters.hpp"
#include "engine/parts/event_queue.hpp"
#include "engine/parts/imm_lines.hpp"
#include "engine/parts/late_ids.hpp"
#include "engine/parts/layout.hpp"
#include "engine/parts/line_prefetch.hpp"
#include "engine/parts/message_queue.hpp"
#include "engine/parts/reply_backoff.hpp"
#include "engine/parts/request.hpp"
#include "engine/parts/reservation.hpp"
#include "engine/parts/sent_puts.hpp"
#include "engine/parts/stale_answers.hpp"
#include "engine/parts/stores.hpp"
#include "service/outlet.hpp"
#include "transport/transport.hpp"
#include "wire/record.hpp"

namespace photon::engine {

using service::LineProducer;
using transport::Rank;
using OverflowProducer = sync::OverflowProducer<transport::Policy>;
using OverflowConsumer = sync::OverflowConsumer<transport::Policy>;
using LineConsumer = sync::LineConsumer<transport::Policy>;

// A control record that waits for line credit.
struct Reply {
  wire::Kind kind = wire::Kind::ack;
  std::uint64_t words[3] = {};
};

// A get of the peer's that we answer through our bulk ring.
struct Serve {
  const std::byte* source = nullptr;
  std::uint64_t key = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t done_bytes = 0;
  std::uint64_t token = 0;
  // A gather: the runs in their block, and how far they were read.
  std::uint32_t table = kNoBlock;
  std::uint32_t runs = 0;
  Place at;
  std::uint64_t offset = 0;  // of its first byte in the operation
};

// Gets from memory of the peer's that the kernel could copy, too (get_takeover.hpp).
struct SharedGets {
  AcksList waiting;  // asked of the peer and not answered, which the kernel may take over
  StaleAnswers stale;
  CopyChoice copies;
  std::int64_t ended_ns = 0;  // the last of them
};

// Puts to memory of the peer's that the kernel could copy, too (put_samples.hpp).
struct SharedPuts {
  CopyChoice copies;
  bool wants_next = false;         // the next of them is to go by the ring, as a sample
  bool is_end_known = true;        // ended_ns is when the last mark was answered, not later
  std::uint64_t begun_bytes = 0;   // sent before the sample that is first in the work
  std::uint64_t marked_bytes = 0;  // sent up to the last mark
  std::int64_t ended_ns = 0;       // when the last mark that was answered was seen to be
};

// Shared memory of a peer that was used, and may be given back to the system.
struct UsedMemory {
  std::uint64_t bulk_tail = 0;   // as seen when
  std::int64_t seen_ns = 0;      // the clock said so
  std::uint64_t bulk_clean = 0;  // where nothing was used since
  std::uint64_t overflow_clean = 0;
};

// Where an atomic found the region it was aimed at last; of a live key that does not change.
struct AtomicPlace {
  std::uint64_t key = 0;    // 0: nowhere yet
  bool is_mapped = false;   // else only the owner reaches it
  std::uint64_t shift = 0;  // what makes an address there one of ours
};

struct Peer : service::Outlet {  // what is looked at for every small put, and behind it the rest
  enum class State : std::uint8_t { connecting, connected, departed, dead };

  bool local_ready = false;       // stands in the engine's list
  bool unexpected_ready = false;  // stands in the engine's list
  bool hot = false;
  bool busy = false;
  State state = State::connecting;
  ph_status broken = PH_OK;  // what operations to this peer get
  Rank rank = 0;
  std::uint32_t outstanding = 0;
  EventQueue local;

  // Looked at for every record received.
  LineConsumer rx;
  std::uint64_t probed = 0;  // ids of this peer's taken by the application
  std::uint64_t probed_published = 0;
  std::uint64_t last_hit = 0;  // progress turn of the last record
  ReplyBackoff reply_backoff;
  LinePrefetch prefetch;  // written for every record received: with those, not with what puts read
  EventQueue unexpected;  // its front is never withdrawn
  BulkConsumer rx_bulk;
  std::uint64_t line_batch = 0;  // credits go back in batches of this size
  std::uint64_t ledger_batch = 0;
  bool has_rx = false;
  bool remotes_first = false;      // in the next probe of this peer for both kinds
  ph_status bulk_refused = PH_OK;  // why a chunk of the operation coming in did not land
  bool told_bulk_refused = false;  // and that was told

  // Slow paths.
  std::uint64_t messages_before = 0;  // of the credit grant
  MessageQueues queues;               // of services
  std::unique_ptr<Bodies> bodies;     // of services that come in; null: never yet
  std::uint64_t ledger_sent = 0;      // ids, but those on the credit grant
  std::uint64_t ledger_known = 0;     // ids of ours the peer's application has taken
  std::int64_t dry_since_ns = 0;      // no ledger credit was found since; 0: it was, or need not be
  bool is_dry = false;                // for so long that ids go to the overflow
  OverflowProducer overflow_out;      // ids beyond the ledger, or where the peer cannot see those:
  LateIds late;
  OverflowConsumer overflow_in;
  std::uint64_t overflow_queued =
      0;  // ids from there in the unexpected queue: then it holds no others
  std::uint64_t overflow_probed = 0;
  std::uint64_t jump_tail = 0;  // of the ring, right behind the last jump
  std::uint64_t jump_due = 0;   // one more than the position; 0: none
  UsedMemory used;
  BulkProducer tx_bulk;
  Reservation reservation;  // of room in it
  SharedPuts puts;
  Stores stores;
  Way mapped_way = Way::plain;  // of the put that is being posted
  WorkList work;
  IdsList ids;
  AcksList acks;
  base::RingQueue<Reply> replies;
  base::RingQueue<Serve> serves;
  Request* ahead = nullptr;          // of ids: the last that step_ahead() has seen to
  std::uint32_t gets_under_way = 0;  // asked of it, and not over
  SharedGets gets;
  std::uint32_t posted_under_way = 0;
  std::uint32_t atomics_asked = 0;
  AtomicPlace atomic_place;
  ImmLines imm_lines;  // open where the network tells an imm; and so:
  Arrivals arrivals;
  std::uint32_t fences = 0;  // queued or unanswered
  std::uint64_t fences_begun = 0;
  std::uint64_t fences_ended = 0;
  std::uint64_t staged_sent = 0;  // records with bytes the target has to place
  std::uint64_t staged_landed = 0;
  std::uint64_t refused_next = 0;  // line of the first record that may still be refused
  bool took_unchecked = false;     // puts whose keys only the peer checks, sent or to be sent
  bool said_bye = false;
  bool is_let_go = false;  // but for what services hold of its bulk rings: is_held()
  bool may_live = false;   // though it is lost: the network says so, not its end
  bool lost_some = false;  // with it: operations that were over for us, and nobody was told yet
  std::string why;         // broken: in words
  PeerCounters* counts = nullptr;          // where it is counted now, or null
  std::unique_ptr<PeerCounters> counters;  // once it was
  SentPuts sent;

  bool has_grant() const noexcept { return tx.tail() < grant_end; }
  // The first chunk of an operation.
  void begin_bulk() noexcept {
    bulk_refused = PH_OK;
    told_bulk_refused = false;
  }
  // Before a line of the grant is written.
  void claim_if_due() noexcept {
    if (prefetch.is_due(tx.tail()) && prefetch.take(tx.tail(), grant_end - tx.tail())) [[unlikely]]
      tx.claim(LinePrefetch::kLines);
  }
  // Lets the line of the answer come, at the one moment when the peer is not looking at it.
  [[gnu::always_inline]] void claim_answer() noexcept {
    if (claims_answers && has_grant()) [[likely]]
      tx.claim(1);
  }
  // The same where the answer may be a service's, which needs no credit grant.
  [[gnu::always_inline]] void claim_line() noexcept {
    if (claims_answers && tx.room() != 0) [[likely]]
      tx.claim(1);
  }
  // Lets come what the next record to this peer touches first. Inline: for a function of nothing
  // but prefetches GCC leaves the call out.
  [[gnu::always_inline]] void expect_post() const noexcept {
    if (link == nullptr || credits == nullptr) return;
    credits->expect_cold();
    tx.expect();
  }
  // Enough small records were taken to give their room back (the rest: publish_credits()).
  bool owes_credit() const noexcept {
    return rx.owed() >= line_batch || probed - probed_published >= ledger_batch;
  }
  // Copies to where this peer reads.
  void store(Way way, std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
    Stores::copy(way, to, from, bytes);
    if (way == Way::streamed && counts != nullptr) counts->add(Count::streamed_bytes, bytes);
  }
  // The next chunk of an operation of `whole_bytes` goes into the bulk ring, which has room.
  void stage(const std::byte* from, std::uint64_t bytes, std::uint64_t whole_bytes) noexcept {
    store(stores.for_ring(whole_bytes, bytes, tx), tx_bulk.place(bytes), from, bytes);
    tx_bulk.advance(bytes);
    if (counts != nullptr) counts->add(Count::staged_bytes, bytes);
  }
  // Gets that the peer still has to answer: it cuts off whoever asks it for more than it takes.
  std::uint64_t gets_unanswered() const noexcept { return gets_under_way + gets.stale.size(); }
  // Behind the record that asks for it.
  void await_ack(Request& request) noexcept {
    request.staged_mark = staged();
    request.line = tx.tail();
    acks.push(request);
  }
  // Records and messages that have gone, and that a fence waits for; but those on the credit grant.
  std::uint64_t staged() const noexcept { return staged_sent + messages; }
  // Whether an id may stand in the ring, as far as the ledger is concerned.
  bool has_credit(std::uint64_t ledger_slots) noexcept {
    const std::uint64_t given = credits->ledger_given();
    if (given >= ledger_known && given <= ledger_sent) ledger_known = given;
    return ledger_sent - ledger_known < ledger_slots;
  }
  // It is lost, and its process may live. To a process that has ended nothing can be delivered:
  // that is no loss of ours.
  bool may_have_lost() const noexcept {
    return broken != PH_ERR_DEPARTED && (may_live || broken != PH_ERR_PEER);
  }
  // Services keep chunks of its ring, or fill room in ours to it.
  bool is_held() const noexcept {
    return (bodies != nullptr && bodies->lent() != 0) || reservation.is_open();
  }
  bool has_remote() const noexcept {
    return !unexpected.empty() && unexpected.front().status == PH_OK;
  }
  // Whether its word about its copies in our memory counts; that of a dead one does not.
  bool shows_intent() const noexcept {
    return broken != PH_ERR_PEER && link != nullptr && link->rx_intent != nullptr;
  }
  // Its direct ways may still come: it has not answered, or has not seen our answer.
  bool is_meeting() const noexcept {
    return state == State::connecting || (link->tx_intent != nullptr && !credits->has_met());
  }
  bool idle() const noexcept {
    return work.empty() && ids.empty() && replies.empty() && serves.empty() && jump_due == 0 &&
           gets.waiting.empty() && late.empty() && queues.idle();
  }
};

// The note of a chunk in that line is gone, for another record has taken its place. An operation
// that still has a request is found all the same, by its lines; any other stays without an imm.
SentPut put_of_chunk(const Peer& peer, std::uint64_t line) noexcept;

}  // namespace photon::engine
