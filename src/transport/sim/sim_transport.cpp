#include "transport/sim/sim_transport.hpp"

#include <bit>
#include <cstdio>
#include <string>
#include <utility>

namespace photon::transport::sim {
namespace {

base::Error unreachable_memory(Rank rank) {
  return {PH_ERR_STATE, 0,
          "sim: memory of rank " + std::to_string(rank) + " is reached by records only", rank};
}

}  // namespace

SimTransport::SimTransport(const base::Config& config, Rank me, std::shared_ptr<SimNetwork> network)
    : me_(me),
      seed_(config.sim_seed),
      geometry_{static_cast<unsigned>(std::countr_zero(config.ring_lines)), config.bulk_bytes},
      regions_count_(config.max_regions),
      regions_(std::make_unique<RegionEntry[]>(config.max_regions)),
      network_(std::move(network)),
      slots_(network_->size()) {}

SimTransport::~SimTransport() { network_->leave(me_); }

base::Result<Link*> SimTransport::connect(Rank rank) {
  if (rank >= slots_.size()) {
    return base::Error{PH_ERR_RANK, 0,
                       "sim: connect to rank " + std::to_string(rank) + " of " +
                           std::to_string(slots_.size()) + " ranks",
                       rank};
  }
  if (slots_[rank].link) return &slots_[rank].link->view();
  if (slots_[rank].released || network_->has_left(rank)) {
    return base::Error{PH_ERR_PEER, 0,
                       "sim: connect to rank " + std::to_string(rank) + ": it has gone", rank};
  }
  return &make_link(rank).view();
}

SimLink& SimTransport::make_link(Rank rank) {
  slots_[rank].link = std::make_unique<SimLink>(me_, geometry_);
  network_->post(rank, {.kind = Packet::Kind::hello, .from = me_});
  return *slots_[rank].link;
}

void SimTransport::disconnect(Rank rank) noexcept {
  if (rank >= slots_.size() || !slots_[rank].link) return;
  slots_[rank].link.reset();
  slots_[rank].released = true;
}

void SimTransport::kick(Rank rank) noexcept {
  if (rank >= slots_.size() || !slots_[rank].link) return;
  SimLink* link = slots_[rank].link.get();
  while (auto record = link->next_record()) network_->post(rank, std::move(*record));
  if (auto credits = link->changed_credits()) network_->post(rank, std::move(*credits));
}

void SimTransport::poll(Sink& sink) noexcept {
  network_->take_due(me_, due_);
  for (const Packet& packet : due_) accept(packet, sink);
  due_.clear();
}

void SimTransport::accept(const Packet& packet, Sink& sink) {
  Slot& slot = slots_[packet.from];
  if (slot.released) return;
  if (packet.kind == Packet::Kind::hello) {
    (slot.link ? *slot.link : make_link(packet.from)).set_answered();
    return sink.on_link(packet.from);
  }
  if (!slot.link) return;  // a rank that we never met has gone
  if (packet.kind == Packet::Kind::gone) {
    return sink.on_gone(
        packet.from,
        {PH_ERR_PEER, 0, "sim: rank " + std::to_string(packet.from) + " has ended", packet.from});
  }
  slot.link->deliver(packet);
  sink.on_activity(packet.from);
}

base::Result<> SimTransport::read(Rank rank, std::uint64_t, std::span<std::byte>) noexcept {
  return unreachable_memory(rank);
}

base::Result<> SimTransport::write(Rank rank, std::uint64_t, std::span<const std::byte>) noexcept {
  return unreachable_memory(rank);
}

void SimTransport::describe(Rank, ph_path& path) {
  path.same_process = 0;
  path.cma = 0;
  path.arena_mapped = 0;
  std::snprintf(path.reason, sizeof path.reason,
                "simulated network, seed %llu: everything travels in records; no memory is "
                "reached directly, although the ranks share a process",
                static_cast<unsigned long long>(seed_));
}

}  // namespace photon::transport::sim
