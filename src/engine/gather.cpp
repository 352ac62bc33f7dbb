// Vectored gets, at the initiator by whatever way; and those that the owner answers, both sides.
//
//   requester, heading the work: asked for a part, up to kMostAsked ahead -- ... -- all asked:
//   leaves
//              the work; data of a part comes in --> ... --> all landed
//              a part is refused: asks for no more -- those asked are answered --> failed
//   owner:     each gather is a serve of its own: waits for its turn -- chunk ... --> answered
//                                                 -- a run is refused --> get_failed
//
// Answers come in the order of the questions: keys are looked at when it is a gather's turn.
#include <algorithm>
#include <cstring>
#include <string>

#include "engine/alone.hpp"
#include "engine/engine.hpp"
#include "engine/parts/record_io.hpp"

namespace photon::engine {

namespace {

constexpr std::uint64_t kMostOfRun = 1u << 30;  // bytes: its two numbers have 32 bits

}  // namespace

// One question, for as much as its table holds.
Engine::Step Engine::step_gather(Peer& peer, Request& request) {
  if ((request.flags & PH_ALONE) != 0) {
    Alone(*this).give_up(request);
    return Step::moved;
  }
  Layout& layout = *request.layout;
  if (peer.gets_unanswered() >= kMaxGets || layout.asked_count == Layout::kMostAsked)
    return Step::blocked;
  const std::size_t most =
      std::min<std::size_t>(wire::kMostGathered, config_.bulk_chunk / wire::kRunBytes);
  std::array<wire::Run, wire::kMostGathered> table;
  std::size_t runs = 0;
  std::uint64_t asked = 0;
  Place after = layout.next;
  for (; runs < most && !layout.is_end(after); ++runs) {
    const auto run = layout.take(after, {.bytes = kMostOfRun});
    table[runs] = run.on_wire();
    asked += run.bytes();
  }
  const std::uint64_t bytes = runs * wire::kRunBytes;
  if (!request.serving) {  // the first
    layout.landing = layout.next;
    layout.asked_bytes = request.done_bytes;
  }
  if (!bulk_room(peer, bytes) || !peer.tx.has_room(1)) return Step::blocked;
  std::memcpy(peer.tx_bulk.place(bytes), table.data(), bytes);
  peer.tx_bulk.advance(bytes);
  Outgoing out{};
  out.kind = wire::Kind::gather;
  out.fixed[0] = RequestPool::token(request);
  out.fixed[1] = layout.asked_bytes;
  out.fixed[2] = bytes;
  send(peer, out);
  if (layout.asked_bytes == 0) count(peer, Count::get_served);
  layout.next = after;
  layout.asked_bytes += asked;
  layout.asked_ends[layout.asked_count++] = layout.asked_bytes;
  ++peer.gets_under_way;
  request.serving = true;
  if (layout.is_end(after)) peer.work.pop();
  return Step::moved;
}

// False: more than was asked for.
bool Engine::take_gathered(Request& request, std::uint64_t bytes) {
  Peer& peer = *request.peer;
  Layout& layout = *request.layout;
  if (layout.asked_count == 0 || bytes > layout.asked_ends[0] - request.done_bytes) return false;
  if (request.verdict == PH_OK) layout.unpack(peer.rx_bulk.place(bytes), bytes);
  peer.rx_bulk.advance(bytes);
  request.done_bytes += bytes;
  if (request.done_bytes == layout.asked_ends[0]) ask_answered(request);
  return true;
}

// The rest of that part will not come.
bool Engine::gather_failed(Request& request, ph_status status) {
  Layout& layout = *request.layout;
  if (layout.asked_count == 0) return false;
  if (request.verdict == PH_OK) request.verdict = status;
  if (request.in_work) request.peer->work.pop();  // it heads the work, and asks for no more
  request.done_bytes = layout.asked_ends[0];
  ask_answered(request);
  return true;
}

void Engine::ask_answered(Request& request) {
  Peer& peer = *request.peer;
  Layout& layout = *request.layout;
  std::copy(layout.asked_ends.begin() + 1, layout.asked_ends.end(), layout.asked_ends.begin());
  --layout.asked_count;
  mark_busy(peer);
  if (layout.asked_count == 0 && request.verdict != PH_OK)
    return request_failed(request, request.verdict);
  --peer.gets_under_way;
  if (request.verdict != PH_OK || request.done_bytes < request.size_bytes) return;
  request.serving = false;
  landed(request);
}

// False: malformed.
bool Engine::take_gather(Peer& peer) {
  RecordReader reader(peer.rx);
  Serve serve;
  serve.token = reader.word();
  serve.offset = reader.word();
  const std::uint64_t bytes = reader.word();
  if (bytes == 0 || bytes > config_.bulk_bytes / 2 || bytes % wire::kRunBytes != 0 ||
      bytes > tables_.block_bytes() || peer.serves.size() >= kMaxGets)
    return false;
  tables_.reserve(1);
  peer.serves.push(serve);
  Serve& kept = peer.serves.back();
  kept.table = tables_.take();
  kept.runs = static_cast<std::uint32_t>(bytes / wire::kRunBytes);
  std::byte* const table = tables_.at(kept.table);
  std::memcpy(table, peer.rx_bulk.place(bytes), bytes);
  peer.rx_bulk.advance(bytes);
  for (std::uint32_t i = 0; i < kept.runs; ++i) {
    wire::Run run;
    std::memcpy(&run, table + i * wire::kRunBytes, sizeof run);
    const std::uint64_t size = wire::bytes_of(run);
    if (size == 0 || __builtin_add_overflow(kept.size_bytes, size, &kept.size_bytes)) return false;
  }
  mark_busy(peer);
  return true;
}

// One chunk of a gather. Keys are looked at each time: regions may go meanwhile.
Engine::Step Engine::step_gathered(Peer& peer, Serve& serve, std::uint64_t& budget) {
  const auto bytes = chunk_bytes(serve.size_bytes, serve.size_bytes - serve.done_bytes);
  if (!bulk_room(peer, bytes) || !peer.tx.has_room(1)) return Step::blocked;
  const ph_status status = read_runs(serve, peer.tx_bulk.place(bytes), bytes);
  if (status != PH_OK) {
    const Reply reply{wire::Kind::get_failed, {serve.token, static_cast<std::uint64_t>(status)}};
    end_serve(peer);
    if (!answer(peer, reply)) lose(peer, PH_ERR_PROTOCOL, "it reads none of our answers");
    return Step::moved;
  }
  peer.tx_bulk.advance(bytes);
  Outgoing out{};
  out.kind = wire::Kind::get_data;
  out.fixed[0] = serve.token;
  out.fixed[1] = serve.offset + serve.done_bytes;
  out.fixed[2] = bytes;
  count(peer, Count::staged_bytes, bytes);
  send(peer, out);
  serve.done_bytes += bytes;
  budget -= std::min(budget, bytes);
  if (serve.done_bytes == serve.size_bytes) end_serve(peer);
  return Step::moved;
}

ph_status Engine::read_runs(Serve& serve, std::byte* to, std::uint64_t bytes) noexcept {
  const std::byte* const table = tables_.at(serve.table);
  while (bytes > 0) {
    wire::Run run;
    std::memcpy(&run, table + serve.at.run * wire::kRunBytes, sizeof run);
    const Part part = take_part(run.size_bytes, run.count, serve.at, {.bytes = bytes});
    const auto stride = static_cast<std::uint64_t>(run.stride_bytes);
    const std::uint64_t first = run.address + part.block * stride + part.offset;
    const auto extent = wire::extent_of(first, part.size_bytes, part.count, run.stride_bytes);
    const ph_status status = !extent ? PH_ERR_RANGE
                                     : check_access(regions_, {extent->address, run.key},
                                                    extent->size_bytes, PH_ACCESS_READ);
    if (status != PH_OK) return status;
    copy_blocks({to, static_cast<std::int64_t>(part.size_bytes)},
                {reinterpret_cast<std::byte*>(first), run.stride_bytes}, part.size_bytes,
                part.count);
    to += part.bytes();
    bytes -= part.bytes();
  }
  return PH_OK;
}

}  // namespace photon::engine
