// What comes for services, and what they are told.
#include "engine/services.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "engine/engine.hpp"
#include "engine/fast_path.hpp"
#include "engine/service_port.hpp"

namespace photon::engine {

namespace {

std::uint32_t bit(wire::Owner owner) noexcept { return 1u << static_cast<unsigned>(owner); }

// Both parts of a message, copied out of the ring: a peer could change what lies there.
struct Copied {
  std::byte bytes[wire::kMaxIdBytes + wire::kMaxPackedBytes];
  service::Message message;

  Copied(const Peer& peer, const wire::Header& header, RecordReader& reader) noexcept {
    message.from = peer.rank;
    reader.bytes(bytes, header.id_bytes);
    message.header = {bytes, header.id_bytes};
    reader.bytes(bytes + wire::kMaxIdBytes, header.payload_bytes);
    message.payload = {bytes + wire::kMaxIdBytes, header.payload_bytes};
  }
};

}  // namespace

Services::Services(Engine& engine, std::span<const service::Kind> kinds)
    : engine_(engine), outlets_(engine.size()) {
  for (const service::Kind& kind : kinds) slot(kind.owner).kind = &kind;
}

Services::~Services() = default;

service::Service* Services::use(wire::Owner owner) {
  Slot& one = slot(owner);
  if (one.service != nullptr || one.kind == nullptr) return one.service.get();
  one.port = std::make_unique<ServicePort>(engine_, *this, owner);
  one.service = one.kind->make(*one.port);
  if (one.service->runs_beside_caller()) beside_ |= bit(owner);
  if (is_closed_) one.service->close();
  return one.service.get();
}

service::Port& Services::port(wire::Owner owner) noexcept { return *slot(owner).port; }

void Services::met(Peer& peer) noexcept {
  outlets_[peer.rank] = &peer;
  for (Slot& one : slots_)
    if (one.service != nullptr) one.service->on_met(peer.rank);
}

bool Services::take_message(Peer& peer, const wire::Header& header) {
  RecordReader reader(peer.rx);
  return take_id(peer, header, reader);
}

// The remote id of a service's operation is a message that goes behind its bytes.
bool Services::take_id(Peer& peer, const wire::Header& header, RecordReader& reader) {
  service::Service* const service = use(header.owner);
  if (service == nullptr) return false;
  tell_ends();
  const Copied copied(peer, header, reader);
  return service->on_message(copied.message);
}

bool Services::take_body(Peer& peer, const wire::Header& header) {
  RecordReader reader(peer.rx);
  const std::uint64_t size_bytes = reader.word();
  const std::uint64_t offset = reader.word();
  const std::uint64_t word = reader.word();
  const Bodies::Part part{size_bytes, offset, wire::bulk_size(word)};
  const bool is_first = offset == 0;
  const bool is_last = part.bytes == 0 || part.bytes == size_bytes - offset;
  if (((word & wire::kBulkFirst) != 0) != is_first || ((word & wire::kBulkLast) != 0) != is_last ||
      part.bytes > engine_.config_.bulk_bytes / 2)
    return false;
  if (!is_first && (header.id_bytes != 0 || header.payload_bytes != 0)) return false;
  // Chunks that are lent are not given back, so a sender that keeps to its credit has no room
  // there.
  const BulkConsumer& ring = peer.rx_bulk;
  const std::uint64_t end = bulk_end(bulk_begin(ring.head, part.bytes, ring.capacity), part.bytes);
  if (part.bytes != 0 && end - ring.free_end() > ring.capacity) return false;
  if (peer.bodies == nullptr) peer.bodies = std::make_unique<Bodies>();
  if (!peer.bodies->follows(header.owner, part)) return false;
  const Copied copied(peer, header, reader);
  service::Chunk chunk{copied.message, size_bytes, offset, {}, 0};
  if (part.bytes != 0) chunk.bytes = {peer.rx_bulk.place(part.bytes), part.bytes};
  peer.bodies->has_come(header.owner, part);
  return show_chunk(peer, header.owner, chunk);
}

bool Services::show_chunk(Peer& peer, wire::Owner owner, service::Chunk& chunk) {
  service::Service* const service = use(owner);
  if (service == nullptr) return false;
  tell_ends();
  Bodies& bodies = *peer.bodies;
  bodies.make_room();
  chunk.loan = bodies.next_loan();
  const std::uint64_t bytes = chunk.bytes.size();
  const service::Verdict verdict = service->on_chunk(chunk);
  if (verdict == service::Verdict::malformed) return false;
  if (bytes == 0) return true;
  if (verdict == service::Verdict::kept)
    bodies.lend(bulk_begin(peer.rx_bulk.head, bytes, peer.rx_bulk.capacity));
  peer.rx_bulk.lent_from = bodies.lent_from();
  peer.rx_bulk.advance(bytes);
  return true;
}

void Services::give_back(Rank from, std::uint64_t loan) {
  Peer* const peer = from < engine_.size_ ? engine_.peers_[from].get() : nullptr;
  if (peer == nullptr || peer->bodies == nullptr || !peer->bodies->give_back(loan)) return;
  peer->rx_bulk.lent_from = peer->bodies->lent_from();
  if (peer->link != nullptr && peer->broken == PH_OK) return engine_.publish_credits(*peer);
  if (!peer->is_held() && peer->is_let_go) {
    peer->is_let_go = false;
    engine_.transport_->disconnect(from);
  }
}

void Services::lost(Peer& peer, ph_status why) {
  allow(peer);
  peer.queues.clear();
  for (Slot& one : slots_)
    if (one.service != nullptr) one.service->on_lost(peer.rank, why);
}

// All of it has left, or never will.
void Services::end_work(Peer& peer, Request& request) {
  peer.queues.of(request.owner).end_work();
  if (request.message.block != kNoBlock) messages_.give(request.message.block);
  request.message = {};
  allow(peer);
}

// Of a request that still has its message: the peer is lost, or its memory is gone.
void Services::failed(Request& request) {
  if (request.message.block != kNoBlock) end_work(*request.peer, request);
}

void Services::ended(const Request& request, ph_status status) {
  --slot(request.owner).requests;
  ends_.push({request.owner, request.peer->rank, request.tag, status});
  set_due(true);
}

// Of all services: each has its end to be told.
std::uint64_t Services::requests_under_way() const noexcept {
  std::uint64_t sum = 0;
  for (const Slot& one : slots_) sum += one.requests;
  return sum;
}

ph_outcome Services::cancel(const Request& request) {
  service::Service* const service = slot(request.promised_by).service.get();
  return service == nullptr ? PH_TOO_LATE : service->on_cancel(request.peer->rank, request.tag);
}

// ---- turns

void Services::set_due(bool is) noexcept {
  if (is == is_due_) return;
  is_due_ = is;
  engine_.due_ += is ? 1 : std::uint32_t(-1);
  if (is && engine_.sleeping_) engine_.transport_->wake();
}

void Services::check_due() noexcept {
  engine_.wants_turns_ =
      std::any_of(slots_.begin(), slots_.end(), [](const Slot& one) { return one.wants_turn; });
  set_due(engine_.wants_turns_ || !ends_.empty());
}

void Services::wants_turn(wire::Owner owner) noexcept {
  slot(owner).wants_turn = true;
  set_due(true);
  if (std::exchange(engine_.wants_turns_, true)) return;
  for (Peer* peer : engine_.contacted_)
    engine_.settle(*peer);  // puts on a credit grant count no calls
}

// At the end of a call that is on no fast path.
void Services::count_call() {
  if (!engine_.wants_turns_) return;
  const std::int64_t now_ns = engine_.transport_->now_ns();
  if (calls_++ == 0) called_ns_ = now_ns;
  if (calls_ >= kCallsPerTurn || now_ns - called_ns_ >= kTurnNs) turn();
}

// Also before anything else is shown to a service: what answers an operation may come at once.
// If memory runs out the end is told again.
bool Services::tell_ends() {
  if (ends_.empty()) return false;
  for (std::uint64_t left = ends_.size(); left > 0; --left) {
    const End end = ends_.front();
    slot(end.owner).service->on_local(end.rank, end.token, end.status);
    ends_.pop();
  }
  if (requests_under_way() == 0) ends_.trim();  // else there is room for those that are to come
  return true;
}

bool Services::turn() {
  calls_ = 0;
  bool moved = tell_ends();
  for (Slot& one : slots_) {
    if (!one.wants_turn) continue;
    one.wants_turn = false;
    try {
      if (one.service->turn()) one.wants_turn = true;
    } catch (const std::bad_alloc&) {
      one.wants_turn = true;
      throw;
    }
    moved = true;
  }
  check_due();
  return moved;
}

std::int64_t Services::next_turn_ns() const noexcept {
  std::int64_t next = INT64_MAX;
  for (const Slot& one : slots_)
    if (one.service != nullptr) next = std::min(next, one.service->next_turn_ns());
  return next;
}

void Services::look_at_clock() noexcept {
  const std::int64_t next = next_turn_ns();
  if (next == INT64_MAX) return;
  const std::int64_t now = engine_.transport_->now_ns();
  for (Slot& one : slots_)
    if (one.service != nullptr && one.service->next_turn_ns() <= now) wants_turn(one.kind->owner);
}

void Services::before_sleep() {
  for (Slot& one : slots_)
    if (one.service != nullptr) one.service->before_sleep();
}

void Services::before_flush(Rank rank) {
  for (Slot& one : slots_)
    if (one.service != nullptr) one.service->before_flush(rank);
}

bool Services::has_news() {
  bool has = false;
  for (Slot& one : slots_)
    if (one.service != nullptr && one.service->has_news()) has = true;
  return has;
}

// Who looks may sleep; who writes wakes it.
void Services::wants_looks(wire::Owner owner, bool wants) noexcept {
  const bool did = looks_ != 0;
  looks_ = wants ? looks_ | bit(owner) : looks_ & ~bit(owner);
  if (did != (looks_ != 0)) engine_.due_ += did ? std::uint32_t(-1) : 1;
}

bool Services::look() {
  bool has = false;
  for (std::uint32_t left = looks_; left != 0; left &= left - 1)
    if (slots_[static_cast<std::size_t>(std::countr_zero(left))].service->look()) has = true;
  return has;
}

// ---- for the eye

// Those of a service that is not used yet are 0.
void Services::count(Rank rank, std::vector<NamedCount>& found) const {
  for (const Slot& one : slots_) {
    if (one.kind == nullptr) continue;
    for (std::size_t i = 0; i < one.kind->counters.size(); ++i) {
      const service::CounterRow& row = one.kind->counters[i];
      const std::uint64_t value = one.service == nullptr ? 0 : one.service->counter(rank, i);
      found.push_back({{row.name, row.help}, value});
    }
  }
}

std::string Services::ways(Rank rank) const {
  std::string all;
  for (const Slot& one : slots_) {
    const std::string own = one.service == nullptr ? std::string() : one.service->ways(rank);
    if (!own.empty()) all += "; " + own;
  }
  return all;
}

// ---- leaving

// Not while user code runs: what it looks at is its own until it is over. It is asked again.
void Services::close() {
  if (is_closed_ || is_run()) return;
  is_closed_ = true;
  for (Slot& one : slots_)
    if (one.service != nullptr) one.service->close();
}

bool Services::is_idle() const noexcept {
  if (!ends_.empty()) return false;
  for (const Slot& one : slots_)
    if (one.service != nullptr && !one.service->is_idle()) return false;
  return true;
}

std::uint64_t Services::held() const noexcept {
  std::uint64_t sum = ends_.size() + messages_.used();
  for (const Slot& one : slots_)
    if (one.service != nullptr) sum += one.service->held();
  return sum;
}

}  // namespace photon::engine
