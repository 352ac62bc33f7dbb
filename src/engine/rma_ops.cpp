// Puts and gets whose bytes NICs move (docs/posted-writes.md), at their initiator.
//
//   head of the work: begun -- [own memory pinned; turn and credit: counted record] -->
//     fragments posted one by one --> all posted, or one refused: leaves the work
//     --> all over --> done or failed
#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "base/finally.hpp"
#include "base/hex.hpp"
#include "base/log.hpp"
#include "base/resource_limits.hpp"
#include "engine/alone.hpp"
#include "engine/engine.hpp"

namespace photon::engine {

namespace {

void tell_of_refusal(const base::Log& log) noexcept {
  const std::uint64_t bytes = base::locked_memory_limit_bytes();
  char limit[64] = "";
  if (bytes != base::kNoLimit)
    std::snprintf(limit, sizeof limit, ", or RLIMIT_MEMLOCK, %llu KiB: ulimit -l",
                  static_cast<unsigned long long>(bytes / 1024));
  PHOTON_LOG(log, warn,
             "the NIC registers no more memory of this process (its own limit%s): "
             "operations on other memory than it has go through records",
             limit);
}

}  // namespace

// One fragment. After a refusal no more are posted, and those under way are waited for.
Engine::Step Engine::step_posted(Peer& peer, Request& request, std::uint64_t& budget) {
  if (request.verdict == PH_OK) {
    // Pinned only while nothing but NICs is waited for: a peer without room for a record must not
    // keep the NIC's memory from others.
    if (!request.posted && may_use_imm(peer, request) &&
        !peer.tx.has_room(wire::lines_for(wire::Kind::counted, request.remote.bytes, 0)))
      return Step::blocked;
    const auto pinned = pin_own(request);
    if (pinned == SourceCache::Outcome::wait) return Step::blocked;
    if (pinned == SourceCache::Outcome::refused) return go_without_nic(peer, request);
    const std::uint64_t before = peer.tx.tail();
    if (!request.posted && !begin_posted(peer, request)) return Step::blocked;
    const std::uint64_t left = rest_of(request).size_bytes;
    const std::uint64_t bytes = pinned_bytes(request, std::min(left, config_.posted_piece_bytes));
    if (!post_fragment(peer, request, bytes, before)) return Step::blocked;
    budget -= std::min(budget, bytes);
  }
  if (request.verdict == PH_OK && request.done_bytes < request.size_bytes) return Step::moved;
  peer.work.pop();
  if (request.fragments == 0) finish_posted(request);
  return Step::moved;
}

// Nothing waits before it: its record and its only fragment go without standing in a queue. False:
// nothing was done.
bool Engine::posted_at_once(Peer& peer, Request& request) {
  if (sources_.is_needed() || !request.has_rce() || request.size_bytes > config_.posted_piece_bytes)
    return false;
  if (!peer.work.empty() || !peer.ids.empty() || !peer.replies.empty() ||
      !may_use_imm(peer, request))
    return false;
  const std::uint64_t before = peer.tx.tail();
  if (!announce_fragments(peer, request, 1)) return false;
  request.posted = request.serving = true;
  ++peer.posted_under_way;
  if (post_fragment(peer, request, request.size_bytes, before)) return true;
  peer.work.push(request);  // the NIC's queue is full
  mark_busy(peer);
  return true;
}

// False: the NIC's queue is full.
bool Engine::post_fragment(Peer& peer, Request& request, std::uint64_t bytes,
                           std::uint64_t before) {
  const bool is_posted = transport_->post(next_fragment(peer, request, bytes));
  ask_interval();
  // Behind the first fragment: a transport that sends both can send them together.
  if (peer.tx.tail() != before && !(is_posted && peer.post_kicks)) kick_peer(peer);
  if (!is_posted) {
    count(peer, Count::nic_stalls);
    return false;
  }
  went_on(request, bytes);
  ++request.fragments;
  ++posted_count_;
  return true;
}

// False: there is no line for the record with its id. Fragments are announced only if all of its
// memory is pinned: then nothing can keep them from being posted but the peer's NIC.
bool Engine::begin_posted(Peer& peer, Request& request) {
  const std::uint64_t fragment_bytes = config_.posted_piece_bytes;
  const std::uint64_t fragments = request.layout != nullptr
                                      ? request.layout->fragments(fragment_bytes)
                                      : (request.size_bytes + fragment_bytes - 1) / fragment_bytes;
  if (fragments <= UINT32_MAX && is_all_pinned(request) && may_use_imm(peer, request) &&
      fragments <= transport_->imm_room(peer.rank) && !announce_fragments(peer, request, fragments))
    return false;
  if (request.kind == Request::Kind::get) count(peer, Count::get_posted);
  request.posted = request.serving = true;
  ++peer.posted_under_way;
  return true;
}

// The record with its id, whose line is their imm. False: there is no line for it.
bool Engine::announce_fragments(Peer& peer, Request& request, std::uint64_t fragments) {
  const std::uint64_t line = peer.tx.tail();
  Outgoing out{};
  out.kind = wire::Kind::counted;
  out.fixed[0] = fragments;
  out.id = id_data(request.remote);
  out.id_bytes = request.remote.bytes;
  name(out, request);
  out.is_sure = (request.flags & PH_DELIVERED) != 0;
  if (!send(peer, out, false)) return false;
  peer.imm_lines.take(line);
  request.named = request.id_merged = true;
  request.line = line;
  return true;
}

// Whether its id may go first, to wait for fragments with the imm of the next line.
bool Engine::may_use_imm(Peer& peer, const Request& request) noexcept {
  return request.kind == Request::Kind::posted && request.has_rce() && peer.imm_lines.is_open() &&
         may_post_id(peer, request) && has_ledger(peer) &&
         peer.imm_lines.is_free(peer.tx.tail(), peer.credits->lines_given()) &&
         transport_->imm_room(peer.rank) != 0;
}

transport::PostedFragment Engine::next_fragment(const Peer& peer, const Request& request,
                                                std::uint64_t bytes) const noexcept {
  const auto rest = rest_of(request);
  transport::PostedFragment fragment;
  fragment.rank = peer.rank;
  fragment.address = rest.at.address;
  fragment.key = rest.at.key;
  fragment.size_bytes = bytes;
  fragment.token = RequestPool::token(request);
  if (request.kind == Request::Kind::get)
    fragment.destination = rest.own;
  else
    fragment.source = rest.own;
  if (request.named) fragment.imm = imm_codec_.of(self_, request.line);
  if (request.entry != kNoBlock) fragment.local = sources_.handle_of(request.entry);
  return fragment;
}

void Engine::on_done(std::uint64_t token, ph_status status) {
  activity_ = true;
  Request* request = requests_.find(token);
  if (request == nullptr || !request->posted || request->fragments == 0) return;
  --request->fragments;
  if (request->verdict == PH_OK) request->verdict = status;
  mark_busy(*request->peer);  // the NIC's queue has room, and a fence may wait for this
  if (request->fragments == 0 && !request->in_work) finish_posted(*request);
}

// No NIC touches its memory any more.
void Engine::finish_posted(Request& request) {
  Peer& peer = *request.peer;
  unpin_own(request);
  if (request.verdict != PH_OK && is_ending(peer, request.verdict)) return;
  request.serving = false;
  --peer.posted_under_way;
  mark_busy(peer);
  if (request.verdict == PH_OK) {
    if (request.named) peer.imm_lines.give_back(request.line);
    return landed(request);
  }
  if (peer.broken != PH_OK) return request_failed(request, peer.broken);
  refused_by_nic(request);
}

// A NIC knows nothing of leaving in order: it finds the key revoked, or nobody there. What its
// owner said before stands in the ring. True: the peer is lost, or known to be soon; abandon() has
// ended the request, or will.
bool Engine::is_ending(Peer& peer, ph_status verdict) {
  if (peer.broken != PH_OK) return false;
  while (peer.broken == PH_OK && peer.has_rx && receive(peer, nullptr)) {
  }
  return peer.broken != PH_OK || verdict == PH_ERR_PEER || boot_->has_left(peer.rank);
}

void Engine::refused_by_nic(Request& request) {
  Peer& peer = *request.peer;
  const Request was = request;
  const base::Finally heard([this]() noexcept { is_quiet_ = false; });
  is_quiet_ = was.owner != wire::Owner::application;
  if (was.named) peer.sent.told(was.line);
  request_failed(request, was.verdict);
  try {
    if (was.named && !answer(peer, {wire::Kind::withdrawn, {was.line}}))
      return lose(peer, PH_ERR_PROTOCOL, "it reads none of our answers");
  } catch (const std::bad_alloc&) {
    return lose(peer, PH_ERR_MEMORY, {});  // its ids would wait for ever
  }
  if (was.verdict == PH_ERR_ARGUMENT) {
    fail(own_memory_error(was));  // no fault of the peer's
    return;
  }
  fail(was.verdict, peer.rank,
       std::string(was.kind == Request::Kind::get ? "get of " : "put of ") +
           std::to_string(was.size_bytes) + " bytes at " + base::hex(was.target.address) +
           ": the NIC of rank " + std::to_string(peer.rank) +
           " refused it: " + ph_status_text(was.verdict));
}

// Our NIC cannot know its memory. Chunks and the owner's answers need no NIC; no fragment is under
// way, and none was announced.
Engine::Step Engine::go_without_nic(Peer& peer, Request& request) {
  if (!std::exchange(told_of_refusal_, true)) tell_of_refusal(log_);
  if ((request.flags & PH_ALONE) != 0) {
    Alone(*this).give_up(request);
    return Step::moved;
  }
  if (request.posted) {
    request.posted = request.serving = false;
    --peer.posted_under_way;
  }
  if (request.kind == Request::Kind::get) {
    request.chunked = request.done_bytes != 0;  // some bytes are here: it cannot be taken back
    request.done_bytes = 0;                     // its owner answers it as a whole
    if (request.layout != nullptr) request.layout->rewind();
  } else
    request.kind = Request::Kind::bulk;
  request.no_nic = true;
  return Step::moved;
}

}  // namespace photon::engine
