// Buffers that peers have announced: taking them, transfers, and saying that one is done with
// (docs/memory-model.md, Rendezvous).
//
//   waiting -- take --> taken -- finish --> given back: at once, or behind the transfers before it
#include <string>

#include "engine/engine.hpp"

namespace photon::engine {

ph_status Engine::check_match(const ph_match& match) {
  if (match.kind < PH_RECV_BUFFER || match.kind > PH_SEND_REQUEST)
    return fail(PH_ERR_ARGUMENT, match.rank,
                "buffer: nothing of kind " + std::to_string(match.kind) + " is ever announced");
  if (match.rank == PH_ANY_RANK || match.rank < size_) return PH_OK;
  return fail(
      PH_ERR_RANK, match.rank,
      "buffer: no rank " + std::to_string(match.rank) + " in a job of " + std::to_string(size_));
}

// A wish to send is over when it was taken.
bool Engine::take_buffer(const ph_match& match, ph_buffer& buffer) {
  const std::uint32_t entry = announcements_.find(match);
  if (entry == Announcements::kNone) return false;
  buffer = announcements_.at(entry).buffer;
  if (buffer.kind == PH_SEND_REQUEST) {
    give_back(*peers_[buffer.rank], entry, PH_OK);
    buffer.token = 0;
  } else {
    announcements_.take(entry);
  }
  return true;
}

// What a look for this can still hope for; PH_OK: something.
ph_status Engine::broken(const ph_match& match) {
  if (match.rank == PH_ANY_RANK || peers_[match.rank] == nullptr) return PH_OK;
  const Peer& peer = *peers_[match.rank];
  if (peer.broken == PH_OK) return PH_OK;
  return fail(peer.broken, match.rank,
              "buffer: rank " + std::to_string(match.rank) + " can announce nothing any more");
}

ph_status Engine::test_buffer(const ph_match& match, ph_buffer& buffer) {
  if (const auto status = check_match(match); status != PH_OK) return status;
  bool found = take_buffer(match, buffer);
  if (!found) {
    progress(nullptr);
    found = take_buffer(match, buffer);
  }
  if (found) {
    news_came();
    return PH_OK;
  }
  if (const auto status = broken(match); status != PH_OK) return status;
  ++empty_turns_;
  return PH_AGAIN;
}

ph_status Engine::wait_buffer(LaneGuard& guard, const ph_match& match, ph_buffer& buffer,
                              std::int64_t timeout_us) {
  if (const auto status = check_match(match); status != PH_OK) return status;
  ph_status verdict = PH_OK;
  bool found = false;                           // it is asked more than once, and takes once
  std::uint64_t looked_at = ~std::uint64_t{0};  // nothing to be found among so many
  const auto done = [&] {
    if (!found && announcements_.arrivals() != looked_at) {
      looked_at = announcements_.arrivals();
      found = take_buffer(match, buffer);
    }
    if (found) return true;
    verdict = broken(match);
    return verdict != PH_OK;
  };
  const auto status = wait_until(guard, done, timeout_us);
  return status == PH_OK ? verdict : status;
}

ph_status Engine::check_buffer(const ph_buffer& buffer, ph_buffer_kind kind, std::uint64_t offset,
                               std::uint64_t size_bytes) {
  if (announcements_.find_taken(buffer) == Announcements::kNone)
    return fail(PH_ERR_NOT_FOUND, buffer.rank,
                "buffer: it was not taken in this context, or is finished");
  if (buffer.kind != kind)
    return fail(PH_ERR_ACCESS, buffer.rank,
                kind == PH_RECV_BUFFER ? "put: this is a buffer to get from"
                                       : "get: this is a buffer to put into");
  if (offset <= buffer.size_bytes && size_bytes <= buffer.size_bytes - offset) return PH_OK;
  return fail(PH_ERR_RANGE, buffer.rank,
              std::to_string(size_bytes) + " bytes at offset " + std::to_string(offset) +
                  " leave a buffer of " + std::to_string(buffer.size_bytes) + " bytes");
}

ph_status Engine::put_buffer(const ph_buffer& buffer, std::uint64_t offset, ph_put_args args) {
  const auto status = check_buffer(buffer, PH_RECV_BUFFER, offset, args.size_bytes);
  if (status != PH_OK) return status;
  args.target = {buffer.target.address + offset, buffer.target.key};
  return put(buffer.rank, args);
}

ph_status Engine::get_buffer(const ph_buffer& buffer, std::uint64_t offset, ph_get_args args) {
  const auto status = check_buffer(buffer, PH_SEND_BUFFER, offset, args.size_bytes);
  if (status != PH_OK) return status;
  args.source = {buffer.target.address + offset, buffer.target.key};
  if (buffer.data == nullptr) return get(buffer.rank, args);
  if (const auto wrong = check_get(buffer.rank, args); wrong != PH_OK) return wrong;
  Peer* peer = nullptr;
  if (const auto lost = contact(buffer.rank, peer); lost != PH_OK) return lost;
  return get_queued(*peer, args, static_cast<const std::byte*>(buffer.data) + offset);
}

ph_status Engine::finish(const ph_buffer& buffer) {
  const std::uint32_t entry = announcements_.find_taken(buffer);
  if (entry == Announcements::kNone)
    return fail(PH_ERR_NOT_FOUND, buffer.rank,
                "finish: it was not taken in this context, or is finished already");
  const std::uint64_t token = announcements_.at(entry).owner_token;
  Peer& peer = *peers_[buffer.rank];
  // No transfers. (An empty receive buffer still says that what was put before it is there.)
  const bool is_done =
      buffer.kind == PH_SEND_BUFFER && (buffer.data != nullptr || buffer.size_bytes == 0);
  if (peer.broken != PH_OK) {
    announcements_.release(entry);
    --peer.borrowed;
    Peer* none = nullptr;
    return is_done ? PH_OK : contact(buffer.rank, none);
  }
  if (is_done) {
    give_back(peer, entry, PH_OK);
    return PH_OK;
  }
  if (!finish_now(peer, token)) {
    Request* request = requests_.take();
    if (request == nullptr) return again();
    request->kind = Request::Kind::finish;
    request->peer = &peer;
    request->tag = token;
    request->local_done = true;  // nobody hears of it
    announcements_.release(entry);
    --peer.borrowed;
    ++peer.fences;
    peer.ahead = nullptr;  // it makes payloads go that could wait before
    peer.work.push(*request);
    peer.ids.push(*request);
    mark_busy(peer);
    process(peer);
    return PH_OK;
  }
  announcements_.release(entry);
  --peer.borrowed;
  return PH_OK;
}

// Nothing stands before it: what was put is in the peer's memory, or in the ring before this.
bool Engine::finish_now(Peer& peer, std::uint64_t token) {
  settle(peer);
  if (!peer.work.empty() || !peer.ids.empty() || peer.gets_under_way != 0 ||
      peer.posted_under_way != 0)
    return false;
  Outgoing out{};
  out.kind = wire::Kind::finished;
  out.fixed[0] = token;
  return send(peer, out);
}

// It heads the work, and no bytes before it are left behind (step_fence()).
Engine::Step Engine::step_finish(Peer& peer, Request& request) {
  Outgoing out{};
  out.kind = wire::Kind::finished;
  out.fixed[0] = request.tag;
  if (!send(peer, out)) return Step::blocked;
  peer.work.pop();
  request.id_merged = true;  // step_ids() drops it
  --peer.fences;
  mark_busy(peer);
  return Step::moved;
}

// There are no transfers that its owner should wait for.
void Engine::give_back(Peer& peer, std::uint32_t entry, ph_status status) {
  const Reply reply{wire::Kind::finished,
                    {announcements_.at(entry).owner_token, static_cast<std::uint64_t>(status)}};
  const bool is_told = peer.broken != PH_OK || answer(peer, reply);
  announcements_.release(entry);
  --peer.borrowed;
  if (!is_told) lose(peer, PH_ERR_PROTOCOL, "it reads none of our answers");
}

// This rank leaves: nobody takes anything any more, nor goes on with what was taken. What was
// posted into it lands first.
void Engine::give_back_all() {
  for (std::uint32_t i = 0; i < announcements_.size(); ++i) {
    const Announcements::Entry& entry = announcements_.at(i);
    if (entry.state == Announcements::Entry::State::free) continue;
    Peer& peer = *peers_[entry.buffer.rank];
    const bool has_transfers = !peer.work.empty() || !peer.ids.empty() ||
                               peer.gets_under_way != 0 || peer.posted_under_way != 0;
    if (peer.broken == PH_OK && has_transfers) continue;
    give_back(peer, i, PH_ERR_DEPARTED);
  }
}

}  // namespace photon::engine
