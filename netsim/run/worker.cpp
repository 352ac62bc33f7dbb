#include "netsim/run/worker.hpp"

#include "netsim/nic/bare.hpp"

namespace photon::netsim {
namespace {

constexpr std::uint64_t kStart = ~std::uint64_t{0};  // the payload of a rank's first event

std::uint64_t hash_of(const Packet& packet) {
  std::uint64_t value = std::uint64_t{packet.source} << 32 | packet.destination;
  for (const std::uint32_t word : {packet.cargo[0], packet.cargo[1], packet.cargo[2]}) {
    value = (value ^ word) * 0x9e3779b97f4a7c15U;
    value ^= value >> 29;
  }
  return value;
}

nic::Packet for_card(const Packet& packet) {
  return {packet.source,
          packet.destination,
          packet.bytes,
          packet.cargo[0],
          packet.cargo[1],
          packet.cargo[2],
          packet.cargo[3] & 0xffffff,
          static_cast<nic::PacketKind>(packet.cargo[3] >> 24)};
}

}  // namespace

Common::Common(const Settings& settings, std::unique_ptr<Topology> its_topology,
               std::unique_ptr<Motif> its_motif, const Parameters& parameters, std::uint32_t parts)
    : topology(std::move(its_topology)),
      motif(std::move(its_motif)),
      flit_bytes(settings.flit_bytes),
      header_bytes(settings.header_bytes),
      packet_bytes(settings.packet_bytes),
      bound(settings.max_us == 0 ? kNever : time_of_ns(settings.max_us * 1000)),
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
    Packet packet;
    packet.source = given.source;
    packet.destination = given.destination;
    packet.bytes = given.bytes;
    const std::uint64_t bytes = std::uint64_t{given.bytes} + all_.common_.header_bytes;
    packet.flits = static_cast<std::uint16_t>(flits_of(bytes, all_.common_.flit_bytes));
    packet.cargo = {given.message, given.message_bytes, given.index,
                    given.tag | static_cast<std::uint32_t>(given.kind) << 24};
    if (!all_.part_.send(packet)) return false;
    all_.sent_sum_ += hash_of(packet);
    return true;
  }
  void write_host(std::uint32_t rank, const nic::Notice& notice) override {
    const std::uint64_t payload = std::uint64_t{static_cast<std::uint8_t>(notice.kind)} << 56 |
                                  std::uint64_t{notice.tag} << 32 | notice.peer;
    all_.part_.queue().push(Event::at(now(), EventKind::host, rank, payload));
  }
  bool is_ordered() const override { return all_.common_.topology->is_ordered(); }

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
  card_ports_.reserve(end - first_host_);
  for (std::uint32_t host = first_host_; host < end; ++host) {
    card_ports_.emplace_back(*this, host);
    cards_.push_back(
        std::make_unique<nic::BareCard>(card_ports_.back(), host, common.packet_bytes));
    if (host < common.motif->ranks()) {
      part_.queue().push(Event::at(0, EventKind::host, host, kStart));
    }
  }
}

Worker::~Worker() = default;

void Worker::on_packet(std::uint32_t host, const Packet& packet) {
  came_sum_ += hash_of(packet);
  card(host).on_packet(for_card(packet));
}

void Worker::on_room(std::uint32_t host) { card(host).on_room(); }

void Worker::send(std::uint32_t rank, std::uint32_t peer, std::uint32_t bytes, std::uint32_t tag) {
  posted_bytes_ += bytes;
  card(rank).on_post(rank, {peer, bytes, tag});
}

void Worker::finish(std::uint32_t rank) { common_.finished[rank] = part_.now(); }

std::uint64_t Worker::out_of_order() const {
  std::uint64_t packets = 0;
  for (const auto& card : cards_) packets += card->out_of_order();
  return packets;
}

// Events of cards and ranks.
void Worker::handle(const Event& event) {
  const auto index = static_cast<std::uint32_t>(event.index());
  if (event.kind() == EventKind::card_timer) {
    card(index).on_timer({static_cast<std::uint32_t>(event.payload >> 32),
                          static_cast<std::uint32_t>(event.payload)});
  } else if (event.payload == kStart) {
    common_.motif->start(index, *this);
  } else {
    const auto tag = static_cast<std::uint32_t>(event.payload >> 32 & 0xffffff);
    common_.motif->on_message(index, tag, *this);
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
