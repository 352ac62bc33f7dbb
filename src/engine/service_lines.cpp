// The records of one line that services are told of without a whole turn: messages, and bodies of
// one chunk. As many as stand there one behind the other, so that who runs what they bring does so
// for all.
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "engine/engine.hpp"
#include "engine/fast_path.hpp"
#include "engine/services.hpp"

namespace photon::engine {

namespace {

// Without a payload: whose and how long it is the mask leaves out.
constexpr std::uint64_t kAllButTagAndId = 0xffff'0000'ffff'0000;
constexpr std::uint64_t kLineMessage = wire::encode(wire::Kind::message, 0, 0);
constexpr std::uint64_t kLineBody = wire::encode(wire::Kind::body, 0, 0);
constexpr std::uint32_t kBodyWords = wire::fixed_words(wire::Kind::body);
constexpr std::uint32_t kBodyBytes = wire::kLineDataBytes - kBodyWords * sizeof(std::uint64_t);

}  // namespace

// Nothing more is shown of a peer that was lost while its message was shown. It is lost without
// words where memory has run out.
bool Services::is_taken(Peer& peer, const OneLine& one) noexcept {
  try {
    if (one.is_body ? is_body_taken(peer, one) : is_message_taken(peer, one)) [[likely]]
      return peer.broken == PH_OK;
  } catch (const std::bad_alloc&) {
    engine_.lose(peer, PH_ERR_MEMORY, {});
    return false;
  }
  refuse(peer);
  return false;
}

void Services::refuse(Peer& peer) noexcept {
  ph_status why = PH_ERR_PROTOCOL;
  std::string words;
  try {
    words = "its ring holds a message that its service refuses; it is cut off";
  } catch (const std::bad_alloc&) {
    why = PH_ERR_MEMORY;
  }
  engine_.lose(peer, why, std::move(words));
}

bool Services::is_message_taken(Peer& peer, const OneLine& one) {
  if (!ends_.empty()) tell_ends();
  return slot(one.owner).service->on_message({peer.rank, one.bytes(0), {}});
}

bool Services::is_body_taken(Peer& peer, const OneLine& one) {
  const std::uint64_t bytes = one.words[0];
  peer.bodies->has_come(one.owner, {bytes, 0, bytes});
  service::Chunk chunk{{peer.rank, one.bytes(kBodyWords), {}}, bytes, 0, {}, 0};
  chunk.bytes = {peer.rx_bulk.place(bytes), bytes};
  return show_chunk(peer, one.owner, chunk);
}

// What take_body() checks, of a body that is one chunk. False: the general way has words for what
// is wrong with it, if anything is.
bool Services::is_whole_body(const Peer& peer, const OneLine& one) const noexcept {
  const std::uint64_t bytes = one.words[0];
  return one.header_bytes <= kBodyBytes && one.words[1] == 0 &&
         one.words[2] == (bytes | wire::kBulkFirst | wire::kBulkLast) &&
         is_there(peer, one.owner, bytes);
}

// Whether so many bytes can stand in the ring, as a body of that owner's.
bool Services::is_there(const Peer& peer, wire::Owner owner, std::uint64_t bytes) const noexcept {
  if (bytes == 0 || bytes > engine_.config_.bulk_bytes / 2 || peer.bodies == nullptr) return false;
  const BulkConsumer& ring = peer.rx_bulk;
  const std::uint64_t end = bulk_end(bulk_begin(ring.head, bytes, ring.capacity), bytes);
  return end - ring.free_end() <= ring.capacity && peer.bodies->follows(owner, {bytes, 0, bytes});
}

bool Services::may_lend(Peer& peer, wire::Owner owner, std::uint64_t size_bytes) const noexcept {
  if (!is_there(peer, owner, size_bytes)) return false;
  try {
    peer.bodies->make_room();
    return true;
  } catch (const std::bad_alloc&) {  // the general way finds none, either, and says so
    return false;
  }
}

std::uint64_t Services::lend(Peer& peer, wire::Owner owner, std::uint64_t size_bytes) noexcept {
  Bodies& bodies = *peer.bodies;
  bodies.has_come(owner, {size_bytes, 0, size_bytes});
  const std::uint64_t loan = bodies.next_loan();
  bodies.lend(bulk_begin(peer.rx_bulk.head, size_bytes, peer.rx_bulk.capacity));
  peer.rx_bulk.lent_from = bodies.lent_from();
  peer.rx_bulk.advance(size_bytes);
  return loan;
}

bool Services::take_lines(Peer& peer, std::uint64_t word) noexcept {
  unsigned taken = 0;
  for (; taken < kLinesAtOnce; ++taken) {
    if (taken != 0) {
      word = peer.rx.look();
      if (peer.rx.state_of(word) != LineConsumer::State::record) break;
    }
    const auto id = static_cast<std::uint32_t>(word >> 32);
    const auto owner = id >> wire::kOwnerShift;
    OneLine one;
    one.header_bytes = id & wire::kIdBytesMask;
    one.is_body = (word & kAllButTagAndId) == kLineBody;
    if (!one.is_body && (word & kAllButTagAndId) != kLineMessage) break;
    if (owner >= wire::kOwners || one.header_bytes > wire::kLineDataBytes ||
        slots_[owner].service == nullptr)
      break;
    one.owner = static_cast<wire::Owner>(owner);
    const transport::Line& line = peer.rx.line(0);
    for (std::uint32_t i = 0; i < wire::kWordsPerLine; ++i) one.words[i] = line.words[i].get();
    if (one.is_body && !is_whole_body(peer, one)) break;
    // In an exchange: the line of the answer comes while this one is handled (take_hot()).
    if (taken == 0 && engine_.turn_ - peer.last_hit > 1) peer.claim_line();
    if (!is_taken(peer, one)) return true;
    peer.rx.pop(1);
    // The bulk ring's room is given back sooner than that of the lines, as by receive().
    if (one.is_body && peer.rx_bulk.owed() >= engine_.config_.bulk_bytes / 4)
      engine_.publish_credits(peer);
  }
  return taken != 0;
}

// For a call that posts, and would have to wait for what that rank may have said already.
void Engine::hear(Rank rank) noexcept {
  Peer* const peer = rank < size_ ? peers_[rank].get() : nullptr;
  if (peer == nullptr || !peer->hot || peer->broken != PH_OK) return;
  const std::uint64_t word = peer->rx.look();
  if (peer->rx.state_of(word) != LineConsumer::State::record) return;
  // The call runs no user code at its end: nothing is lent meanwhile (Services::runs_now()).
  const bool held_lane = std::exchange(holds_lane_, true);
  if (services_->take_lines(*peer, word) && peer->broken == PH_OK) has_met(*peer);
  holds_lane_ = held_lane;
}

}  // namespace photon::engine
