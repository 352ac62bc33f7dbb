// Gets that the owner of the memory answers, both sides.
//
//   requester: asked -- get_data ... --> landed      asked -- get_failed --> failed
//              asked -- the kernel took over --> landed: what comes is dropped (get_takeover.hpp)
//   owner:     accepted -- chunk ... --> answered    accepted -- key gone --> refused
#include <algorithm>
#include <cstring>

#include "base/finally.hpp"
#include "base/hex.hpp"
#include "engine/get_takeover.hpp"
#include "engine/parts/record_io.hpp"
#include "wire/status.hpp"

namespace photon::engine {

bool Engine::take_get(Peer& peer) {
  RecordReader reader(peer.rx);
  const ph_target target{reader.word(), reader.word()};
  const auto size = reader.word();
  const auto token = reader.word();
  if (peer.serves.size() >= kMaxGets || size == 0) return false;
  const ph_status status = check_access(regions_, target, size, PH_ACCESS_READ);
  if (status != PH_OK) {
    return answer(peer, {wire::Kind::get_failed, {token, static_cast<std::uint64_t>(status)}});
  }
  Serve serve;
  serve.source = reinterpret_cast<const std::byte*>(target.address);
  serve.key = target.key;
  serve.size_bytes = size;
  serve.token = token;
  peer.serves.push(serve);
  mark_busy(peer);
  return true;
}

// One chunk of the oldest get. The key is looked at each time: the region may go meanwhile.
Engine::Step Engine::step_serves(Peer& peer, std::uint64_t& budget) {
  if (peer.serves.empty()) return Step::blocked;
  Serve& serve = peer.serves.front();
  if (serve.table != kNoBlock) return step_gathered(peer, serve, budget);
  const auto bytes = chunk_bytes(serve.size_bytes, serve.size_bytes - serve.done_bytes);
  const ph_target at{reinterpret_cast<std::uint64_t>(serve.source) + serve.done_bytes, serve.key};
  ph_status status = check_access(regions_, at, bytes, PH_ACCESS_READ);
  if (status == PH_OK && (!bulk_room(peer, bytes) || !peer.tx.has_room(1))) return Step::blocked;
  if (status == PH_OK && !callers_memory_.can_read({serve.source + serve.done_bytes, bytes},
                                                   serve.size_bytes - serve.done_bytes))
    status = PH_ERR_ACCESS;
  if (status != PH_OK) {
    const Reply reply{wire::Kind::get_failed, {serve.token, static_cast<std::uint64_t>(status)}};
    end_serve(peer);
    if (!answer(peer, reply)) lose(peer, PH_ERR_PROTOCOL, "it reads none of our answers");
    return Step::moved;
  }
  peer.stage(serve.source + serve.done_bytes, bytes, serve.size_bytes);
  Outgoing out{};
  out.kind = wire::Kind::get_data;
  out.fixed[0] = serve.token;
  out.fixed[1] = serve.done_bytes;
  out.fixed[2] = bytes;
  send(peer, out);
  serve.done_bytes += bytes;
  budget -= std::min(budget, bytes);
  if (serve.done_bytes == serve.size_bytes) end_serve(peer);
  return Step::moved;
}

bool Engine::take_get_data(Peer& peer) {
  RecordReader reader(peer.rx);
  const auto token = reader.word();
  const auto offset = reader.word();
  const auto bytes = reader.word();
  Request* request = requests_.find(token);
  if (bytes == 0 || bytes > config_.bulk_bytes / 2) return false;
  if (request == nullptr) {
    if (!peer.gets.stale.data(token, offset, bytes)) return false;
    peer.rx_bulk.advance(bytes);
    return true;
  }
  if (request->peer != &peer || request->posted || offset != request->done_bytes ||
      bytes > request->size_bytes - request->done_bytes)
    return false;
  if (request->layout != nullptr) return take_gathered(*request, bytes);
  const base::Finally heard([this]() noexcept { is_quiet_ = false; });
  is_quiet_ = request->owner != wire::Owner::application;
  GetTakeover both(*this);
  if (request->verdict == PH_OK && !both.place(peer, *request, bytes))
    request->verdict = fail(own_memory_error(*request));
  peer.rx_bulk.advance(bytes);
  request->done_bytes += bytes;
  if (request->done_bytes < request->size_bytes) return true;
  mark_busy(peer);
  both.answered(peer, *request);
  if (request->verdict != PH_OK) {
    request_failed(*request, request->verdict);
    return true;
  }
  both.took(peer, *request, CopyChoice::Way::staged);
  request->serving = false;
  --peer.gets_under_way;
  landed(*request);
  return true;
}

bool Engine::take_get_failed(Peer& peer) {
  RecordReader reader(peer.rx);
  const auto token = reader.word();
  const auto told = reader.word();
  Request* request = requests_.find(token);
  if (request == nullptr) return wire::is_error(told) && peer.gets.stale.refusal(token);
  if (request->peer != &peer || request->posted || !wire::is_error(told)) return false;
  const ph_status status = wire::to_status(told);
  const base::Finally heard([this]() noexcept { is_quiet_ = false; });
  is_quiet_ = request->owner != wire::Owner::application;
  fail(status, peer.rank,
       "get of " + std::to_string(request->size_bytes) + " bytes at " +
           base::hex(request->target.address) + ": its owner refused: " + ph_status_text(status));
  mark_busy(peer);
  if (request->layout != nullptr) return gather_failed(*request, status);
  GetTakeover(*this).answered(peer, *request);
  request_failed(*request, status);
  return true;
}

}  // namespace photon::engine
