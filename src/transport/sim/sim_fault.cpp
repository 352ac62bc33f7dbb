// Faults put into the network on purpose, so that tests can show that they are found.
#include "transport/sim/sim_network.hpp"
#include "wire/record.hpp"

namespace photon::transport::sim {

namespace {

// A record of one line, with an id: what can change places with another one unnoticed by the ring.
bool is_one_line(wire::Kind kind, const Packet& packet) {
  if (packet.kind != Packet::Kind::record || packet.lines.size() != 1) return false;
  const auto header = wire::decode(packet.lines[0][0]);
  return header && header->kind == kind && header->id_bytes != wire::kNoId;
}
bool is_small_record(const Packet& packet) { return is_one_line(wire::Kind::put, packet); }
bool is_small_message(const Packet& packet) { return is_one_line(wire::Kind::message, packet); }

bool fits(Fault::Kind kind, const Packet& packet) {
  switch (kind) {
    case Fault::Kind::early: return packet.kind == Packet::Kind::record && !packet.bulk.empty();
    case Fault::Kind::credit:
      return packet.kind == Packet::Kind::credits && packet.credits.ledger != 0;
    case Fault::Kind::count:
    case Fault::Kind::key:
    case Fault::Kind::fence:
    case Fault::Kind::one_wave:
    case Fault::Kind::early_return:
    case Fault::Kind::no_unreplied:
    case Fault::Kind::reorder_am:
    case Fault::Kind::silence:
    case Fault::Kind::rejoin: return false;
    case Fault::Kind::lose_message:
    case Fault::Kind::repeat_message: return is_small_message(packet);
    default: return is_small_record(packet);
  }
}

// The tags belong to the places, all else to the records.
void move_contents(const Packet& from, Packet& to) {
  const std::uint64_t tag = to.lines[0][0] & 0xffff;
  to.lines = from.lines;
  to.lines[0][0] = (to.lines[0][0] & ~std::uint64_t{0xffff}) | tag;
}

}  // namespace

// The latest record is kept, and comes again in the place of the next one that has the same ends on
// another lane.
void SimNetwork::leak(Rank to, Packet& packet) {
  SimNetwork& job = home_ != nullptr ? *home_ : *this;
  if (job.has_leaked_ || !is_small_record(packet)) return;
  const bool is_other_lane = job.held_ && job.held_on_ != this;
  if (is_other_lane && job.held_->from == packet.from && job.held_for_ == to &&
      job.fitting_count_++ >= settings_.fault.after) {
    move_contents(*job.held_, packet);
    job.has_leaked_ = true;
  }
  job.held_ = packet;
  job.held_for_ = to;
  job.held_on_ = this;
}

// True: the packet is taken care of.
bool SimNetwork::inject(Rank to, std::uint64_t due_ns, Packet& packet) {
  const Fault& fault = settings_.fault;
  if (fault.kind == Fault::Kind::leak) {
    leak(to, packet);
    return false;
  }
  if (held_ && held_->from == packet.from && held_for_ == to) {
    Packet first = *std::move(held_);
    held_.reset();
    const bool is_message = fault.kind == Fault::Kind::repeat_message;
    if (is_message ? is_small_message(packet) : is_small_record(packet)) {
      const Packet second = packet;
      move_contents(first, packet);
      if (fault.kind == Fault::Kind::swap) move_contents(second, first);
    }
    enqueue(to, due_ns, std::move(first));
    return false;
  }
  Wire& wire = seats_[packet.from].wires[to];
  if (packet.kind == Packet::Kind::credits) packet.credits.ledger -= wire.ids_forgotten;
  if (!fits(fault.kind, packet) || fitting_count_++ != fault.after) return false;
  switch (fault.kind) {
    case Fault::Kind::drop:
    case Fault::Kind::lose_message: return true;
    case Fault::Kind::swap:
    case Fault::Kind::repeat:
    case Fault::Kind::repeat_message:
      held_for_ = to;
      held_ = std::move(packet);
      return true;
    case Fault::Kind::early: {  // the bytes follow when nobody waits for them any more
      constexpr std::uint64_t kMuchLaterNs = 100'000;
      Packet rest = packet;
      rest.lines.clear();
      enqueue(to, due_ns + kMuchLaterNs, std::move(rest));
      packet.bulk.clear();
      return false;
    }
    case Fault::Kind::credit:
      wire.ids_forgotten = 1;
      --packet.credits.ledger;
      return false;
    case Fault::Kind::count:  // of fragments only: sim_nics.cpp
    case Fault::Kind::key:
    case Fault::Kind::fence:
    case Fault::Kind::one_wave:  // and so of services: simtest/am_faults.cpp
    case Fault::Kind::early_return:
    case Fault::Kind::no_unreplied:
    case Fault::Kind::reorder_am:
    case Fault::Kind::leak:     // above
    case Fault::Kind::silence:  // of deaths only: sim_ends.cpp, sim_transport.cpp
    case Fault::Kind::rejoin:
    case Fault::Kind::none: break;
  }
  return false;
}

}  // namespace photon::transport::sim
