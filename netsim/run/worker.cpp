#include "netsim/run/worker.hpp"

#include <algorithm>

namespace photon::netsim {
namespace {

std::uint64_t hash_of(const Packet& packet) {
  std::uint64_t value = std::uint64_t{packet.source} << 32 | packet.destination;
  for (const std::uint32_t word : packet.cargo) {
    value = (value ^ word) * 0x9e3779b97f4a7c15U;
    value ^= value >> 29;
  }
  return value;
}

Packet for_network(const nic::Packet& given) {
  Packet packet;
  packet.source = given.source.node;
  packet.destination = given.destination.node;
  packet.stamp = given.posted_ns;
  packet.cargo = {given.message, given.message_bytes,
                  given.index | static_cast<std::uint32_t>(given.kind) << 24,
                  given.tag | given.source.slot << 16 | given.destination.slot << 24};
  return packet;
}

nic::Packet for_card(const Packet& packet) {
  nic::Packet given;
  given.source = {packet.source, packet.cargo[3] >> 16 & 0xff};
  given.destination = {packet.destination, packet.cargo[3] >> 24};
  given.message = packet.cargo[0];
  given.message_bytes = packet.cargo[1];
  given.index = packet.cargo[2] & 0xffffff;
  given.posted_ns = packet.stamp;
  given.tag = static_cast<std::uint16_t>(packet.cargo[3]);
  given.kind = static_cast<nic::PacketKind>(packet.cargo[2] >> 24);
  return given;
}

}  // namespace

Common::Common(const Settings& settings, std::unique_ptr<Topology> its_topology,
               std::unique_ptr<Motif> its_motif, const Parameters& parameters, std::uint32_t parts)
    : topology(std::move(its_topology)),
      motif(std::move(its_motif)),
      flit_bytes(settings.flit_bytes),
      header_bytes(settings.header_bytes),
      nic(with_defaults(settings).nic),
      local{time_of_ns(settings.local_ns), settings.local_GBps},
      placement(settings.ranks_per_node, motif->ranks()),
      bound(settings.max_us == 0 ? kEndOfTime : time_of_ns(settings.max_us * 1000)),
      fabric(*topology, parameters),
      state(fabric, parts),
      finished(motif->ranks(), kNever) {}

// What a card sees below it.
class Worker::CardPort final : public nic::Port {
 public:
  CardPort(Worker& all, std::uint32_t host) : all_(all), host_(host) {}

  Time now() const override { return all_.part_.now(); }
  void at(Time time, nic::Timer timer) override {
    all_.part_.queue().push(Event::at(time, EventKind::card_timer, host_,
                                      std::uint64_t{timer.kind} << 32 | timer.value));
  }
  bool send(const nic::Packet& given) override {
    Packet packet = for_network(given);
    const std::uint32_t payload = all_.bytes_of(given);
    const std::uint64_t bytes = std::uint64_t{payload} + all_.common_.header_bytes;
    packet.flits = static_cast<std::uint16_t>(flits_of(bytes, all_.common_.flit_bytes));
    if (!all_.part_.send(packet)) return false;
    all_.sent_sum_ += hash_of(packet);
    all_.sent_bytes_ += payload;
    all_.sent_flits_ += packet.flits;
    if (given.kind != nic::PacketKind::data) all_.control_bytes_ += payload;
    return true;
  }
  void write_host(std::uint32_t slot, const nic::Notice& notice) override {
    all_.hosts_->write({host_, slot}, notice);
  }
  bool is_ordered() const override { return all_.common_.topology->is_ordered(); }
  void fail(const std::string& what) override {
    all_.part_.fail("node " + std::to_string(host_) + ": " + what);
  }

 private:
  Worker& all_;
  std::uint32_t host_;
};

Worker::Worker(Common& common, std::uint32_t number, std::uint32_t parts)
    : common_(common), part_(common.fabric, common.state, *this, number, parts) {
  const std::uint32_t hosts = common.fabric.wiring.hosts;
  while (first_host_ < hosts && !part_.owns_host(first_host_)) ++first_host_;
  std::uint32_t end = first_host_;
  while (end < hosts && part_.owns_host(end)) ++end;  // hosts are numbered as their routers are
  hosts_.emplace(static_cast<HostSide&>(*this), *common.motif, common.placement, common.local,
                 NodeRange{first_host_, end});
  card_ports_.reserve(end - first_host_);
  for (std::uint32_t host = first_host_; host < end; ++host) {
    card_ports_.emplace_back(*this, host);
    cards_.push_back(
        nic::make_card(common.nic, card_ports_.back(), host, common.placement.slots()));
  }
  hosts_->start();
}

Worker::~Worker() = default;

std::uint32_t Worker::bytes_of(const nic::Packet& packet) const {
  if (packet.kind != nic::PacketKind::data) return nic::kControlBytes;
  const std::uint64_t before = std::uint64_t{packet.index} * common_.nic.mtu;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(common_.nic.mtu, packet.message_bytes - before));
}

void Worker::on_packet(std::uint32_t host, const Packet& packet) {
  came_sum_ += hash_of(packet);
  const nic::Packet given = for_card(packet);
  came_bytes_ += bytes_of(given);
  card(host).on_packet(given);
}

void Worker::on_room(std::uint32_t host) { card(host).on_room(); }

void Worker::finished(std::uint32_t rank) { common_.finished[rank] = part_.now(); }

double Worker::share_done() const {
  const std::uint64_t places = hosts_->places();
  const std::uint64_t samples = std::min<std::uint64_t>(places, 64);
  double sum = 0;
  std::uint32_t ranks = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint32_t rank =
        common_.placement.rank_of(hosts_->first_place() + places * i / samples);
    if (rank == kNoRank) continue;
    ++ranks;
    sum += common_.finished[rank] != kNever ? 1 : common_.motif->share_done(rank);
  }
  return ranks == 0 ? 1 : sum / ranks;
}

nic::Figures Worker::figures() const {
  nic::Figures all;
  for (const auto& card : cards_) {
    const nic::Figures its = card->figures();
    all.out_of_order += its.out_of_order;
    all.peak_held_bytes = std::max(all.peak_held_bytes, its.peak_held_bytes);
    all.peak_memory_bytes = std::max(all.peak_memory_bytes, its.peak_memory_bytes);
  }
  return all;
}

// Events of cards and ranks.
void Worker::handle(const Event& event) {
  const auto index = static_cast<std::uint32_t>(event.index());
  if (event.kind() == EventKind::card_timer) {
    card(index).on_timer({static_cast<std::uint32_t>(event.payload >> 32),
                          static_cast<std::uint32_t>(event.payload)});
  } else {
    hosts_->handle(index, event.payload);
  }
}

void Worker::run_until(Time end) {
  EventQueue& queue = part_.queue();
  while (!queue.is_empty() && part_.fault().empty()) {
    if (queue.top().time >= end) return;
    const Event event = queue.pop();
    if (!part_.handle(event)) handle(event);
  }
}

}  // namespace photon::netsim
