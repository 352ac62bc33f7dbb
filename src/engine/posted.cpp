// Puts and gets whose bytes network cards move (docs/memory-model.md, Posted writes), at their
// initiator.
//
//   head of the work: begun -- [turn and credit: counted record] --> pieces posted one by one
//     --> all posted, or one refused: leaves the work --> all over --> done or failed
#include <algorithm>
#include <string>

#include "engine/engine.hpp"

namespace photon::engine {

// One piece. After a refusal no more are posted, and those under way are waited for.
Engine::Step Engine::step_posted(Peer& peer, Request& request, std::uint64_t& budget) {
  if (!request.posted && !begin_posted(peer, request)) return Step::blocked;
  if (request.verdict == PH_OK) {
    const std::uint64_t left = request.size_bytes - request.done_bytes;
    const std::uint64_t bytes = std::min(left, config_.piece_bytes);
    if (!transport_->post(next_piece(peer, request, bytes))) return Step::blocked;
    request.done_bytes += bytes;
    ++request.pieces;
    budget -= std::min(budget, bytes);
  }
  if (request.verdict == PH_OK && request.done_bytes < request.size_bytes) return Step::moved;
  peer.work.pop();
  if (request.pieces == 0) finish_posted(request);
  return Step::moved;
}

// False: there is no line for the record with its id.
bool Engine::begin_posted(Peer& peer, Request& request) {
  const auto posting = transport_->posting();
  const std::uint64_t line = peer.tx.tail();
  if (request.kind == Request::Kind::posted && request.has_rce() &&
      posting != transport::Posting::unnamed && names_.suffice(config_.ring_lines) &&
      may_post_id(peer, request) && has_ledger(peer)) {
    if (peer.named_lines.empty()) peer.named_lines.resize(config_.ring_lines);
    auto named = peer.named_lines.begin() + static_cast<std::ptrdiff_t>(line % config_.ring_lines);
    if (!*named) {
      if (!peer.replies.empty()) return false;  // one may be the withdrawal of this very name
      Outgoing out{};
      out.kind = wire::Kind::counted;
      out.fixed[0] = posting == transport::Posting::named_in_order
                         ? 1
                         : (request.size_bytes + config_.piece_bytes - 1) / config_.piece_bytes;
      out.id = id_data(request.remote);
      out.id_bytes = request.remote.bytes;
      if (!send(peer, out)) return false;
      *named = true;
      request.named = request.id_merged = true;
      request.line = line;
    }
  }
  request.posted = request.serving = true;
  ++peer.posted_under_way;
  return true;
}

transport::PostedPiece Engine::next_piece(const Peer& peer, const Request& request,
                                          std::uint64_t bytes) const noexcept {
  transport::PostedPiece piece;
  piece.rank = peer.rank;
  piece.address = request.target.address + request.done_bytes;
  piece.key = request.target.key;
  piece.size_bytes = bytes;
  piece.token = RequestPool::token(request);
  if (request.kind == Request::Kind::get)
    piece.destination = request.destination + request.done_bytes;
  else
    piece.source = request.source + request.done_bytes;
  const bool is_last = request.done_bytes + bytes == request.size_bytes;
  if (request.named && (is_last || transport_->posting() == transport::Posting::named))
    piece.name = names_.of(self_, request.line);
  return piece;
}

void Engine::on_done(std::uint64_t token, ph_status status) {
  activity_ = true;
  Request* request = requests_.find(token);
  if (request == nullptr || !request->posted || request->pieces == 0) return;
  --request->pieces;
  // A card knows nothing of leaving in order: it finds the key revoked, or nobody there.
  if (status != PH_OK && boot_->has_left(request->peer->rank)) status = PH_ERR_DEPARTED;
  if (request->verdict == PH_OK) request->verdict = status;
  mark_busy(*request->peer);  // the card's queue has room, and a fence may wait for this
  if (request->pieces == 0 && !request->in_work) finish_posted(*request);
}

// No card touches its memory any more.
void Engine::finish_posted(Request& request) {
  Peer& peer = *request.peer;
  request.serving = false;
  --peer.posted_under_way;
  const bool named = request.named;
  const std::uint64_t line = request.line;
  if (named) peer.named_lines[line % config_.ring_lines] = false;
  mark_busy(peer);
  if (request.verdict != PH_OK) {
    const bool is_get = request.kind == Request::Kind::get;
    fail(request.verdict, peer.rank,
         std::string(is_get ? "get of " : "put of ") + std::to_string(request.size_bytes) +
             " bytes at address " + std::to_string(request.target.address) + ": rank " +
             std::to_string(peer.rank) + "'s card refused it: " + ph_status_text(request.verdict));
    request_failed(request, request.verdict);
    if (named && !answer(peer, {wire::Kind::withdrawn, {line}}))
      lose(peer, PH_ERR_PROTOCOL, "it reads none of our answers");
    return;
  }
  if (request.kind == Request::Kind::get) return landed(request);
  request.data_done = true;
  complete_local(request, PH_OK);
  maybe_free(request);
}

}  // namespace photon::engine
