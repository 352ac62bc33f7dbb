// What services say: queued where there is no line, behind what was posted before, or with a body.
//
//   body:    queued --> [work] chunk --> ... --> last chunk --> told, freed
//   behind:  [work]+[ids] head of both, nothing before it under way --> sent --> freed
#include <algorithm>
#include <cstring>
#include <new>

#include "base/finally.hpp"
#include "engine/get_takeover.hpp"
#include "engine/services.hpp"

namespace photon::engine {

namespace {

Outgoing message_of(wire::Owner owner, const service::Saying& what) noexcept {
  Outgoing out{};
  out.kind = wire::Kind::message;
  out.is_sure = true;  // its service hears of the loss of a peer
  out.owner = owner;
  out.id = what.header.data();
  out.id_bytes = static_cast<std::uint32_t>(what.header.size());
  out.payload = what.payload.data();
  out.payload_bytes = static_cast<std::uint32_t>(what.payload.size());
  return out;
}

bool is_good(const service::Saying& what) noexcept {
  return !what.header.empty() && what.header.size() <= wire::kMaxIdBytes &&
         what.payload.size() <= wire::kMaxPackedBytes;
}

// The record of the next part of a body; of no bytes: the rest will not come.
Outgoing part_of(const Request& request, std::uint64_t bytes) noexcept {
  Outgoing out{};
  out.kind = wire::Kind::body;
  out.is_sure = true;  // as above
  out.owner = request.owner;
  out.fixed[0] = request.size_bytes;
  out.fixed[1] = request.done_bytes;
  const bool is_last = bytes == 0 || request.done_bytes + bytes == request.size_bytes;
  out.fixed[2] =
      bytes | (request.done_bytes == 0 ? wire::kBulkFirst : 0) | (is_last ? wire::kBulkLast : 0);
  out.id_bytes = 0;
  return out;
}

}  // namespace

HeldMessage Services::hold(const service::Saying& what) {
  HeldMessage held{messages_.take(), static_cast<std::uint32_t>(what.header.size()),
                   static_cast<std::uint32_t>(what.payload.size())};
  std::memcpy(messages_.at(held.block), what.header.data(), held.header_bytes);
  if (held.payload_bytes != 0)
    std::memcpy(messages_.at(held.block) + held.header_bytes, what.payload.data(),
                held.payload_bytes);
  return held;
}

// Nothing that was posted to the peer has still to leave.
bool Services::is_first(const Peer& peer) const noexcept {
  return peer.work.empty() && peer.ids.empty() && peer.gets_under_way == 0 &&
         peer.posted_under_way == 0;
}

ph_status Services::say(wire::Owner owner, const service::Saying& what, std::uint64_t* ticket) {
  if (ticket != nullptr) *ticket = 0;
  if (!is_good(what)) return PH_ERR_ARGUMENT;
  Peer* peer = nullptr;
  if (const auto status = engine_.contact(what.to, peer); status != PH_OK) return status;
  if (what.behind_all && !is_first(*peer)) {
    Request& request = *engine_.requests_.take_for_service();
    request.kind = Request::Kind::behind;
    request.owner = owner;
    request.local_done = true;  // nobody hears of it
    begin_work(*peer, request, what);
    ++peer->fences;
    peer->ahead = nullptr;  // it makes payloads go that could wait before
    peer->ids.push(request);
    return PH_OK;
  }
  MessageQueue& queue = peer->queues.of(owner);
  if (queue.is_open() && engine_.send(*peer, message_of(owner, what))) {
    ++peer->messages;
    return PH_OK;
  }
  if (!what.must_go && !what.behind_all) {
    queue.want_room();
    engine_.mark_busy(*peer);
    return engine_.again();
  }
  if (queue.size() >= kMostQueued) {
    engine_.lose(*peer, PH_ERR_PROTOCOL, "it reads none of our messages");
    return PH_ERR_PROTOCOL;
  }
  const QueuedMessage queued{static_cast<std::uint32_t>(what.header.size()),
                             static_cast<std::uint32_t>(what.payload.size())};
  const std::uint64_t at = queue.push(queued, what.header, what.payload);
  if (ticket != nullptr) *ticket = at;
  has_queued_ = true;
  allow(*peer);
  engine_.mark_busy(*peer);
  return PH_OK;
}

// A message goes with a request: its place among the peer's work, and in the order of its service.
void Services::begin_work(Peer& peer, Request& request, const service::Saying& what) {
  request.peer = &peer;
  try {
    request.message = hold(what);
  } catch (const std::bad_alloc&) {
    engine_.requests_.give(request);
    throw;
  }
  request.first_line = peer.queues.of(request.owner).begin_work();
  peer.work.push(request);
  has_queued_ = true;
  allow(peer);
  engine_.mark_busy(peer);
}

bool Services::step(Peer& peer) {
  bool moved = false;
  for (const Slot& one : slots_)
    if (one.service != nullptr && step_one(peer, one.kind->owner)) moved = true;
  return moved;
}

bool Services::step_one(Peer& peer, wire::Owner owner) {
  MessageQueue& queue = peer.queues.of(owner);
  if (!queue.empty()) return queue.may_go() && send_queued(peer, owner);
  if (!queue.room_wanted || !queue.is_open() || !peer.tx.has_room(1)) return false;
  if (queue.bulk_wanted() != 0 && !engine_.bulk_room(peer, queue.bulk_wanted())) return false;
  queue.room_wanted = false;
  slot(owner).service->on_room(peer.rank);
  return false;  // it may have said anything: the next turn looks again
}

bool Services::send_queued(Peer& peer, wire::Owner owner) {
  MessageQueue& queue = peer.queues.of(owner);
  const QueuedMessage message = queue.front();
  if (!message.is_void) {
    std::byte bytes[wire::kMaxIdBytes + wire::kMaxPackedBytes];
    const std::uint64_t header_words = (std::uint64_t{message.header_bytes} + 7) / 8;
    for (std::uint64_t i = 0; i + 2 < message.words(); ++i) {
      const std::uint64_t word = queue.word(i);
      std::memcpy(bytes + i * sizeof word, &word, sizeof word);
    }
    const service::Saying what{peer.rank,
                               {bytes, message.header_bytes},
                               {bytes + header_words * 8, message.payload_bytes}};
    if (!engine_.send(peer, message_of(owner, what))) return false;
    ++peer.messages;
  }
  queue.pop();
  allow(peer);
  return true;
}

// Null: the quota of that service is used up. on_local() will need no memory.
Request* Services::take_request(wire::Owner owner, Peer& peer) {
  const std::uint64_t most = std::max<std::uint64_t>(16, engine_.config_.requests / 4);
  if (slot(owner).requests >= most) return nullptr;
  ends_.make_room(requests_under_way() + 1);
  Request* const request = engine_.requests_.take_for_service();
  request->owner = owner;
  request->flags = PH_NO_RCE;
  request->peer = &peer;
  return request;
}

ph_status Services::say_body(wire::Owner owner, const service::Saying& what,
                             std::span<const std::byte> body, std::uint64_t token) {
  if (!is_good(what) || body.empty()) return PH_ERR_ARGUMENT;
  Peer* peer = nullptr;
  if (const auto status = engine_.contact(what.to, peer); status != PH_OK) return status;
  Request* const made = take_request(owner, *peer);
  if (made == nullptr) {
    peer->queues.of(owner).want_room();
    engine_.mark_busy(*peer);
    return engine_.again();
  }
  Request& request = *made;
  request.kind = Request::Kind::body;
  request.source = body.data();
  request.size_bytes = body.size();
  request.tag = token;
  begin_work(*peer, request, what);
  ++slot(owner).requests;
  return PH_OK;
}

ph_status Services::get(wire::Owner owner, Rank from, const service::Port::Fetch& what,
                        std::uint64_t& handle) {
  if (what.to.empty()) return PH_ERR_ARGUMENT;
  Peer* peer = nullptr;
  if (const auto status = engine_.contact(from, peer); status != PH_OK) return status;
  engine_.is_quiet_ = true;  // the key is the peer's choice
  const base::Finally heard([this]() noexcept { engine_.is_quiet_ = false; });
  const ph_status status = engine_.check_target(*peer, what.from, what.to.size(), PH_ACCESS_READ);
  if (status != PH_OK) return status;
  const auto way = GetTakeover(engine_).choose(*peer, {what.from, what.to.size()}, 0);
  Request* const request = take_request(owner, *peer);
  if (request == nullptr) return PH_AGAIN;
  request->kind = Request::Kind::get;
  request->learns = way.has_value();
  request->asked = way == CopyChoice::Way::staged;
  request->destination = what.to.data();
  request->size_bytes = what.to.size();
  request->target = what.from;
  request->tag = what.token;
  ++slot(owner).requests;
  handle = RequestPool::token(*request);
  peer->work.push(*request);
  engine_.mark_busy(*peer);
  return PH_OK;
}

// Bytes that its owner sends are dropped from now on; a NIC cannot be told.
bool Services::give_up(std::uint64_t handle) noexcept {
  Request* const request = engine_.requests_.find_used(handle);
  if (request == nullptr || request->kind != Request::Kind::get ||
      request->owner == wire::Owner::application)
    return true;
  if (request->verdict == PH_OK) request->verdict = PH_ERR_STATE;
  if (request->posted && request->fragments != 0) return false;
  if (!request->in_work) return true;  // asked for; or the last fragment has just ended
  Peer& peer = *request->peer;
  static_cast<void>(peer.work.remove(*request));
  engine_.mark_busy(peer);  // others may have waited behind it
  engine_.request_failed(*request, PH_ERR_STATE);
  return true;
}

// One chunk, or word that there are no more, for the memory they were to be read from is gone. In
// the order of its owner: what queues goes before its first.
bool Services::step_body(Peer& peer, Request& request, std::uint64_t& budget) {
  const std::uint64_t left = request.size_bytes - request.done_bytes;
  const std::uint64_t bytes = engine_.chunk_bytes(request.size_bytes, left);
  const bool is_first = request.done_bytes == 0;
  if (is_first && !peer.queues.of(request.owner).has_passed(request.first_line)) return false;
  if (!engine_.bulk_room(peer, bytes)) return false;
  const bool is_there = engine_.can_stage(request, bytes);
  Outgoing out = part_of(request, is_there ? bytes : 0);
  if (is_first) {
    out.id = messages_.at(request.message.block);
    out.id_bytes = request.message.header_bytes;
    out.payload = messages_.at(request.message.block) + request.message.header_bytes;
    out.payload_bytes = request.message.payload_bytes;
  }
  if (!peer.tx.has_room(wire::lines_for(out.kind, out.id_bytes, out.payload_bytes))) return false;
  if (is_there) peer.stage(request.source + request.done_bytes, bytes, request.size_bytes);
  engine_.send(peer, out);
  ++peer.messages;
  request.done_bytes += bytes;
  budget -= std::min(budget, bytes);
  if (is_there && request.done_bytes != request.size_bytes) return true;
  if (!is_there) {
    engine_.request_failed(request, PH_ERR_ARGUMENT);
    return true;
  }
  peer.work.pop();
  end_work(peer, request);
  engine_.maybe_free(request);
  return true;
}

// It heads the work, and no bytes before it are left behind (step_fence()).
bool Services::step_behind(Peer& peer, Request& request) {
  const std::byte* const bytes = messages_.at(request.message.block);
  const service::Saying what{peer.rank,
                             {bytes, request.message.header_bytes},
                             {bytes + request.message.header_bytes, request.message.payload_bytes}};
  if (!peer.queues.of(request.owner).has_passed(request.first_line) ||
      !engine_.send(peer, message_of(request.owner, what)))
    return false;
  ++peer.messages;
  peer.work.pop();
  end_work(peer, request);
  request.id_merged = true;  // step_ids() drops it
  --peer.fences;
  engine_.mark_busy(peer);
  return true;
}

}  // namespace photon::engine
