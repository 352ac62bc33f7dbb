// The memory of peers: what can be touched, how, and that in words.
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "transport/shm/shm_transport_impl.hpp"

namespace photon::transport::shm {

namespace {

base::Error unreachable(Rank rank) {
  return {.status = PH_ERR_PEER,
          .what = "the memory of rank " + std::to_string(rank) + " cannot be reached",
          .rank = rank};
}

}  // namespace

// Our view of the peer's ph_alloc memory, or null if the bytes are not all inside.
std::byte* ShmTransport::in_arena(const Peer& peer, std::uint64_t address,
                                  std::uint64_t size_bytes) const noexcept {
  const std::uint64_t offset = address - peer.offer.arena_address;
  if (address < peer.offer.arena_address || offset > config_.arena_bytes ||
      size_bytes > config_.arena_bytes - offset || peer.arena_memory == nullptr)
    return nullptr;
  return peer.arena_memory + offset;
}

// Whole pages only. Where the kernel cannot, the memory stays as it is.
void ShmTransport::discard(std::span<std::byte> memory) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t first = round_up(begin, layout_.page);
  const std::uintptr_t last = (begin + memory.size()) / layout_.page * layout_.page;
  if (first < last) ::madvise(memory.data() + (first - begin), last - first, MADV_REMOVE);
}

void ShmTransport::settle_cma(Peer& peer) {
  if (peer.cma.state() != Cma::State::untried) return;
  if (!own_.cma)
    peer.cma.refuse(own_.cma.error().what);
  else
    peer.cma.probe(peer.offer);
  if (peer.cma.state() == Cma::State::refused && config_.shm_cma == base::ShmCma::on)
    PHOTON_LOG(log_, warn, "shm_cma is on, but copies to process %llu are refused: %s",
               static_cast<unsigned long long>(peer.offer.pid), peer.cma.reason().c_str());
}

Reach ShmTransport::reach(Rank rank, std::uint64_t address, std::uint64_t size_bytes) noexcept {
  Peer* peer = rank < peers_.size() ? known(rank) : nullptr;
  // Who has not met us would not wait for our copies before it takes its memory back.
  if (peer == nullptr || peer->state != Peer::State::linked || !peer->link.tx_credits->has_met())
    return {};
  if (peer->same_process)
    return {Reach::Kind::mapped,
            reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address))};
  if (std::byte* local = in_arena(*peer, address, size_bytes)) return {Reach::Kind::mapped, local};
  settle_cma(*peer);
  return {peer->cma.state() == Cma::State::works ? Reach::Kind::call : Reach::Kind::none, nullptr};
}

// The segment moves to where those that map it keep it; what stands in it stays at its address.
std::optional<Mapping> ShmTransport::map(Rank rank, std::uint64_t address,
                                         std::uint64_t size_bytes) {
  Peer* const peer = rank < peers_.size() ? known(rank) : nullptr;
  if (peer == nullptr || peer->state != Peer::State::linked) return std::nullopt;
  std::byte* const local = in_arena(*peer, address, size_bytes);
  if (local == nullptr) return std::nullopt;
  if (rank == boot_.rank()) return Mapping{local, lane_.own};
  if (peer->mapped == nullptr) {
    auto kept = std::make_shared<Segment>();
    *kept = std::move(peer->arena);
    peer->mapped = std::move(kept);
  }
  return Mapping{local, peer->mapped};
}

// A peer that has ended is told by its end, and its lost copies are no news.
base::Result<> ShmTransport::called(Rank rank, base::Result<> result) {
  if (result) return result;
  result.error().rank = rank;
  const Cma& cma = known(rank)->cma;
  if (cma.state() == Cma::State::refused && result.error().native_errno != ESRCH)
    std::call_once(*own_.told_cma, [&] {
      PHOTON_LOG(log_, warn,
                 "rank %u: copies by the kernel (CMA): %s; its memory goes through the bulk ring "
                 "from here on, as that of others whose copies are refused",
                 static_cast<unsigned>(rank), cma.reason().c_str());
    });
  return result;
}

base::Result<> ShmTransport::read(Rank rank, std::uint64_t address,
                                  std::span<std::byte> destination) noexcept {
  Peer* peer = known(rank);
  if (peer == nullptr || peer->cma.state() != Cma::State::works) return unreachable(rank);
  return called(rank, peer->cma.read(address, destination));
}

base::Result<> ShmTransport::write(Rank rank, std::uint64_t address,
                                   std::span<const std::byte> source) noexcept {
  Peer* peer = known(rank);
  if (peer == nullptr || peer->cma.state() != Cma::State::works) return unreachable(rank);
  return called(rank, peer->cma.write(address, source));
}

void ShmTransport::describe(Rank rank, ph_path& path) {
  path.transport = rank == boot_.rank() ? "self" : "shm";
  path.same_process = path.cma = path.arena_mapped = 0;
  Peer* peer = rank < peers_.size() ? known(rank) : nullptr;
  std::string reason = "no contact yet: it is met when first used";
  if (peer != nullptr && peer->state == Peer::State::offered) {
    reason = "records flow; direct paths wait for its answer (its next progress)";
  } else if (peer != nullptr && peer->state == Peer::State::ended) {
    reason = peer->why_ended.what;
  } else if (peer != nullptr && peer->same_process) {
    path.same_process = path.arena_mapped = 1;
    reason = "same process: all of its memory is reached directly, records by a ring";
  } else if (peer != nullptr) {
    settle_cma(*peer);
    path.arena_mapped = peer->arena_reached ? 1 : 0;
    path.cma = peer->cma.state() == Cma::State::works ? 1 : 0;
    reason = "shared memory ring; ph_alloc memory ";
    reason += peer->arena_reached ? "mapped" : "not mapped (no address space)";
    reason += "; copies by the kernel (CMA): ";
    reason += peer->cma.reason();
    if (path.cma == 0) reason += "; other memory goes through the bulk ring";
  }
  std::snprintf(path.reason, sizeof path.reason, "%s", reason.c_str());
}

}  // namespace photon::transport::shm
