#include "engine/get_takeover.hpp"

#include <algorithm>
#include <cstring>

#include "base/finally.hpp"

namespace photon::engine {

std::optional<CopyChoice::Way> GetTakeover::choose(Peer& peer, const TargetRange& there,
                                                   std::uint32_t flags) {
  if (there.size_bytes < CopyChoice::kLeastBytes || (flags & PH_ALONE) != 0 ||
      peer.regions == nullptr ||
      engine_.transport_->reach(peer.rank, there.at.address, there.size_bytes).kind !=
          transport::Reach::Kind::call)
    return std::nullopt;
  peer.gets.stale.make_room(Engine::kMaxGets);
  return may_ask(peer) ? peer.gets.copies.next(there.size_bytes) : Way::kernel;
}

bool GetTakeover::may_ask(Peer& peer) const noexcept {
  return peer.gets.stale.empty() && peer.gets_under_way < Engine::kMaxGets &&
         peer.tx.has_room(wire::lines_for(wire::Kind::get, wire::kNoId, 0)) &&
         !peer.credits->is_hidden();
}

void GetTakeover::asked(Peer& peer, Request& request) noexcept {
  // The thread that sleeps has chosen how long without knowing of this.
  if (peer.gets.waiting.empty()) engine_.wake_sleeper();
  request.stalled_since_ns = 0;
  peer.gets.waiting.push(request);
}

Engine::Step GetTakeover::step(Peer& peer, std::uint64_t& budget) {
  Request* const request = peer.gets.waiting.head();
  if (request == nullptr || has_news(peer) || !is_due(peer, *request)) return Engine::Step::blocked;
  const base::Finally heard([this]() noexcept { engine_.is_quiet_ = false; });
  engine_.is_quiet_ = request->owner != wire::Owner::application;
  const ph_status status = copy(peer, *request, budget);
  if (status == PH_AGAIN) {
    const auto reach =
        engine_.transport_->reach(peer.rank, request->target.address, request->size_bytes);
    if (reach.is_ours_to_copy()) return Engine::Step::blocked;  // the kernel is short of memory
    peer.gets.waiting.pop();
    return Engine::Step::moved;
  }
  if (status == PH_OK && request->copied_bytes < request->size_bytes) return Engine::Step::moved;
  end(peer, *request);
  if (status == PH_OK) {
    took(peer, *request, Way::staged);
    engine_.landed(*request);
  } else {
    engine_.request_failed(*request, status);
  }
  return Engine::Step::moved;
}

// The answer may lie in our ring, and what its owner has said since: that it leaves, say. It is
// read first.
bool GetTakeover::has_news(Peer& peer) noexcept {
  if (!peer.has_rx || peer.rx.peek() == LineConsumer::State::empty) return false;
  engine_.heat(peer);
  return true;
}

// A get that stands behind stale answers has waited as long as those.
bool GetTakeover::is_due(Peer& peer, Request& request) noexcept {
  constexpr std::int64_t kPatienceNs = 10'000;  // an owner between two probes is there
  constexpr std::int64_t kBytesPerNs = 30;      // twice what CMA reaches
  if (!peer.gets.stale.empty()) return true;
  const std::int64_t now = engine_.transport_->now_ns();
  if (request.stalled_since_ns == 0) request.stalled_since_ns = now;
  const std::uint64_t left = request.size_bytes - request.copied_bytes;
  std::int64_t needed = peer.gets.copies.expected_ns(Way::kernel, left);
  if (needed == 0) needed = static_cast<std::int64_t>(left) / kBytesPerNs;
  return now - request.stalled_since_ns >= std::max(kPatienceNs, needed);
}

// PH_AGAIN: as copy_piece().
ph_status GetTakeover::copy(Peer& peer, Request& request, std::uint64_t& budget) {
  if (request.verdict != PH_OK) return request.verdict;  // it was given up
  const std::uint64_t left = request.size_bytes - request.copied_bytes;
  Piece piece{{request.target.address + request.copied_bytes, request.target.key},
              std::min({left, budget, engine_.config_.piece_bytes})};
  piece.destination = request.destination + request.copied_bytes;
  const ph_status status =
      engine_.can_copy(peer.rank, piece, left) ? engine_.copy_piece(peer, piece) : PH_ERR_ARGUMENT;
  if (status == PH_ERR_ARGUMENT) engine_.fail(own_memory_error(request));
  if (status != PH_OK) return status;
  budget -= piece.size_bytes;
  request.copied_bytes += piece.size_bytes;
  return PH_OK;
}

// It is over before its owner has answered.
void GetTakeover::end(Peer& peer, Request& request) noexcept {
  peer.gets.waiting.pop();
  peer.gets.stale.push(RequestPool::token(request), request.size_bytes, request.done_bytes);
  request.serving = false;
  --peer.gets_under_way;
}

bool GetTakeover::place(Peer& peer, Request& request, std::uint64_t bytes) {
  request.stalled_since_ns = 0;
  const std::uint64_t end = request.done_bytes + bytes;
  if (request.copied_bytes >= end) return true;
  const std::uint64_t here = std::max(request.copied_bytes, request.done_bytes);
  std::byte* const to = request.destination + here;
  if (!engine_.callers_memory_.can_write({to, end - here}, request.size_bytes - here)) return false;
  std::memcpy(to, peer.rx_bulk.place(bytes) + (here - request.done_bytes), end - here);
  request.copied_bytes = end;
  return true;
}

void GetTakeover::answered(Peer& peer, Request& request) noexcept {
  if (request.in_acks) static_cast<void>(peer.gets.waiting.remove(request));
}

// An owner that is asked for several answers one after the other: it is judged by the time since
// the one before.
void GetTakeover::took(Peer& peer, const Request& request, Way way) noexcept {
  if (request.learns) learn(peer, way, request.size_bytes, request.first_ns);
}

void GetTakeover::took_now(Peer& peer, std::uint64_t size_bytes, std::int64_t began_ns) noexcept {
  learn(peer, Way::kernel, size_bytes, began_ns);
}

void GetTakeover::learn(Peer& peer, Way way, std::uint64_t size_bytes,
                        std::int64_t began_ns) noexcept {
  const std::int64_t now = engine_.transport_->now_ns();
  peer.gets.copies.took(way, size_bytes, now - std::max(began_ns, peer.gets.ended_ns));
  peer.gets.ended_ns = now;
}

}  // namespace photon::engine
