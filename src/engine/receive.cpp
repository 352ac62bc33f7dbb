// Taking records from a peer's ring: copy to private memory, check, then act. Whatever is wrong
// with a record ends that peer and nothing else.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/hex.hpp"
#include "base/readable.hpp"
#include "engine/fast_path.hpp"
#include "engine/parts/record_io.hpp"
#include "engine/peer_view.hpp"
#include "engine/put_samples.hpp"
#include "engine/services.hpp"
#include "wire/status.hpp"

namespace photon::engine {

namespace {

// How many of the last bytes of a chunk are looked at: all where it came over a network, beside
// which that is cheap; of a large one its last page; of others none.
constexpr std::uint64_t looked_at(std::uint64_t bytes, bool is_far) noexcept {
  constexpr std::uint64_t kLeastFar = 4096;
  constexpr std::uint64_t kLeastNear = 32 << 10;
  if (is_far && bytes >= kLeastFar) return bytes;
  return bytes >= kLeastNear ? 8 : 0;
}

// None where memory has run out: a record that was met is not met again.
std::string words_of_malformed(std::uint64_t line) noexcept {
  try {
    return "its ring holds a malformed record at line " + std::to_string(line) + "; it is cut off";
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace

// Whether anything was there. Stops at the budget, or when the sink is full. Without one, when so
// many ids were queued as unexpected: who takes one by one makes such a turn every
// kTurnsBetweenLooks, and if it queued more than that, the ids of a stream would all take the long
// way, for ever.
bool Engine::receive(Peer& peer, CompletionSink* sink) {
  unsigned left = kReceiveBudget;
  callers_memory_.forget();
  const std::uint64_t unexpected_end = peer.unexpected.end() + kUnexpectedBudget;
  const std::size_t taken_before = sink == nullptr ? 0 : sink->count;
  while (left > 0 && (sink == nullptr ? peer.unexpected.end() < unexpected_end : !sink->full())) {
    const auto state = peer.rx.peek();
    if (state == LineConsumer::State::empty) break;
    if (state == LineConsumer::State::record && sink != nullptr &&
        sink->wants(PH_REMOTE, peer.rank) && peer.unexpected.empty() &&
        take_by_fast_path(peer, peer.rx.header(), *sink)) {
      --left;
      continue;
    }
    const auto header = wire::decode(peer.rx.header());
    bool good = state == LineConsumer::State::record && header.has_value();
    for (std::uint32_t i = 1; good && i < header->lines; ++i) good = peer.rx.tagged(i);
    if (!good || !handle_once(peer, *header, sink)) {
      lose(peer, PH_ERR_PROTOCOL, words_of_malformed(peer.rx.head()));
      return true;
    }
    --left;
    if (header->kind == wire::Kind::bye) {
      lose(peer, PH_ERR_DEPARTED, "");
      return true;
    }
    if (peer.broken != PH_OK) return true;  // lost meanwhile, by what its message made us do
    peer.rx.pop(header->lines);
    // Who fills the bulk ring goes on while we copy, and a probe that has taken an id does not copy
    // all that lies behind it. Sooner, and credit would cost more than it brings.
    if (peer.rx_bulk.owed() < config_.bulk_bytes / 4) continue;
    publish_credits(peer);
    if (sink != nullptr && sink->count != taken_before) break;
  }
  if (left == kReceiveBudget) return false;
  peer.reply_backoff.met(peer.last_hit, turn_);
  peer.prefetch.met(peer.tx.tail());
  peer.last_hit = turn_;
  publish_credits(peer);
  return true;
}

// A record is never handled twice: if memory runs out in the middle of one, the peer is lost.
bool Engine::handle_once(Peer& peer, const wire::Header& header, CompletionSink* sink) {
  peer.unexpected.make_room();
  peer.local.make_room();
  id_blocks_.reserve(1);
  try {
    return handle(peer, header, sink);
  } catch (const std::bad_alloc&) {
    lose(peer, PH_ERR_MEMORY, {});
    throw;
  }
}

// False: malformed.
bool Engine::handle(Peer& peer, const wire::Header& header, CompletionSink* sink) {
  switch (header.kind) {
    case wire::Kind::put:
    case wire::Kind::put_acked: return take_put(peer, header, sink);
    case wire::Kind::bulk:
    case wire::Kind::bulk_acked: return take_bulk(peer, header, sink);
    case wire::Kind::scatter:
    case wire::Kind::scatter_acked: return take_scatter(peer, header, sink);
    case wire::Kind::get: return take_get(peer);
    case wire::Kind::gather: return take_gather(peer);
    case wire::Kind::get_data: return take_get_data(peer);
    case wire::Kind::get_failed: return take_get_failed(peer);
    case wire::Kind::ack: return take_ack(peer);
    case wire::Kind::refused: return take_refused(peer);
    case wire::Kind::counted: return take_counted(peer, header, sink);
    case wire::Kind::withdrawn: return take_withdrawn(peer);
    case wire::Kind::atomic: return take_atomic(peer, header, sink);
    case wire::Kind::fetched: return take_fetched(peer);
    case wire::Kind::jump: return take_jump(peer);
    case wire::Kind::message: return services_->take_message(peer, header);
    case wire::Kind::body: return services_->take_body(peer, header);
    case wire::Kind::bye: return true;
  }
  return false;
}

bool Engine::take_put(Peer& peer, const wire::Header& header, CompletionSink* sink) {
  RecordReader reader(peer.rx);
  const ph_target target{reader.word(), reader.word()};
  ph_status status = PH_OK;
  if (header.payload_bytes != 0) {
    status = check_access(regions_, target, header.payload_bytes, PH_ACCESS_WRITE);
    if (status == PH_OK) {
      RecordReader payload = reader;  // the payload stands behind the id
      payload.skip(header.id_words());
      payload.bytes(reinterpret_cast<void*>(target.address), header.payload_bytes);
    }
  }
  if (header.kind == wire::Kind::put_acked &&
      !answer(peer, {wire::Kind::ack, {static_cast<std::uint64_t>(status)}}))
    return false;
  if (status == PH_OK) return !header.has_id() || deliver(peer, reader, header, sink);
  id_dropped(peer, header);
  return header.kind != wire::Kind::put ||
         answer(peer,
                {wire::Kind::refused, {static_cast<std::uint64_t>(status), peer.rx.head(), 0}});
}

bool Engine::take_bulk(Peer& peer, const wire::Header& header, CompletionSink* sink) {
  RecordReader reader(peer.rx);
  const ph_target target{reader.word(), reader.word()};
  const std::uint64_t word = reader.word();
  const std::uint64_t left = reader.word();
  const std::uint64_t bytes = wire::bulk_size(word);
  const bool last = (word & wire::kBulkLast) != 0;
  if ((bytes == 0 && !last) || bytes > config_.bulk_bytes / 2) return false;
  if (!wire::is_left(left, bytes, last)) return false;
  if ((word & wire::kBulkFirst) != 0) peer.begin_bulk();
  if (left >= CallersMemory::kLeastBytes && (word & wire::kBulkFirst) != 0)
    look_at_place(peer, {target, left});
  if (bytes != 0) place_chunk(peer, {target, left}, bytes);
  return end_chunk(peer, header, reader, sink);
}

// Of a large operation, once: its owner has promised to keep it.
void EngineState::look_at_place(Peer& peer, const TargetRange& all) noexcept {
  if (check_access(regions_, all.at, all.size_bytes, PH_ACCESS_WRITE) != PH_OK) return;
  const std::byte* const place = reinterpret_cast<const std::byte*>(all.at.address);
  if (!base::is_mapped({place, all.size_bytes})) peer.bulk_refused = PH_ERR_ACCESS;
}

void Engine::place_chunk(Peer& peer, const TargetRange& rest, std::uint64_t bytes) {
  ph_status status = check_access(regions_, rest.at, rest.size_bytes, PH_ACCESS_WRITE);
  std::byte* const place = reinterpret_cast<std::byte*>(rest.at.address);
  // Of this chunk only: what follows the kernel may be writing, for its initiator.
  const std::uint64_t looked = looked_at(bytes, peer.kick_always);
  if (status == PH_OK && !base::is_writable({place + (bytes - looked), looked}))
    status = PH_ERR_ACCESS;
  if (peer.bulk_refused == PH_OK) peer.bulk_refused = status;
  if (peer.bulk_refused == PH_OK) std::memcpy(place, peer.rx_bulk.place(bytes), bytes);
  peer.rx_bulk.advance(bytes);
}

bool Engine::take_ack(Peer& peer) {
  RecordReader reader(peer.rx);
  const auto told = reader.word();
  Request* request = peer.acks.head();
  if (request == nullptr || request->kind == Request::Kind::atomic || !wire::is_end(told))
    return false;
  const ph_status status = wire::to_status(told);
  peer.acks.pop();
  peer.staged_landed = std::max(peer.staged_landed, request->staged_mark);
  peer.sent.read_to(request->line);
  if (request->kind == Request::Kind::sample) {
    PutSamples(*this).answered(peer, *request);
    return true;
  }
  mark_busy(peer);
  if (request->kind == Request::Kind::fence) {
    fence_ended(peer, *request);
  } else if (status == PH_OK) {
    landed(*request);
  } else {
    fail(status, peer.rank,
         "put of " + std::to_string(request->size_bytes) + " bytes at " +
             base::hex(request->target.address) +
             ": the target refused it: " + ph_status_text(status));
    request_failed(*request, status);
  }
  return true;
}

// A put that was sent, and mostly told to be over since, did not land.
bool Engine::take_refused(Peer& peer) {
  RecordReader reader(peer.rx);
  const auto told = reader.word();
  const auto line = reader.word();
  const auto is_chunk = reader.word();
  if (!wire::is_error(told) || is_chunk > 1) return false;
  const ph_status status = wire::to_status(told);
  // Records are judged in order, each once.
  if (line < peer.refused_next || line >= peer.tx.tail()) return false;
  const SentPut* const noted = peer.sent.find(line);
  const SentPut put = noted != nullptr ? *noted
                      : is_chunk != 0  ? put_of_chunk(peer, line)
                                       : SentPut{};
  peer.refused_next = line + 1;
  if (put.is_told) return true;
  fail(status, peer.rank,
       "rank " + std::to_string(peer.rank) + " refused the put with local id " +
           std::to_string(put.local_id) + ", " + std::to_string(put.size_bytes) + " bytes at " +
           base::hex(put.address) + ": " + ph_status_text(status) +
           "; its remote id was not delivered");
  return refused_early(peer, line, put, status);
}

void Engine::on_gone(Rank rank, const base::Error& why) {
  activity_ = true;
  if (rank >= size_) return;
  if (peers_[rank] == nullptr) {
    auto made = std::make_unique<Peer>();
    made->rank = rank;
    remember_peer(std::move(made));
  }
  Peer& peer = *peers_[rank];
  while (peer.broken == PH_OK && peer.has_rx && receive(peer, nullptr)) {
  }
  if (peer.link != nullptr && read_off_overflow(peer)) unexpected_changed(peer);
  // No bye in its ring, or no ring: it may have left in order without having met us, or because we
  // had said ours before.
  peer.may_live = why.native_errno != 0;
  // A reset is no news of one that left: it may have left something of ours unread.
  const bool gave_up = peer.may_live && why.native_errno != ECONNRESET;
  const bool has_left = boot_->has_left(rank) || peer.said_bye;
  if (why.status == PH_ERR_DEPARTED || (why.status == PH_ERR_PEER && !gave_up && has_left))
    lose(peer, PH_ERR_DEPARTED, "it left; what it had not read of ours is lost");
  else
    lose(peer, why.status == PH_OK ? PH_ERR_PEER : why.status, why.what);
  let_go(peer);
}

// Its process is gone: the ring was read to its end, what it delivered lies in the unexpected
// queue, and nobody copies in our memory any more. So nothing of the link is looked at again.
void Engine::let_go(Peer& peer) {
  if (peer.link == nullptr) return;
  if (peer.counters != nullptr) {
    peer.counters->add(Count::lines_sent, peer.tx.tail());
    peer.counters->add(Count::lines_received, peer.rx.head());
  }
  if (peer.may_live) PeerView(*this).keep_held(peer);
  forget_overflow(peer);
  peer.link = nullptr;
  peer.has_rx = false;
  peer.tx = LineProducer();
  peer.rx = LineConsumer();
  peer.credits = nullptr;
  peer.regions = nullptr;
  peer.atomic_place = {};
  peer.sent.close();
  Services::allow(peer);
  peer.is_let_go = peer.is_held();
  if (!peer.is_let_go) transport_->disconnect(peer.rank);  // else with the last that is held
}

}  // namespace photon::engine
