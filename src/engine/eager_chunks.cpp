#include "engine/eager_chunks.hpp"

#include <cstring>

#include "engine/fast_path.hpp"

namespace photon::engine {

namespace {

constexpr std::uint64_t kHeader = wire::encode(wire::Kind::bulk, sizeof(std::uint64_t), 0);
constexpr std::uint64_t kOnly = wire::kBulkFirst | wire::kBulkLast;
enum Word : unsigned { kAddress, kKey, kBulk, kLeft, kId };

// From there on the general way asks the kernel about the target before it copies.
constexpr std::uint64_t kLookedAtFar = 4096;
constexpr std::uint64_t kLookedAtNear = 32 << 10;

}  // namespace

// Whether the put is one of these. The general way has words for what is wrong with any other.
bool EagerChunks::may_go(Engine& engine, const Peer& peer, ph_const_block source,
                         const ph_target& target) noexcept {
  const base::Config& config = engine.config_;
  const std::uint64_t bytes = source.size_bytes;
  if (peer.regions == nullptr || bytes <= config.packed_max || bytes > config.bulk_chunk / 2 ||
      peer.counts != nullptr || source.data == nullptr || peer.credits->is_hidden() ||
      reinterpret_cast<std::uintptr_t>(source.data) > ~bytes)
    return false;
  if (bytes >= config.direct_min &&
      engine.transport_->reach(peer.rank, target.address, bytes).kind ==
          transport::Reach::Kind::posted)
    return false;
  return transport::is_granted({peer.regions, config.max_regions}, target, bytes, PH_ACCESS_WRITE);
}

Engine::Fast EagerChunks::put(Engine& engine, Peer& peer, ph_const_block source,
                              const ph_target& target, ph_u64_ids ids) noexcept {
  const std::uint64_t bytes = source.size_bytes;
  if (!may_go(engine, peer, source, target) || (!peer.has_grant() && !engine.grant_credit(peer)) ||
      peer.local.full() || !engine.bulk_room(peer, bytes))
    return Engine::Fast::no;
  peer.stage(static_cast<const std::byte*>(source.data), bytes, bytes);
  peer.stores.take_pending();  // direct_u64() may have left it to us
  peer.claim_if_due();         // behind the copy, whose stores would wait for those lines
  const std::uint64_t at = peer.tx.tail();
  transport::Line& line = peer.tx.line(0);
  line.words[kAddress].set(target.address);
  line.words[kKey].set(target.key);
  line.words[kBulk].set(bytes | kOnly);
  line.words[kLeft].set(bytes);
  line.words[kId].set(ids.remote);
  peer.tx.publish_line(line, kHeader);
  peer.sent.note(at, {0, ids.local, target.address, bytes, PH_REQUEST_NONE});
  return engine.done_u64(peer, ids.local);
}

// All of it, but for the completion.
EagerChunks::Met EagerChunks::meet(Engine& engine, Peer& peer, std::uint64_t header) noexcept {
  if (!is_one(header)) return {};
  const base::Config& config = engine.config_;
  const transport::Line& line = peer.rx.line(0);
  const ph_target target{line.words[kAddress].get(), line.words[kKey].get()};
  const std::uint64_t word = line.words[kBulk].get();
  const std::uint64_t bytes = wire::bulk_size(word);
  if (word != (bytes | kOnly) || line.words[kLeft].get() != bytes || bytes == 0 ||
      bytes > config.bulk_chunk / 2 || bytes >= (peer.kick_always ? kLookedAtFar : kLookedAtNear) ||
      config.max_cid_size < sizeof(std::uint64_t) ||
      !transport::is_granted(engine.regions_, target, bytes, PH_ACCESS_WRITE))
    return {};
  std::memcpy(reinterpret_cast<void*>(target.address), peer.rx_bulk.place(bytes), bytes);
  const Met met{line.words[kId].get(), true};
  peer.rx_bulk.advance(bytes);
  peer.begin_bulk();
  ++peer.probed;
  peer.rx.pop(1);
  // The bulk ring's room is given back sooner than that of the lines, as by receive().
  if (peer.rx_bulk.owed() >= config.bulk_bytes / 4) engine.publish_credits(peer);
  return met;
}

bool EagerChunks::take(Engine& engine, Peer& peer, std::uint64_t header,
                       CompletionSink& sink) noexcept {
  const Met met = meet(engine, peer, header);
  if (!met.is_one) return false;
  sink.put(PH_REMOTE, peer.rank, {met.id, sizeof met.id, PH_OK}, peer.outstanding);
  return true;
}

}  // namespace photon::engine
