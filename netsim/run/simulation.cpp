#include "netsim/run/simulation.hpp"

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

// What a card sees below it.
class Simulation::CardPort final : public nic::Port {
 public:
  CardPort(Simulation& all, std::uint32_t host) : all_(all), host_(host) {}

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
    const std::uint64_t bytes = std::uint64_t{given.bytes} + all_.header_bytes_;
    packet.flits = static_cast<std::uint16_t>(flits_of(bytes, all_.flit_bytes_));
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
  bool is_ordered() const override { return all_.topology_->is_ordered(); }

 private:
  Simulation& all_;
  std::uint32_t host_;
};

Simulation::Simulation(Made made, const Settings& settings)
    : topology_(std::move(made.topology)),
      motif_(std::move(made.motif)),
      note_(std::move(made.rounded.note)),
      flit_bytes_(settings.flit_bytes),
      header_bytes_(settings.header_bytes),
      bound_(settings.max_us == 0 ? kNever : time_of_ns(settings.max_us * 1000)),
      fabric_(*topology_, made.rounded.parameters),
      state_(fabric_),
      part_(fabric_, state_, *this) {
  const std::uint32_t hosts = fabric_.wiring.hosts;
  card_ports_.reserve(hosts);
  for (std::uint32_t host = 0; host < hosts; ++host) {
    card_ports_.emplace_back(*this, host);
    cards_.push_back(
        std::make_unique<nic::BareCard>(card_ports_.back(), host, settings.packet_bytes));
  }
  finished_.resize(motif_->ranks(), kNever);
}

Simulation::~Simulation() = default;

void Simulation::on_packet(std::uint32_t host, const Packet& packet) {
  came_sum_ += hash_of(packet);
  cards_[host]->on_packet(for_card(packet));
}

void Simulation::on_room(std::uint32_t host) { cards_[host]->on_room(); }

void Simulation::send(std::uint32_t rank, std::uint32_t peer, std::uint32_t bytes,
                      std::uint32_t tag) {
  posted_bytes_ += bytes;
  cards_[rank]->on_post(rank, {peer, bytes, tag});
}

void Simulation::finish(std::uint32_t rank) { finished_[rank] = part_.now(); }

// Events of cards and ranks.
void Simulation::handle(const Event& event) {
  const auto index = static_cast<std::uint32_t>(event.index());
  if (event.kind() == EventKind::card_timer) {
    cards_[index]->on_timer({static_cast<std::uint32_t>(event.payload >> 32),
                             static_cast<std::uint32_t>(event.payload)});
  } else if (event.payload == kStart) {
    motif_->start(index, *this);
  } else {
    motif_->on_message(index, static_cast<std::uint32_t>(event.payload >> 32 & 0xffffff), *this);
  }
}

RunResult Simulation::run() {
  EventQueue& queue = part_.queue();
  for (std::uint32_t rank = 0; rank < motif_->ranks(); ++rank) {
    queue.push(Event::at(0, EventKind::host, rank, kStart));
  }
  while (!queue.is_empty() && part_.fault().empty()) {
    const Event event = queue.pop();
    if (event.time > bound_) break;
    if (!part_.handle(event)) handle(event);
  }
  RunResult result;
  result.failure = why_it_failed();
  result.note = note_;
  for (const Time time : finished_) {
    if (time == kNever) continue;
    result.last_ps = std::max(result.last_ps, time);
    result.mean_ps += static_cast<double>(time) / static_cast<double>(finished_.size());
  }
  for (const auto& card : cards_) result.out_of_order += card->out_of_order();
  const Counters& counters = part_.counters();
  result.packets = counters.delivered;
  result.hops = counters.hops;
  result.posted_bytes = posted_bytes_;
  result.bytes_from_cards = counters.bytes_from_cards;
  result.bytes_to_cards = counters.bytes_to_cards;
  result.events = counters.events;
  result.finished_ps = finished_;
  return result;
}

std::string Simulation::why_it_failed() {
  if (!part_.fault().empty()) return part_.fault();
  if (!part_.is_empty()) {
    return "packets stayed in the network at " + std::to_string(part_.now()) +
           " ps: " + waiting_cycle(fabric_, state_);
  }
  if (!part_.queue().is_empty()) return "the bound of simulated time passed";
  if (std::string left = part_.what_is_left(); !left.empty()) return left;
  if (sent_sum_ != came_sum_) return "a packet was not delivered exactly once";
  const Counters& counters = part_.counters();
  if (counters.bytes_from_cards != posted_bytes_ || counters.bytes_to_cards != posted_bytes_) {
    return "the bytes on hosts' links are not those of the messages";
  }
  for (std::uint32_t rank = 0; rank < finished_.size(); ++rank) {
    if (finished_[rank] == kNever) return "rank " + std::to_string(rank) + " waits for ever";
  }
  return {};
}

Result<std::unique_ptr<Simulation>> make_simulation(const Settings& settings) {
  auto topology = make_topology(settings.network);
  if (!topology) return Error{topology.error()};
  auto motif = make_motif(settings.motif);
  if (!motif) return Error{motif.error()};
  auto rounded = parameters_of(settings, (*topology)->vcs());
  if (!rounded) return Error{rounded.error()};
  const std::uint32_t hosts = (*topology)->wire().hosts;
  if ((*motif)->ranks() > hosts) {
    return Error{"motif.ranks \"" + settings.motif.ranks + "\": allowed are up to " +
                 std::to_string(hosts) + " ranks, one on each host"};
  }
  Simulation::Made made{std::move(*topology), std::move(*motif), std::move(*rounded)};
  return std::unique_ptr<Simulation>(new Simulation(std::move(made), settings));
}

Result<RunResult> run(const Settings& settings) {
  auto simulation = make_simulation(settings);
  if (!simulation) return Error{simulation.error()};
  return (*simulation)->run();
}

}  // namespace photon::netsim
