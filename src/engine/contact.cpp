// Meeting and losing peers.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "base/finally.hpp"
#include "base/log.hpp"
#include "boot/cores.hpp"
#include "engine/engine.hpp"
#include "engine/peer_view.hpp"
#include "engine/services.hpp"

namespace photon::engine {

EngineState::EngineState(EngineParts parts)
    : config_(parts.config),
      boot_(std::move(parts.boot)),
      transport_(std::move(parts.transport)),
      self_(boot_->rank()),
      size_(boot_->size()),
      imm_codec_(size_, transport_->imm_bits()),
      log_(config_.log, self_),
      threads_with_cores_(boot::threads_with_cores(config_, *boot_)),
      peers_(size_),
      completions_(config_.requests),
      doorbell_(transport_->lane_doorbell() != nullptr ? transport_->lane_doorbell()
                                                       : &no_doorbell_),
      requests_(config_.requests),
      id_blocks_(config_.max_cid_size),
      payload_blocks_(config_.packed_max),
      tables_(wire::kMostGathered * wire::kRunBytes),
      is_lane_(parts.memory != nullptr),
      memory_(is_lane_ ? std::move(parts.memory)
                       : std::make_shared<Memory>(*transport_, config_, std::move(parts.keys))),
      active_lane_(memory_->active_lanes),
      regions_(memory_->regions.table()),
      exposer_(memory_->regions.new_exposer()),
      sources_(*transport_, memory_->regions, config_),
      service_kinds_(parts.services) {
  last_error_.status = PH_OK;
  counting_ = config_.stats != 0;
  ask_interval();
  count_threads();
}

// Lanes fall silent and come back, so it is looked at now and then.
void EngineState::count_threads() noexcept {
  const unsigned at_work = active_lane_.note(transport_->now_ns(), Lane::self());
  oversubscribed_ = at_work > threads_with_cores_;
  has_core_to_spin_ = at_work <= threads_with_cores_ / 2;  // a caller and a thread for each lane
  is_crowded_ = progress_thread_ != nullptr && !has_core_to_spin_;
  yield_policy_.set_oversubscribed(oversubscribed_, is_crowded_);
}

Engine::Engine(Parts parts) : EngineState(std::move(parts)) {
  services_ = std::make_unique<Services>(*this, service_kinds_);
}

ph_status Engine::open_lane(std::uint32_t number, Parts& parts) {
  auto boot = boot_->open_lane(number);
  if (!boot) return fail(boot.error());
  auto transport = transport_->open_lane(number, **boot);
  if (!transport) return fail(transport.error());
  parts = {config_, std::move(*boot), std::move(*transport), {}, memory_, service_kinds_};
  return PH_OK;
}

// The peer behind a rank, met now if need be. Fails if nothing can reach it any more.
ph_status Engine::contact(Rank rank, Peer*& peer) {
  if (rank >= size_)
    return fail(PH_ERR_RANK, rank,
                "no rank " + std::to_string(rank) + " in a job of " + std::to_string(size_) +
                    "; ranks are 0 to " + std::to_string(size_ - 1));
  peer = peers_[rank].get();
  if (peer == nullptr) {
    if (!boot_->knows(rank))
      return fail(PH_ERR_NOT_FOUND, rank,
                  "the address of rank " + std::to_string(rank) +
                      " is not known here: give it to ph_connect(), or let that rank begin");
    auto link = transport_->connect(rank);
    if (!link && boot_->has_left(rank))
      return fail(PH_ERR_DEPARTED, rank, "rank " + std::to_string(rank) + " has left the job");
    if (!link) return fail(link.error());
    peer = &make_peer(rank);
  }
  if (peer->broken == PH_OK) return PH_OK;
  return fail(peer->broken, rank,
              "rank " + std::to_string(rank) + " is " + text_of(contact_state_of(peer->state)) +
                  ": it can take no operation any more" +
                  (peer->why.empty() ? "" : " (" + peer->why + ")"));
}

Peer& Engine::make_peer(Rank rank) {
  auto made = std::make_unique<Peer>();  // whatever may fail fails before the peer is known
  made->rank = rank;
  made->sent.open(config_.ring_lines);
  if (transport_->has_imm(rank) && imm_codec_.suffice(config_.ring_lines)) {
    made->imm_lines.open(config_.ring_lines);
    made->arrivals.open(config_.ring_lines);
  }
  Peer& peer = remember_peer(std::move(made));
  adopt_link(peer);
  return peer;
}

// Later pushes to the lists of peers do not allocate.
Peer& Engine::remember_peer(std::unique_ptr<Peer> made) {
  if (counting_) made->counters = std::make_unique<PeerCounters>();
  made->counts = made->counters.get();
  const std::size_t count = contacted_.size() + 1;
  for (auto* peers : {&contacted_, &hot_, &busy_})
    if (peers->capacity() < count) peers->reserve(2 * count);
  local_ready_.reserve(count);
  unexpected_ready_.reserve(count);
  contacted_.push_back(made.get());
  Peer& peer = *made;
  peers_[peer.rank] = std::move(made);
  services_->met(peer);
  return peer;
}

// Take over what the link offers by now.
void Engine::adopt_link(Peer& peer) {
  auto connected = transport_->connect(peer.rank);
  if (!connected) return lose(peer, PH_ERR_PEER, connected.error().what);
  transport::Link& link = **connected;
  const auto log2 = static_cast<unsigned>(__builtin_ctzll(config_.ring_lines));
  if (peer.link == nullptr) {
    peer.link = &link;
    // A line is kept for a jump: it may be due when nothing else can go.
    peer.tx = LineProducer(link.tx_lines, link.tx_credits, log2, 1, link.tx_order);
    peer.claims_answers = link.tx_order == transport::LineOrder::apart;
    peer.credits = link.tx_credits;
    peer.tx_bulk = BulkProducer{link.tx_bulk, config_.bulk_bytes};
    peer.overflow_out = OverflowProducer(link.tx_overflow, config_.overflow_bytes / 8);
    if (link.is_memory && peer.rank != self_) peer.stores = Stores(config_.shm_copies);
    Services::allow(peer);
  }
  peer.kick_always = link.kick_always;
  peer.post_kicks = link.post_kicks;
  peer.fenced = link.fenced;
  peer.always_kicks = link.kick_always || link.fenced;
  peer.regions = link.peer_regions;
  if (!peer.has_rx && link.rx_lines != nullptr) {
    peer.has_rx = true;
    peer.rx = LineConsumer(link.rx_lines, link.rx_credits, log2, link.rx_order);
    peer.line_batch = config_.ring_lines / 4;
    peer.ledger_batch = std::max<std::uint64_t>(1, config_.ledger_slots / 4);
    peer.rx_bulk = BulkConsumer{link.rx_bulk, config_.bulk_bytes};
    peer.overflow_in = OverflowConsumer(link.rx_overflow, config_.overflow_bytes / 8);
    peer.state = Peer::State::connected;
    heat(peer);
  }
}

// Nothing will come from or go to this peer any more. What it delivered stays.
void Engine::lose(Peer& peer, ph_status status, std::string what) {
  if (peer.broken != PH_OK) return;
  const bool was_quiet = std::exchange(is_quiet_, false);  // a loss is the user's, too
  const base::Finally as_before([&]() noexcept { is_quiet_ = was_quiet; });
  peer.broken = status;
  peer.state = status == PH_ERR_DEPARTED ? Peer::State::departed : Peer::State::dead;
  peer.why = std::move(what);
  // A rank that leaves, or that ends without having met us, is no news.
  if (status != PH_ERR_DEPARTED && (peer.link != nullptr || status != PH_ERR_PEER)) {
    try {
      fail(status, peer.rank, peer.why);
    } catch (const std::bad_alloc&) {  // it is lost all the same
      last_error_ = base::Error{status, 0, {}, peer.rank};
    }
    PHOTON_LOG(log_, warn, "rank %u: %s", peer.rank, peer.why.c_str());
  }
  cool(peer);
  tell_lost(peer);
  fail_all(peer);
  if (status != PH_ERR_DEPARTED && status != PH_ERR_PEER) transport_->cut_off(peer.rank, peer.why);
  drop_coming(peer);
  services_->lost(peer, status);
  has_concluded_ = true;
  if (waiters_ != 0) news();
}

// An id that waited is whole, or was withdrawn.
void Engine::unexpected_changed(Peer& peer) {
  settle_unexpected(peer);
  refill_or_lose(peer);
  show_unexpected(peer);
}

// Behind the last id of the unexpected queue, for who has taken it.
void Engine::refill_or_lose(Peer& peer) {
  const ph_status status = refill_unexpected(peer);
  if (status == PH_OK) return;
  try {
    if (status == PH_ERR_PROTOCOL)
      return lose(peer, status, "its overflow holds a malformed entry; it is cut off");
  } catch (const std::bad_alloc&) {
  }
  lose(peer, PH_ERR_MEMORY, {});  // its ids would wait for ever
}

void Engine::fail_all(Peer& peer) {
  settle(peer);
  peer.replies.clear();
  peer.replies.trim();
  peer.jump_due = 0;
  // It takes nothing of ours any more: what it leaves there holds up nobody else.
  overflow_words_ -= peer.overflow_out.used();
  peer.overflow_out = OverflowProducer();
  peer.used.overflow_clean = 0;
  while (!peer.serves.empty()) end_serve(peer);
  const ph_status status = peer.broken;
  while (!peer.late.empty()) {
    LateId late = peer.late.front();
    overflow_words_ -= late.words();
    peer.late.pop(late.words());
    drop(late.id);
    try {
      if (late.is_reported) report_late(peer, late.local_word, late.request, status);
    } catch (const std::bad_alloc&) {
      peer.lost_some = true;  // told by flush and finalize
    }
  }
  while (Request* request = peer.work.head()) abandon(*request, status);
  while (Request* request = peer.acks.head()) {
    peer.acks.pop();
    request_failed(*request, status);
  }
  while (peer.gets.waiting.head() != nullptr) peer.gets.waiting.pop();
  peer.gets.stale.clear();
  requests_.for_each_serving([&](Request& request) {
    if (request.peer == &peer) abandon(request, status);
  });
  while (Request* request = peer.ids.head()) {
    peer.ids.pop();
    // An id that was still to go: its operation did not complete, whatever was reported locally.
    // Where that was all its caller wanted to be sure of, flush and finalize tell of the id.
    const bool is_sure = request->local_done && (request->flags & PH_DELIVERED) != 0;
    if (!request->id_merged && is_sure)
      peer.lost_some = peer.lost_some || peer.may_have_lost();
    else if (!request->id_merged)
      complete_local(*request, status);
    request->id_merged = true;
    maybe_free(*request);
  }
  peer.gets_under_way = 0;
  peer.atomics_asked = 0;
  peer.fences = 0;
  peer.ahead = nullptr;
  peer.fences_ended = peer.fences_begun;
}

void Engine::on_link(Rank rank) {
  activity_ = true;
  Peer* peer = peers_[rank].get();
  if (peer == nullptr) {
    make_peer(rank);
    return;
  }
  if (peer->broken != PH_OK) return;
  adopt_link(*peer);
  mark_busy(*peer);
}

void Engine::on_activity(Rank rank) {
  Peer* peer = rank < size_ ? peers_[rank].get() : nullptr;
  if (peer == nullptr || peer->broken != PH_OK || !peer->has_rx) return;
  if (peer->rx.peek() == LineConsumer::State::empty) return;
  activity_ = true;
  heat(*peer);
}

ph_status Engine::describe(Rank rank, ph_path& path) {
  if (rank >= size_) {
    Peer* none = nullptr;
    return contact(rank, none);
  }
  path.transport = transport_->name();
  path.state = text_of(PeerView(*this).state_of(rank));
  transport_->describe(rank, path);
  if (peers_[rank] != nullptr && peers_[rank]->stores.is_open())
    peers_[rank]->stores.describe(path);
  const std::string ways = services_->ways(rank);
  const std::size_t used = std::strlen(path.reason);
  std::snprintf(path.reason + used, sizeof path.reason - used, "%s", ways.c_str());
  if (!boot_->knows(rank))
    std::snprintf(path.reason, sizeof path.reason,
                  "its address is not known here: ph_connect() takes it");
  return PH_OK;
}

}  // namespace photon::engine
