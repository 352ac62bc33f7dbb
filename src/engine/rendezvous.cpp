// Announcing buffers, at their owner, and the records of both sides (docs/memory-model.md,
// Rendezvous). What the peer does with them: buffers.cpp.
//
//   queued -- room for its record --> announced -- finished --> over
//                                        \-- retract: asked --> finished, with or without a taker
#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "engine/engine.hpp"
#include "engine/record_io.hpp"

namespace photon::engine {

namespace {

bool is_kind(std::int64_t kind) noexcept {
  return kind >= PH_RECV_BUFFER && kind <= PH_SEND_REQUEST;
}

// What another process wrote: what it announces must be something that there can be.
bool is_sound(const ph_buffer& buffer, std::uint32_t payload_bytes) noexcept {
  if (!is_kind(buffer.kind) || buffer.tag == PH_ANY_TAG) return false;
  const auto [address, key] = buffer.target;
  if (key == 0 && address != 0) return false;
  if (payload_bytes != 0)
    return buffer.kind == PH_SEND_BUFFER && payload_bytes == buffer.size_bytes && key == 0;
  if (buffer.kind == PH_SEND_REQUEST) return key == 0;
  return (key == 0) == (buffer.size_bytes == 0) && address <= ~buffer.size_bytes;
}

}  // namespace

ph_status Engine::check_announce(Rank rank, const ph_announce_args& args) {
  if (!is_kind(args.kind))
    return fail(PH_ERR_ARGUMENT, rank, "announce: no kind " + std::to_string(args.kind));
  if ((args.flags & ~std::uint32_t{PH_NO_LCE}) != 0)
    return fail(PH_ERR_ARGUMENT, rank, "announce: unknown flags " + std::to_string(args.flags));
  if (args.tag == PH_ANY_TAG)
    return fail(PH_ERR_ARGUMENT, rank, "announce: PH_ANY_TAG is for those who look for buffers");
  const std::string bytes = std::to_string(args.size_bytes) + " bytes";
  if (args.size_bytes > wire::kMaxBufferBytes)
    return fail(PH_ERR_ARGUMENT, rank, "announce: no buffer has " + bytes);
  if (args.kind != PH_SEND_REQUEST && args.size_bytes != 0) {
    const auto address = reinterpret_cast<std::uint64_t>(args.buffer);
    if (address == 0)
      return fail(PH_ERR_ARGUMENT, rank, "announce of " + bytes + ": the buffer is null");
    if (address > ~args.size_bytes)
      return fail(PH_ERR_ARGUMENT, rank,
                  "announce of " + bytes + ": the buffer wraps around the address space");
  }
  if (const auto status = check_request("announce", rank, args.request, args.flags);
      status != PH_OK)
    return status;
  return check_ids("announce", rank, args.local, {});
}

// A key for the buffer: that of a registration which grants what the peer needs, or of a new one.
ph_status Engine::lend(const ph_announce_args& args, Lent& lent) {
  const auto address = reinterpret_cast<std::uint64_t>(args.buffer);
  const std::uint32_t access = args.kind == PH_RECV_BUFFER ? PH_ACCESS_WRITE : PH_ACCESS_READ;
  const auto around = memory_->regions.find(address, args.size_bytes);
  const std::uint32_t granted = around ? memory_->regions.access_of(around->key) : 0;
  if ((granted & access) == access) {
    lent.target = {address, around->key};
    return PH_OK;
  }
  auto added = memory_->regions.add({address, args.size_bytes, 0}, access | lender_, false);
  if (!added) return fail(added.error());
  lent = {{address, added->key}, true};
  return PH_OK;
}

// There is one: the caller has asked.
Request* Engine::new_announcement(Peer& peer, std::uint32_t flags, const Lent& lent) {
  Request unmade;  // gives the registration back if memory runs out
  unmade.target = lent.target;
  unmade.registered = lent.registered;
  try {
    Request* request = new_request(peer, flags | PH_NO_RCE);
    request->kind = Request::Kind::announce;
    ++announced_count_;
    request->target = lent.target;
    request->registered = lent.registered;
    return request;
  } catch (const std::bad_alloc&) {
    give_up_region(unmade);
    throw;
  }
}

ph_status Engine::announce(Rank rank, const ph_announce_args& args) {
  if (const auto status = check_announce(rank, args); status != PH_OK) return status;
  Peer* peer = nullptr;
  if (const auto status = contact(rank, peer); status != PH_OK) return status;
  // Whatever may fail fails before anything is taken.
  id_blocks_.reserve(1);
  payload_blocks_.reserve(1);
  // A quarter is left for transfers: those of two ranks that wait for each other's must go on.
  const std::uint64_t quota = std::min(config_.requests, kMaxBorrowed);
  if (!events_left() || requests_.exhausted() || announced_count_ >= quota - quota / 4)
    return again();
  const bool comes_along = args.kind == PH_SEND_BUFFER && args.size_bytes <= config_.packed_max;
  Lent lent;
  if (args.kind != PH_SEND_REQUEST && args.size_bytes != 0 && !comes_along)
    if (const auto status = lend(args, lent); status != PH_OK) return status;
  Request* request = new_announcement(*peer, args.flags, lent);
  request->size_bytes = args.size_bytes;
  request->what = args.size_bytes | static_cast<std::uint64_t>(args.kind) << wire::kBufferKindShift;
  request->tag = args.tag;
  if (comes_along && args.size_bytes != 0) {
    request->payload = payload_blocks_.take();
    std::memcpy(payload_blocks_.at(request->payload), args.buffer, args.size_bytes);
  }
  name_locally(*request, args.local, args.request);
  if (comes_along || args.kind == PH_SEND_REQUEST) complete_local(*request, PH_OK);
  peer->work.push(*request);
  if (peer->work.head() != request || step_announce(*peer, *request) == Step::blocked) {
    mark_busy(*peer);
    process(*peer);
  }
  hand_over(*request, args.request);
  return PH_OK;
}

Engine::Step Engine::step_announce(Peer& peer, Request& request) {
  Outgoing out{};
  out.kind = wire::Kind::announced;
  out.fixed[0] = RequestPool::token(request);
  out.fixed[1] = request.what;
  out.fixed[2] = request.tag;
  out.fixed[3] = request.target.address;
  out.fixed[4] = request.target.key;
  if (request.payload != kNoBlock) {
    out.payload = payload_blocks_.at(request.payload);
    out.payload_bytes = static_cast<std::uint32_t>(request.size_bytes);
  }
  out.local_id = request.local_word;
  out.request = RequestPool::token(request);
  out.size_bytes = request.size_bytes;
  out.is_sure = !request.local_done;  // its request is told
  if (!send(peer, out)) return Step::blocked;
  request.line = peer.tx.tail();
  if (request.payload != kNoBlock) payload_blocks_.give(request.payload);
  request.payload = kNoBlock;
  peer.work.pop();
  request.announced = true;
  if (!request.local_done) ++peer.lent;
  return Step::moved;
}

// The peer has said that it is done, so nothing of its is under way; one that is lost may be in the
// middle of a copy, and only a card that touches the memory is waited for. That of this lane: no
// other has lent this registration, though a peer that keeps to no promise may have reached it by
// one (docs/ofi.md, Known defects).
void Engine::give_up_region(Request& request) noexcept {
  if (!request.registered) return;
  request.registered = false;
  ph_region region{};
  if (memory_->regions.remove(request.target.key, region) != RegionBook::Removed::stale) return;
  forget_own(region);
  transport_->quiesce();
  static_cast<void>(memory_->regions.release(region));
}

// What was complete at once only gives its place back.
void Engine::announcement_over(Request& request, ph_status status) {
  request.announced = false;
  give_up_region(request);
  if (!request.local_done) {
    --request.peer->lent;
    complete_local(request, status);
  }
  maybe_free(request);
}

// Its caller wants it back: the peer shall say that it is done, if nobody there has taken it.
void Engine::retract(Request& request) {
  if (request.asked) return;
  const Reply reply{wire::Kind::retracted,
                    {RequestPool::token(request), request.what, request.tag}};
  if (!answer(*request.peer, reply))
    return lose(*request.peer, PH_ERR_PROTOCOL, "it reads none of our answers");
  request.asked = true;
}

// False: malformed, or more than a peer may have under way.
bool Engine::take_announced(Peer& peer, const wire::Header& header) {
  RecordReader reader(peer.rx);
  const std::uint64_t owner_token = reader.word();
  const std::uint64_t what = reader.word();
  ph_buffer buffer{};
  buffer.rank = peer.rank;
  buffer.kind = static_cast<ph_buffer_kind>(what >> wire::kBufferKindShift);
  buffer.size_bytes = what & wire::kMaxBufferBytes;
  buffer.tag = reader.word();
  buffer.target.address = reader.word();
  buffer.target.key = reader.word();
  if (owner_token == 0 || !is_sound(buffer, header.payload_bytes)) return false;
  if (peer.borrowed >= kMaxBorrowed) return false;
  std::uint32_t block = Announcements::kNone;
  announcements_.make_room();  // add() does not fail now
  if (header.payload_bytes != 0) {
    block = announcements_.blocks().take();
    reader.bytes(announcements_.blocks().at(block), header.payload_bytes);
  }
  announcements_.add(buffer, owner_token, block);
  ++peer.borrowed;
  if (waiters_ != 0) news();
  return true;
}

bool Engine::take_finished(Peer& peer) {
  RecordReader reader(peer.rx);
  Request* request = requests_.find_used(reader.word());
  const auto status = static_cast<ph_status>(static_cast<std::int64_t>(reader.word()));
  if (request == nullptr || !request->announced || request->peer != &peer) return false;
  const bool is_taken_back = status == PH_ERR_NOT_FOUND && request->asked;
  if (status != PH_OK && status != PH_ERR_DEPARTED && !is_taken_back) return false;
  if (status == PH_ERR_DEPARTED && !request->local_done)
    fail(status, peer.rank,
         "announce: rank " + std::to_string(peer.rank) +
             " leaves, and will not use the buffer any more");
  peer.sent.read_to(request->line);
  announcement_over(*request, status);
  return true;
}

// Taken, or finished, meanwhile: then it ends by its finish.
bool Engine::take_retracted(Peer& peer) {
  RecordReader reader(peer.rx);
  const std::uint64_t owner_token = reader.word();
  const std::uint64_t what = reader.word();
  const auto kind = static_cast<ph_buffer_kind>(what >> wire::kBufferKindShift);
  if (!is_kind(kind)) return false;
  const ph_match match{kind, peer.rank, reader.word(), PH_ANY_SIZE};
  const std::uint32_t entry = announcements_.find_named(match, owner_token);
  if (entry == Announcements::kNone) return true;
  const Reply reply{wire::Kind::finished,
                    {owner_token, static_cast<std::uint64_t>(PH_ERR_NOT_FOUND)}};
  if (!answer(peer, reply)) return false;
  announcements_.release(entry);
  --peer.borrowed;
  return true;
}

}  // namespace photon::engine
