// First contact and the end of it. Whoever gets an offer and has made none answers with its own,
// so both sides may start, at the same time or one alone, and no handshake waits.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "transport/shm/shm_transport_impl.hpp"

namespace photon::transport::shm {

namespace {

static_assert(sizeof(Line) == kLineBytes && sizeof(RegionEntry) == kRegionBytes);
static_assert(sizeof(Credits) <= Layout::kTakenOffset && sizeof(Intent) <= kControlBytes);
static_assert(sizeof(sync::OverflowWord<Policy>) <= kControlBytes);
static_assert(3 * kControlBytes + sizeof(Holds) <= 4096, "behind the others, on the intent's page");
static_assert(sizeof(Gate) <= Layout::kLaneBytes && sizeof(Doorbell) == 1);

// Zeroed shared memory is a valid object of each of these types.
template <class T>
T* object_at(std::byte* data, std::size_t offset = 0) noexcept {
  return std::launder(reinterpret_cast<T*>(data + offset));
}

Overflow overflow_at(std::byte* ring, const Layout& layout) noexcept {
  using Word = sync::OverflowWord<Policy>;
  return {object_at<Word>(ring, layout.published_offset()),
          object_at<Word>(ring, Layout::kTakenOffset),
          object_at<Policy::Cell<std::uint64_t>>(ring, layout.overflow_offset)};
}

LineOrder order_of(const Offer& offer) noexcept {
  return (offer.flags & kLinesApart) != 0 ? LineOrder::apart : LineOrder::in_a_row;
}

base::Error of_rank(base::Error error, Rank rank) {
  error.rank = rank;
  return error;
}

base::Error gone_error(Rank rank) {
  return {
      .status = PH_ERR_PEER, .what = "rank " + std::to_string(rank) + " has ended", .rank = rank};
}

// A blocking descriptor could stop us in the middle of a kick.
bool may_wake_through(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

}  // namespace

base::Result<Link*> ShmTransport::connect(Rank rank) {
  if (rank >= peers_.size())
    return base::Error{.status = PH_ERR_RANK,
                       .what = "no rank " + std::to_string(rank) + " in this job",
                       .rank = rank};
  if (Peer* peer = known(rank)) {
    if (peer->state == Peer::State::ended) return peer->why_ended;
    return &peer->link;
  }
  auto there = make_half(rank);
  if (!there) return std::move(there.error());
  if (!*there) {
    // What it sent us before it ended may still come: then there is a link to read it from.
    peers_[rank].reset();
    return gone_error(rank);
  }
  return &known(rank)->link;
}

// The sending half: usable at once, whether or not the peer ever looks. False: it cannot look.
base::Result<bool> ShmTransport::make_half(Rank rank) {
  auto ring = Segment::create("photon-ring", layout_.ring);
  if (!ring) return of_rank(std::move(ring.error()), rank);
  auto made = std::make_unique<Peer>();  // before the offer, which cannot be made twice
  const bool self = rank == boot_.rank();
  auto sent = self ? base::Result<bool>(true) : send_offer(rank, ring->fd.get());
  if (!sent) return of_rank(std::move(sent.error()), rank);

  made->sending = std::move(ring->segment);
  std::byte* data = made->sending.data();
  Link& link = made->link;
  link.tx_credits = object_at<Credits>(data);
  link.tx_intent = object_at<Intent>(data, layout_.page);
  link.tx_holds = object_at<Holds>(data, layout_.holds_offset());
  link.tx_order = order_of(offer_);
  link.tx_lines = object_at<Line>(data, layout_.lines_offset);
  link.tx_bulk = data + layout_.bulk_offset;
  link.tx_overflow = overflow_at(data, layout_);
  link.is_memory = true;
  link.fenced = true;  // until its offer says otherwise: it may be asleep before we have read that
  peers_[rank] = std::move(made);
  if (self)
    link_to_self();
  else
    offered_ns_ = base::now_ns();
  return *sent;
}

base::Result<bool> ShmTransport::send_offer(Rank rank, int ring_fd) {
  int fds[kOfferFds];
  fds[kRingFd] = ring_fd;
  fds[kPublicFd] = own_.published.fd.get();
  fds[kArenaFd] = own_.arena.fd.get();
  fds[kWakeFd] = lane_.wake.get();
  return boot_.send(rank, encode(offer_), fds);
}

// One segment is both halves.
void ShmTransport::link_to_self() {
  const Rank self = boot_.rank();
  Peer& peer = *known(self);
  peer.offer = offer_;
  peer.same_process = peer.arena_reached = true;
  peer.wake = base::UniqueFd(::fcntl(lane_.wake.get(), F_DUPFD_CLOEXEC, 0));
  use_peer(peer, {peer.sending.data(), own_.published.segment.data(), own_.arena.segment.data()});
  linked_.push_back(self);
  unreported_.push_back(self);
}

// The peer's offer came: the receiving half. On an error nothing of the peer's is kept.
base::Result<> ShmTransport::complete(Peer& peer, const Offer& offer, boot::Message& message) {
  if (auto equal = check_settings(offer_, offer); !equal) return equal;
  if (!may_wake_through(message.fds[kWakeFd].get()))
    return base::Error{.status = PH_ERR_PROTOCOL,
                       .what = "malformed shared-memory offer: its wake-up descriptor blocks"};
  peer.offer = offer;
  peer.same_process = ProcessToken{offer.process_high, offer.process_low} == own_.token;
  if (auto mapped = map_peer(peer, message); !mapped) return mapped;
  peer.wake = std::move(message.fds[kWakeFd]);
  use_peer(peer, {peer.receiving.data(), peer.published.data(), peer.arena.data()});
  // From now on only the peer writes our credits; in one process there is but one mapping.
  if (!peer.same_process) peer.sending.protect(0, layout_.page);
  return {};
}

base::Result<> ShmTransport::map_peer(Peer& peer, const boot::Message& message) {
  struct Part {
    Segment Peer::*segment;
    OfferFd fd;
    const SegmentShape& shape;
    std::size_t writable_bytes;  // from the beginning
  };
  // Lines apart stay writable, although we write none: a processor that spins on memory it may not
  // write pays for each line, a third of a notification's time on those we tried. Who scribbles
  // there garbles what it is told itself, and the peer's count of its own puts; nothing else.
  const bool is_apart = order_of(peer.offer) == LineOrder::apart;
  const Part parts[] = {
      {&Peer::receiving, kRingFd, layout_.ring, is_apart ? layout_.bulk_offset : layout_.page},
      {&Peer::published, kPublicFd, layout_.published, 0},
      {&Peer::arena, kArenaFd, layout_.arena, layout_.arena.size_bytes},
  };
  peer.arena_reached = true;
  for (const Part& part : parts) {
    const int fd = message.fds[part.fd].get();
    if (auto checked = check_segment(fd, part.shape); !checked) return checked;
    if (peer.same_process) {
      // If not, the peer has let go of it, and no other address of it is in use.
      if (auto shared = Segment::share(fd, part.shape)) {
        peer.*part.segment = std::move(*shared);
        continue;
      }
    }
    auto mapped = Segment::map(fd, part.shape, {part.shape.size_bytes, 0, part.writable_bytes});
    if (!mapped && part.fd == kArenaFd) {
      // No address space for all of it: its doorbells are enough, its memory is reached otherwise.
      peer.arena_reached = false;
      mapped = Segment::map(fd, part.shape, {layout_.doorbells_bytes, 0, layout_.doorbells_bytes});
    }
    if (!mapped) return std::move(mapped.error());
    peer.*part.segment = std::move(*mapped);
    if (part.fd == kRingFd && is_apart)  // its intents and what it publishes
      peer.receiving.protect(layout_.page, layout_.page);
  }
  return {};
}

void ShmTransport::use_peer(Peer& peer, const PeerMemory& memory) {
  Link& link = peer.link;
  link.rx_credits = object_at<Credits>(memory.ring);
  link.rx_intent = object_at<Intent>(memory.ring, layout_.page);
  link.rx_holds = object_at<Holds>(memory.ring, layout_.holds_offset());
  link.rx_lines = object_at<Line>(memory.ring, layout_.lines_offset);
  link.rx_order = order_of(peer.offer);
  link.rx_bulk = memory.ring + layout_.bulk_offset;
  link.rx_overflow = overflow_at(memory.ring, layout_);
  link.peer_regions = object_at<RegionEntry>(memory.published, layout_.regions_offset);
  // Its barrier must reach us and ours must reach it: without either, both fence.
  link.fenced = !own_.heavy_barrier || (peer.offer.flags & kNeedsFence) != 0;
  peer.gate = object_at<Gate>(memory.published, layout_.gate_at(peer.offer.slot));
  peer.lane_doorbell =
      object_at<LaneDoorbell>(memory.arena, layout_.lane_doorbell_at(peer.offer.slot));
  peer.doorbell =
      object_at<Doorbell>(memory.arena, layout_.doorbells_at(peer.offer.slot) + boot_.rank());
  peer.arena_memory = peer.arena_reached ? memory.arena + layout_.doorbells_bytes : nullptr;
  peer.state = Peer::State::linked;
  if (!hidden_) link.rx_credits->set_met();
}

void ShmTransport::hide() noexcept {
  hidden_ = true;
  for (const Rank rank : linked_) known(rank)->link.rx_credits->hide();
}

// Nothing of this rank is used any more, and late messages of it are ignored.
void ShmTransport::end(Peer& peer, base::Error why) {
  peer.state = Peer::State::ended;
  peer.why_ended = std::move(why);
}

void ShmTransport::disconnect(Rank rank) noexcept {
  Peer* peer = known(rank);
  if (peer == nullptr) return;
  std::erase(linked_, rank);
  std::erase(unreported_, rank);
  *peer = Peer{};
  end(*peer, {.status = PH_ERR_PEER,
              .what = "rank " + std::to_string(rank) + " was disconnected",
              .rank = rank});
}

}  // namespace photon::transport::shm
