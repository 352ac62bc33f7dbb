// NICs of the simulated network: they read and write memory by themselves, a part at a time, while
// the ranks run.
#include <algorithm>
#include <cstring>

#include "transport/access.hpp"
#include "transport/sim/sim_network.hpp"

namespace photon::transport::sim {

namespace {

constexpr std::uint64_t kMostParts = 4;

std::byte* at(std::uint64_t address) noexcept {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}

}  // namespace

// The times are drawn here; what becomes of the fragment shows when they have come. Each message is
// due no earlier than the last part, so whether it has landed is known by then.
void SimNetwork::post_fragment(Rank from, const std::shared_ptr<Flight>& flight) {
  const std::scoped_lock lock(mutex_);
  if (seats_[from].left) return;  // the dead post nothing
  const PostedFragment& fragment = flight->fragment;
  if (losses_.is_lost(from, fragment.rank)) {  // the NIC tries for a while
    flight->status = PH_ERR_PEER;
    enqueue(from, now_ns_ + losses_.draw_tries(from, fragment.rank),
            {.kind = Packet::Kind::done, .from = fragment.rank, .flight = flight});
    return;
  }
  Wire& wire = seats_[from].wires[fragment.rank];
  std::uint64_t landed_ns = now_ns_;
  std::uint64_t begin = 0;
  for (std::uint64_t parts = 1; begin < fragment.size_bytes; ++parts) {
    const std::uint64_t left = fragment.size_bytes - begin;
    const std::uint64_t drawn = 1 + wire.random.up_to(left - 1);
    const std::uint64_t bytes = parts == kMostParts ? left : drawn;
    const std::uint64_t due_ns = draw_due(wire);
    landed_ns = std::max(landed_ns, due_ns);
    parts_.emplace(Due{due_ns, posted_count_++}, Part{from, flight, begin, bytes});
    begin += bytes;
  }
  idle_looks_count_ = 0;
  if (fragment.imm) tell(from, landed_ns, flight);
  Wire& back = seats_[fragment.rank].wires[from];
  const std::uint64_t done_ns = landed_ns + back.random.up_to(back.max_delay_ns);
  back.last_due_ns = std::max(back.last_due_ns, done_ns);
  enqueue(from, done_ns, {.kind = Packet::Kind::done, .from = fragment.rank, .flight = flight});
}

// The target of a fragment with an imm.
void SimNetwork::tell(Rank from, std::uint64_t landed_ns, const std::shared_ptr<Flight>& flight) {
  const Fault& fault = settings_.fault;
  const bool fits = fault.kind == Fault::Kind::early || fault.kind == Fault::Kind::count;
  const bool faulty = fits && fitting_count_++ == fault.after;
  const Packet told{.kind = Packet::Kind::fragment, .from = from, .flight = flight};
  const Rank to = flight->fragment.rank;
  enqueue(to, faulty && fault.kind == Fault::Kind::early ? now_ns_ : landed_ns, told);
  if (faulty && fault.kind == Fault::Kind::count) enqueue(to, landed_ns, told);
}

void SimNetwork::cancel(Flight& flight) {
  const std::scoped_lock lock(mutex_);
  flight.cancelled = true;
}

void SimNetwork::land_due() {
  while (!parts_.empty() && parts_.begin()->first.first <= now_ns_) {
    land(parts_.begin()->second);
    parts_.erase(parts_.begin());
  }
}

// The key is looked at for each part, and the whole fragment has to lie in the region.
void SimNetwork::land(const Part& part) {
  Flight& flight = *part.flight;
  const PostedFragment& fragment = flight.fragment;
  if (flight.cancelled || flight.status != PH_OK) return;
  const Seat& seat = seats_[fragment.rank];
  const bool is_write = fragment.source != nullptr;
  flight.status = seat.left ? PH_ERR_PEER
                            : check_access({seat.regions.get(), seat.regions_count},
                                           {fragment.address, fragment.key}, fragment.size_bytes,
                                           is_write ? PH_ACCESS_WRITE : PH_ACCESS_READ);
  if (flight.status != PH_OK) return;
  if (is_write)
    std::memcpy(at(fragment.address) + part.begin, fragment.source + part.begin, part.size_bytes);
  else
    std::memcpy(fragment.destination + part.begin, at(fragment.address) + part.begin,
                part.size_bytes);
}

}  // namespace photon::transport::sim
