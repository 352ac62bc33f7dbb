// What services ask of the engine, one by one.
#include "engine/service_port.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/finally.hpp"
#include "engine/parts/summons.hpp"
#include "engine/quiet_turn.hpp"
#include "engine/reservations.hpp"

namespace photon::engine {

// What failed for a service is told in the service's words: those of the user's last error stay.
ph_status ServicePort::in_own_words(ph_status status, base::Error before) {
  if (status < PH_OK) last_error_ = engine_.last_error_;
  engine_.last_error_ = std::move(before);
  return status;
}

ph_status ServicePort::say(const service::Saying& what, std::uint64_t* ticket) {
  base::Error before = engine_.last_error_;  // no argument of the call that changes it
  return in_own_words(services_.say(owner_, what, ticket), std::move(before));
}

ph_status ServicePort::say_anyhow(Rank to, std::span<const std::byte> header) noexcept {
  try {
    service::Saying what;
    what.to = to;
    what.header = header;
    return say(what, nullptr);
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;
  }
}

void ServicePort::tell(Rank to) noexcept { engine_.kick_peer(*engine_.peers_[to]); }

bool ServicePort::unsay(Rank to, std::uint64_t ticket) noexcept {
  Peer* const peer = to < engine_.size_ ? engine_.peers_[to].get() : nullptr;
  return peer != nullptr && peer->queues.of(owner_).unsay(ticket);
}

ph_status ServicePort::say_body(const service::Saying& what, std::span<const std::byte> body,
                                std::uint64_t token) {
  base::Error before = engine_.last_error_;
  return in_own_words(services_.say_body(owner_, what, body, token), std::move(before));
}

void ServicePort::give_back(Rank from, std::uint64_t loan) { services_.give_back(from, loan); }

std::uint64_t ServicePort::mark(Rank to) noexcept {
  const Peer* const peer = to < engine_.size_ ? engine_.peers_[to].get() : nullptr;
  return peer == nullptr ? 0 : peer->tx.tail();
}

bool ServicePort::was_read(Rank to, std::uint64_t mark) noexcept {
  const Peer* const peer = to < engine_.size_ ? engine_.peers_[to].get() : nullptr;
  if (peer == nullptr) return mark == 0;
  const bool is_known = peer->credits != nullptr && peer->credits->lines_given() <= peer->tx.tail();
  return peer->sent.read() >= mark || (is_known && peer->credits->lines_given() >= mark);
}

void ServicePort::note_read(Rank to, std::uint64_t mark) noexcept {
  Peer* const peer = to < engine_.size_ ? engine_.peers_[to].get() : nullptr;
  if (peer != nullptr && mark <= peer->tx.tail()) peer->sent.read_to(mark);
}

ph_status ServicePort::reserve(Rank to, std::uint64_t size_bytes, std::span<std::byte>& room) {
  if (Reservations::is_at_hand(engine_, to))  // no words to keep: this is on the way of each chunk
    return Reservations(engine_).reserve(owner_, to, size_bytes, room);
  base::Error before = engine_.last_error_;
  return in_own_words(Reservations(engine_).reserve(owner_, to, size_bytes, room),
                      std::move(before));
}

void ServicePort::fill(Rank to, std::byte* at, std::span<const std::byte> bytes) noexcept {
  Reservations(engine_).fill(to, at, bytes);
}

ph_status ServicePort::commit(const service::Saying& what, std::uint64_t size_bytes) {
  if (Reservations::is_at_hand(engine_, what.to))
    return Reservations(engine_).commit(owner_, what, size_bytes);
  base::Error before = engine_.last_error_;
  return in_own_words(Reservations(engine_).commit(owner_, what, size_bytes), std::move(before));
}

void ServicePort::cancel_room(Rank to) noexcept { Reservations(engine_).cancel(owner_, to); }

ph_status ServicePort::get(Rank from, const Fetch& what, std::uint64_t& handle) {
  base::Error before = engine_.last_error_;
  return in_own_words(services_.get(owner_, from, what, handle), std::move(before));
}

bool ServicePort::give_up(std::uint64_t handle) noexcept { return services_.give_up(handle); }

ph_status ServicePort::contact(Rank rank) {
  Peer* none = nullptr;
  base::Error before = engine_.last_error_;
  return in_own_words(engine_.contact(rank, none), std::move(before));
}

ph_status ServicePort::state(Rank rank) const noexcept {
  const Peer* const peer = rank < engine_.size_ ? engine_.peers_[rank].get() : nullptr;
  return peer == nullptr ? PH_OK : peer->broken;
}

bool ServicePort::may_live(Rank rank) const noexcept {
  const Peer* const peer = rank < engine_.size_ ? engine_.peers_[rank].get() : nullptr;
  return peer != nullptr && peer->may_have_lost();
}

void ServicePort::cut_off(Rank rank, const char* why) {
  Peer* const peer = rank < engine_.size_ ? engine_.peers_[rank].get() : nullptr;
  if (peer == nullptr) return;
  std::string words;
  try {
    words = why;
  } catch (const std::bad_alloc&) {  // a service may have to do this for lack of memory
  }
  engine_.lose(*peer, PH_ERR_PROTOCOL, std::move(words));
}

void ServicePort::note_unheard(Rank rank, ph_status status, const char* why) noexcept {
  if (status == PH_ERR_DEPARTED || engine_.unheard_ != PH_OK) return;
  engine_.unheard_ = status;
  engine_.unheard_rank_ = rank;
  try {
    engine_.fail(status, rank, why == nullptr ? ph_status_text(status) : why);
  } catch (const std::bad_alloc&) {  // the status alone tells
  }
}

void ServicePort::note_dropped() noexcept { ++engine_.own_counts_.dropped; }

bool ServicePort::is_here(Rank rank) const noexcept {
  if (rank == engine_.self_) return true;
  const boot::Boot& boot = engine_.boot();
  return boot.knows_hosts() && boot.passes_descriptors(rank);
}

Rank ServicePort::host_of(Rank rank) const noexcept {
  const boot::Boot& boot = engine_.boot();
  if (!boot.knows_hosts()) return PH_ANY_RANK;
  if (!is_here(rank)) return boot.host_of(rank).value_or(PH_ANY_RANK);
  Rank first = 0;
  while (!is_here(first)) ++first;
  return first;
}

Rank ServicePort::rank() const noexcept { return engine_.self_; }
std::uint32_t ServicePort::size() const noexcept { return engine_.size_; }
const base::Config& ServicePort::config() const noexcept { return engine_.config_; }

std::uint64_t ServicePort::promise(const service::UserEnd& end) {
  engine_.id_blocks_.reserve(1);  // whatever may fail fails before anything is taken
  Peer* const peer = engine_.peers_[end.rank].get();
  Request* const request = engine_.new_request(*peer, end.flags | PH_NO_RCE, end.is_beyond);
  if (request == nullptr) {
    engine_.again();
    return 0;
  }
  request->kind = Request::Kind::promise;
  request->promised_by = owner_;
  request->size_bytes = end.size_bytes;
  request->tag = end.token;
  engine_.name_locally(*request, end.local, end.request);
  return RequestPool::token(*request);
}

Request* ServicePort::promised(std::uint64_t promise) noexcept {
  Request* const request = engine_.requests_.find_used(promise);
  return request != nullptr && request->promised_by == owner_ ? request : nullptr;
}

void ServicePort::complete(std::uint64_t promise, ph_status status, const char* why) noexcept {
  Request* const request = promised(promise);
  if (request == nullptr) return;
  try {
    if (status < PH_OK && why != nullptr) engine_.fail(status, request->peer->rank, why);
    engine_.complete_local(*request, status);
  } catch (const std::bad_alloc&) {
    request->peer->lost_some = true;  // told by flush and finalize
  }
}

void ServicePort::release(std::uint64_t promise) noexcept {
  Request* const request = promised(promise);
  if (request == nullptr) return;
  request->promised_by = wire::Owner::application;
  engine_.maybe_free(*request);
}

void ServicePort::renounce(std::uint64_t promise) noexcept {
  Request* const request = promised(promise);
  if (request == nullptr) return;
  if (request->kept) engine_.requests_.release(*request);
  request->local_done = true;
  --request->peer->outstanding;
  engine_.completions_.release();
  request->promised_by = wire::Owner::application;
  engine_.maybe_free(*request);
}

void ServicePort::report_late(Rank rank, std::uint64_t local_id, ph_status status,
                              const char* why) noexcept {
  Peer* const peer = rank < engine_.size_ ? engine_.peers_[rank].get() : nullptr;
  if (peer == nullptr) return;
  if (engine_.is_leaving_) return note_unheard(rank, status, why);  // nobody probes any more
  try {
    if (why != nullptr) engine_.fail(status, rank, why);
    engine_.report_late(*peer, local_id, PH_REQUEST_NONE, status);
  } catch (const std::bad_alloc&) {
    peer->lost_some = true;  // told by flush and finalize
  }
}

ph_status ServicePort::again() noexcept { return engine_.again(); }

void ServicePort::hand_over(std::uint64_t promise, ph_request* request) noexcept {
  Request* const made = engine_.requests_.find_used(promise);
  if (made != nullptr) engine_.hand_over(*made, request);
}

ph_status ServicePort::expose(std::span<const std::byte> memory, std::uint32_t access,
                              service::Exposed& exposed) {
  const auto address = reinterpret_cast<std::uint64_t>(memory.data());
  RegionBook& regions = engine_.memory_->regions;
  const auto around = regions.find(address, memory.size());
  const std::uint32_t granted = around ? regions.access_of(around->key) : 0;
  if ((granted & access) == access) {
    exposed = {{address, around->key}, false};
    return PH_OK;
  }
  return register_for(memory, access | engine_.exposer_, exposed);
}

// A mark of its own: it is counted together with no other.
ph_status ServicePort::expose_alone(std::span<const std::byte> memory, std::uint32_t access,
                                    service::Exposed& exposed) {
  return register_for(memory, access | engine_.memory_->regions.new_exposer(), exposed);
}

ph_status ServicePort::register_for(std::span<const std::byte> memory, std::uint32_t access,
                                    service::Exposed& exposed) {
  const auto address = reinterpret_cast<std::uint64_t>(memory.data());
  auto added = engine_.memory_->regions.add({address, memory.size(), 0}, access, false);
  if (!added) {
    last_error_ = added.error();
    return last_error_.status;
  }
  exposed = {{address, added->key}, true};
  return PH_OK;
}

// The peer has said that nothing of its is under way; one that is lost may be in the middle of a
// copy, and only a NIC that touches the memory is waited for. That of this lane: no other has lent
// this registration, though a peer that keeps to no promise may have reached it by one
// (docs/ofi.md, Known defects).
void ServicePort::conceal(service::Exposed& exposed) noexcept {
  if (!exposed.is_own) return;
  exposed.is_own = false;
  ph_region region{};
  RegionBook& regions = engine_.memory_->regions;
  if (regions.remove(exposed.target.key, region) != RegionBook::Removed::stale) return;
  engine_.forget_own(region);
  engine_.transport_->quiesce();
  static_cast<void>(regions.release(region));
}

ph_status ServicePort::can_store_here(Rank rank) const noexcept {
  const Peer* const peer = rank < engine_.size_ ? engine_.peers_[rank].get() : nullptr;
  if (rank == engine_.self_) return PH_ERR_NOT_FOUND;
  if (peer == nullptr) return PH_ERR_NOT_FOUND;
  if (peer->broken != PH_OK) return peer->broken;
  if (peer->state == Peer::State::connecting || peer->link == nullptr) return PH_AGAIN;
  return peer->shows_intent() ? PH_OK : PH_ERR_NOT_FOUND;
}

// By pieces, so that its owner never waits for a long copy.
ph_status ServicePort::store(Rank to, const ph_target& at, std::span<const std::byte> bytes) {
  Peer* const peer = to < engine_.size_ ? engine_.peers_[to].get() : nullptr;
  if (peer == nullptr || peer->broken != PH_OK || to == engine_.self_) return PH_AGAIN;
  engine_.is_quiet_ = true;  // the key is the peer's choice
  const base::Finally heard([this]() noexcept { engine_.is_quiet_ = false; });
  const Way way = peer->stores.for_mapped(bytes.size(), false, peer->tx);
  for (std::uint64_t done = 0; done < bytes.size();) {
    const std::uint64_t size =
        std::min<std::uint64_t>(bytes.size() - done, engine_.config_.piece_bytes);
    const Piece piece{{at.address + done, at.key}, size, bytes.data() + done, nullptr, way};
    if (const ph_status status = engine_.copy_piece(*peer, piece); status != PH_OK) return status;
    done += size;
  }
  return PH_OK;
}

// These three are the owner's part of sync/intent.hpp, but nobody is waited for.
void ServicePort::revoke(service::Exposed& exposed) noexcept {
  ph_region region{};
  if (!exposed.is_own) return;
  exposed.is_own =
      engine_.memory_->regions.remove(exposed.target.key, region) == RegionBook::Removed::stale;
  if (exposed.is_own) engine_.forget_own(region);
}

void ServicePort::fence() noexcept {
  engine_.transport_->quiesce();
  transport::Policy::full_fence();     // for peers that fence
  transport::Policy::heavy_barrier();  // for all others
}

bool ServicePort::forget(service::Exposed& exposed, Rank user) noexcept {
  if (!exposed.is_own) return true;
  const Peer* const peer = user < engine_.size_ ? engine_.peers_[user].get() : nullptr;
  const std::uint64_t slot = exposed.target.key & (engine_.config_.max_regions - 1);
  if (peer != nullptr && peer->shows_intent() && peer->link->rx_intent->names(slot)) return false;
  exposed.is_own = false;
  ph_region region{};
  RegionBook& regions = engine_.memory_->regions;
  if (regions.remove(exposed.target.key, region) == RegionBook::Removed::stale)
    static_cast<void>(regions.release(region));
  return true;
}

// A lane may end before its context, and then its peers still look at what was shared.
bool ServicePort::shares_memory(Rank rank) const noexcept {
  return !engine_.is_lane_ && engine_.transport_->shares_memory(rank);
}

std::span<std::byte> ServicePort::share(std::size_t size_bytes) {
  if (engine_.transport_->arena().empty()) return {};
  std::byte* const base = engine_.memory_->take(size_bytes);
  return base == nullptr ? std::span<std::byte>() : std::span(base, size_bytes);
}

const std::byte* ServicePort::see(Rank rank, std::uint64_t address, std::uint64_t size_bytes) {
  auto mapping = engine_.transport_->map(rank, address, size_bytes);
  if (!mapping) return nullptr;
  seen_[rank] = std::move(mapping->memory);  // all of its arena
  return mapping->local;
}

void ServicePort::wake_rank(Rank rank) noexcept { engine_.transport_->wake_rank(rank); }

// Whoever sleeps has chosen how long without knowing of it.
void ServicePort::wants_company() noexcept {
  engine_.wake_sleeper();
  if (engine_.progress_thread_ != nullptr) engine_.progress_thread_->come_soon();
}

void ServicePort::wake() noexcept {
  engine_.has_concluded_ = true;
  if (engine_.waiters_ != 0) engine_.news();
}

std::int64_t ServicePort::now_ns() noexcept { return engine_.transport_->now_ns(); }

// ---- of the engine

service::Service* Engine::service(wire::Owner owner) { return services_->use(owner); }
service::Port& Engine::port(wire::Owner owner) noexcept { return services_->port(owner); }
void Engine::count_call() { services_->count_call(); }
void Engine::leave_user_code() noexcept { services_->note_left(); }
void Engine::push_out() {
  if (services_->has_queued()) process_busy();
}
bool Engine::quick_turn() noexcept { return quiet_turn(); }
bool Engine::tested(bool found) noexcept {
  if (found)
    news_came();
  else
    ++empty_turns_;
  return !found && should_yield();
}
bool Engine::is_in_user_code() const noexcept { return services_->is_run_by_caller(); }

}  // namespace photon::engine
