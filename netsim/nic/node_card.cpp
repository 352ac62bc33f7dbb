#include "netsim/nic/node_card.hpp"

namespace photon::netsim::nic {
namespace {

enum : std::uint32_t { kCommand, kRelay, kNotice, kRead, kWake };  // timers

// What a real card would keep of a pair: all fields of Pair and PairMore, as whole words.
constexpr std::size_t kPairBytes = 88;

}  // namespace

NodeCard::NodeCard(const Settings& settings, Port& port, std::uint32_t node)
    : costs_(settings),
      port_(port),
      node_(node),
      is_in_order_(settings.order == "hold"),
      is_registered_each_(settings.registration == "each"),
      lookup_(settings.protocol == "rvma" ? costs_.lookup : 0),
      outbox_(costs_, port, settings.turns == "packet", kWake),
      pairs_(settings.buffers_per_peer),
      held_(settings.mtu) {}

void NodeCard::command(const Command& command) {
  commands_.push(command);
  port_.at(port_.now() + costs_.pcie, {kCommand, 0});
}

void NodeCard::on_post(std::uint32_t slot, const Operation& operation) {
  Command its;
  its.message.is_told = operation.is_told;
  Packet& packet = its.message.packet;
  packet.source = {node_, slot};
  packet.destination = operation.peer;
  packet.message_bytes = operation.bytes;
  packet.posted_ns = operation.posted_ns;
  packet.tag = operation.tag;
  command(its);
}

// The rank posts the buffer anew. Peers are told lazily: of half of the buffers at once.
void NodeCard::on_buffer(std::uint32_t slot, Rank peer) {
  Pair& pair = pairs_[pairs_.find(slot, peer)];
  --pair.used;
  if (++pair.untold < std::max(1U, costs_.buffers / 2)) return;
  Command its;
  Packet& packet = its.message.packet;
  packet.source = {node_, slot};
  packet.destination = peer;
  packet.message_bytes = pair.untold;
  packet.kind = PacketKind::credit;
  pair.untold = 0;
  command(its);
}

void NodeCard::commanded(const Command& command) {
  const Packet& packet = command.message.packet;
  if (packet.kind == PacketKind::credit) {
    outbox_.control(packet, port_.now());
    return;
  }
  Pair& pair = pairs_[pairs_.find(packet.source.slot, packet.destination)];
  append(outbox_.messages(), pair.waiting, outbox_.messages().put(command.message));
  start(pair, port_.now());
}

void NodeCard::start(Pair& pair, Time from) {
  while (!pair.waiting.is_empty() && pair.credits > 0 && may_launch(pair, from)) {
    --pair.credits;
    launch(pair, take_first(outbox_.messages(), pair.waiting), from);
  }
}

// What is no larger than a flit came down inside its command.
void NodeCard::send_data(Pair& pair, std::uint32_t message, Time from) {
  OutMessage& its = outbox_.messages()[message];
  its.packet.message = pair.messages++;
  if (its.packet.message_bytes > costs_.small) {
    outbox_.bulk(message, from);
    return;
  }
  outbox_.control(its.packet, from);
  was_read(message, from);
}

void NodeCard::was_read(std::uint32_t index, Time from) {
  const OutMessage message = outbox_.messages()[index];
  outbox_.messages().give_back(index);
  if (!message.is_told) return;
  const Packet& packet = message.packet;
  notify(
      packet.source.slot,
      {packet.destination, packet.posted_ns, packet.tag, NoticeKind::sent, costs_.poll + costs_.cq},
      from);
}

void NodeCard::pump() {
  outbox_.pump();
  while (!outbox_.read().is_empty()) {
    const Outbox::Read read = outbox_.read().pop();
    if (outbox_.messages()[read.message].is_told) {
      reads_.push(read.message);
      port_.at(read.time, {kRead, 0});
    } else {
      outbox_.messages().give_back(read.message);
    }
  }
}

void NodeCard::on_timer(Timer timer) {
  switch (timer.kind) {
    case kCommand: commanded(commands_.pop()); break;
    case kRelay: {
      const Packet packet = relays_.pop();
      on_relayed(pair_of(packet), packet);
      break;
    }
    case kNotice: {
      const Up up = ups_.pop();
      port_.write_host(up.slot, up.notice);
      return;
    }
    case kRead: was_read(reads_.pop(), port_.now()); return;
    default: break;
  }
  pump();
}

Pair& NodeCard::pair_of(const Packet& packet) {
  return pairs_[pairs_.find(packet.destination.slot, packet.source)];
}

void NodeCard::on_packet(const Packet& packet) {
  Pair& pair = pair_of(packet);
  const bool is_data = packet.kind == PacketKind::data;
  taken_ = std::max(taken_, port_.now()) + costs_.per_packet + (is_data ? lookup_ : 0);
  if (!is_data) {
    if (packet.kind == PacketKind::credit) {
      pair.credits = static_cast<std::uint16_t>(pair.credits + packet.message_bytes);
      start(pair, taken_);
    } else {
      on_control(pair, packet, taken_);
    }
  } else if (!is_in_order_) {
    take(pair, packet, taken_);
  } else if (held_.is_next(more_of(pair), packet)) {
    Packet next = packet;
    do {
      take(pair, next, taken_);
    } while (held_.go_on(more_of(pair), next));
  }
  pump();
}

void NodeCard::take(Pair& pair, const Packet& packet, Time from) {
  const Arrivals::Taken taken = arrivals_.take_one(packet, costs_.mtu);
  if (taken.is_first && !has_buffer(packet)) use_buffer(pair);
  write_up(costs_.bytes_of(packet), from);
  on_data(pair, packet, taken.is_complete, from);
}

void NodeCard::use_buffer(Pair& pair) {
  if (pair.used++ < costs_.buffers) return;
  port_.fail("mailbox of its rank " + std::to_string(pair.slot) + " for rank " +
             std::to_string(pair.peer_slot) + " of node " + std::to_string(pair.node) +
             ": a message came and none of the " + std::to_string(costs_.buffers) +
             " buffers is free");
}

// When the bytes can be seen by the host.
Time NodeCard::write_up(std::uint32_t bytes, Time from) {
  written_ = std::max(written_, from) + costs_.dma(bytes);
  if (written_ > kEndOfTime) port_.fail("what waits to be written up takes more than 2^63 ps");
  return written_ + costs_.pcie;
}

void NodeCard::notify(std::uint32_t slot, const Notice& notice, Time from) {
  ups_.push({slot, notice});
  port_.at(write_up(0, from), {kNotice, 0});
}

void NodeCard::relay(const Packet& packet, Time from) {
  relays_.push(packet);
  port_.at(write_up(0, from) + costs_.poll + costs_.cq + costs_.pcie, {kRelay, 0});
}

void NodeCard::answer(const Packet& packet, PacketKind kind, Time from) {
  Packet its = packet;
  std::swap(its.source, its.destination);
  its.kind = kind;
  outbox_.control(its, from);
}

Time NodeCard::registration(std::uint32_t slot, const Operation& operation) {
  if (operation.bytes <= costs_.small) return 0;
  if (is_registered_each_) return costs_.registration;
  Pair& pair = pairs_[pairs_.find(slot, operation.peer)];
  if (pair.registered == costs_.buffers) return 0;
  ++pair.registered;
  return costs_.registration;
}

Figures NodeCard::figures() const {
  return {arrivals_.out_of_order() + held_.out_of_order(), held_.peak_bytes(),
          arrivals_.peak_bytes() + held_.peak_bytes() + pairs_.size() * kPairBytes};
}

}  // namespace photon::netsim::nic
