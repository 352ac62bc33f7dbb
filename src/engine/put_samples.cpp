#include "engine/put_samples.hpp"

#include <algorithm>
#include <utility>

namespace photon::engine {

namespace {

// The peer has so much to do for what was sent to it so far.
std::uint64_t sent_to(const Peer& peer) noexcept {
  return peer.tx.tail() * sizeof(transport::Line) + peer.tx_bulk.tail;
}

}  // namespace

// Little was sent behind the last mark: what is sent now begins when that mark is answered.
bool PutSamples::follows(const Peer& peer, std::uint64_t sent_bytes,
                         std::uint64_t size_bytes) noexcept {
  return sent_bytes - peer.puts.marked_bytes <= size_bytes / 8;
}

void PutSamples::choose(Peer& peer, Request& request, const TargetRange& there) noexcept {
  const std::uint64_t bytes = there.size_bytes;
  if (bytes < std::min(kLeastBytes, 2 * engine_.config_.bulk_bytes) || peer.regions == nullptr ||
      engine_.transport_->reach(peer.rank, there.at.address, bytes).kind !=
          transport::Reach::Kind::call ||
      peer.puts.copies.is_refused())
    return;
  request.learns = true;
  SharedPuts& puts = peer.puts;
  const Way way = puts.copies.next(bytes);
  if (std::exchange(puts.wants_next, false)) {
    request.is_sampled = true;
  } else if (way == Way::kernel) {
    request.kind = Request::Kind::direct;
  } else if (puts.copies.is_sampled(bytes)) {
    request.is_sampled = true;
    puts.wants_next = !peer.work.empty() || !follows(peer, sent_to(peer), bytes);
  }
}

std::uint64_t PutSamples::next_chunk(Peer& peer, Request& request, std::uint64_t bytes) {
  const std::uint64_t left = request.size_bytes - request.done_bytes;
  if (request.done_bytes == 0) peer.puts.begun_bytes = sent_to(peer);
  if (bytes < left) return bytes;
  if (left > kTailBytes) return left - kTailBytes;
  // Without a line for it there is none for the last chunk either: both are tried again.
  if (!engine_.requests_.has_free() || mark(peer, request)) request.is_sampled = false;
  return bytes;
}

// False: there is no line for it. The last chunk follows, and tells the peer.
bool PutSamples::mark(Peer& peer, const Request& put) {
  Outgoing out{};
  out.kind = wire::Kind::put_acked;
  if (!engine_.send(peer, out, false)) return false;
  Request& mark = *engine_.requests_.take_for_sample();  // there is a free one
  mark.peer = &peer;
  mark.local_done = true;  // nobody hears of it
  if (follows(peer, peer.puts.begun_bytes, put.size_bytes)) mark.size_bytes = put.size_bytes;
  mark.first_ns = put.first_ns;
  mark.marked_ns = engine_.transport_->now_ns();
  mark.marked_turn = engine_.turn_;
  peer.await_ack(mark);
  peer.puts.marked_bytes = sent_to(peer);
  return true;
}

// Not long after it came. Who looks all the time has seen it; who does not may have been busy with
// its next put, but no longer than with the one that was marked.
bool PutSamples::was_seen(const Request& mark, std::int64_t now) const noexcept {
  constexpr std::uint64_t kFewLooks = 2;
  const std::int64_t busy_ns = mark.marked_ns - mark.first_ns;
  return engine_.turn_ - mark.marked_turn > kFewLooks || now - mark.marked_ns <= busy_ns * 3 / 2;
}

void PutSamples::answered(Peer& peer, Request& mark) noexcept {
  SharedPuts& puts = peer.puts;
  const std::int64_t now = engine_.transport_->now_ns();
  const bool is_seen = was_seen(mark, now);
  const bool has_begin = puts.is_end_known || mark.first_ns >= puts.ended_ns;
  // A stream of them is not faster than we are; and the end before it may have been seen later than
  // its answer came, while we were.
  const std::int64_t took_ns =
      std::max(now - std::max(mark.first_ns, puts.ended_ns), mark.marked_ns - mark.first_ns);
  if (mark.size_bytes != 0 && is_seen && has_begin)
    puts.copies.took(Way::staged, mark.size_bytes, took_ns);
  // The sender is away after each: it has spent most of such a put waiting for the peer's room.
  else if (mark.size_bytes >= 2 * engine_.config_.bulk_bytes)
    puts.copies.took(Way::staged, mark.size_bytes, mark.marked_ns - mark.first_ns);
  puts.ended_ns = now;
  puts.is_end_known = is_seen;
  engine_.maybe_free(mark);
}

void PutSamples::ended_by_kernel(Peer& peer, Request& request) noexcept {
  request.is_sampled = false;
  if (!std::exchange(request.learns, false)) return;
  const Way way = request.kind == Request::Kind::direct ? Way::kernel : Way::staged;
  peer.puts.copies.took(way, request.size_bytes, engine_.transport_->now_ns() - request.first_ns);
}

}  // namespace photon::engine
