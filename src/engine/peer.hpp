// One rank we have been in contact with: its rings, its credits, what is under way to it.
//
//   connecting -- both halves of the link --> connected -- bye --> departed
//   connecting, connected -- lost or malformed --> dead
//
// Invariants: ledger_sent - ledger_known <= ledger_slots; stash.size() <= ledger_slots; budget > 0
// only while nothing queues to this peer and that many small records may be sent without looking.
// Owner: the Engine, under the lane's lock.
#pragma once

#include <cstdint>
#include <deque>

#include "engine/bulk_ring.hpp"
#include "engine/event_queue.hpp"
#include "engine/request.hpp"
#include "transport/transport.hpp"
#include "wire/record.hpp"

namespace photon::engine {

using transport::Rank;
using LineProducer = sync::LineProducer<transport::Policy>;
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
};

struct Peer {
  enum class State : std::uint8_t { connecting, connected, departed, dead };

  // Looked at for every small put: kept together.
  std::uint64_t budget = 0;
  LineProducer tx;
  std::uint64_t ledger_sent = 0;
  const transport::RegionEntry* regions = nullptr;  // the peer's, if visible
  const transport::Credits* credits = nullptr;
  transport::Link* link = nullptr;
  bool kick_always = false;
  bool fenced = false;
  bool local_ready = false;  // stands in the engine's list
  bool stash_ready = false;  // stands in the engine's list
  bool hot = false;
  bool busy = false;
  State state = State::connecting;
  ph_status broken = PH_OK;  // what operations to this peer get
  Rank rank = 0;
  std::uint32_t outstanding = 0;
  EventQueue local;

  // Looked at for every record received.
  LineConsumer rx;
  std::uint64_t probed = 0;            // ids of this peer's taken by the application
  std::uint64_t probed_published = 0;
  std::uint64_t last_hit = 0;          // progress turn of the last record
  EventQueue stash;
  BulkConsumer rx_bulk;
  bool has_rx = false;
  bool bulk_refused = false;           // a chunk of the operation coming in did not land

  // Slow paths.
  std::uint64_t ledger_known = 0;      // ids of ours the peer's application has taken
  BulkProducer tx_bulk;
  WorkList work;
  IdsList ids;
  AcksList acks;
  std::deque<Reply> replies;
  std::deque<Serve> serves;
  std::uint32_t gets_under_way = 0;
  std::uint32_t fences = 0;            // queued or unanswered
  std::uint64_t fences_begun = 0;
  std::uint64_t fences_ended = 0;
  std::uint64_t staged_sent = 0;       // records with bytes the target has to place
  std::uint64_t staged_landed = 0;
  bool said_bye = false;

  bool idle() const noexcept {
    return work.empty() && ids.empty() && replies.empty() && serves.empty();
  }
};

}  // namespace photon::engine
