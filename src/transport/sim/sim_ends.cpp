// How ranks end, networks that are cut in two for a while, and links that are lost for good.
//
//   the job's own (incarnation 0) -- leave() --> left: all it has sent comes, then `gone`
//                                 -- die() ----> dead: of what it has sent some comes, then `gone`
//   dead -- enter() --> another incarnation: it may send, and nobody takes it for the dead one
//
// There is no way back: a job's ranks are those that opened it. What the dead one had on its way
// when `gone` comes is lost, so nothing of it arrives late; what another incarnation sends bears
// its number, and transports refuse it.
#include <algorithm>
#include <utility>
#include <vector>

#include "transport/sim/sim_network.hpp"

namespace photon::transport::sim {

namespace {

// In another place of the order, for each element that `is_meant`; the order among them remains.
template <class Map, class IsMeant>
void delay(Map& map, std::uint64_t now_ns, std::uint64_t ns, IsMeant is_meant) {
  std::vector<typename Map::node_type> moved;
  for (auto at = map.begin(); at != map.end();) {
    const auto next = std::next(at);
    if (at->first.first > now_ns && is_meant(at->second)) moved.push_back(map.extract(at));
    at = next;
  }
  for (auto& node : moved) {
    node.key().first += ns;
    map.insert(std::move(node));
  }
}

}  // namespace

std::uint32_t SimNetwork::enter(Rank me) {
  const std::scoped_lock lock(mutex_);
  Seat& seat = seats_[me];
  return seat.left ? ++seat.incarnation : 0;
}

void SimNetwork::leave(Rank me) {
  const std::scoped_lock lock(mutex_);
  leave_locked(me);
}

void SimNetwork::leave_locked(Rank me) {
  if (std::exchange(seats_[me].left, true)) return;  // it died
  seats_[me].arriving.clear();
  refuse_parts_to(me);
  for (Rank rank = 0; rank < size(); ++rank)
    post_locked(rank, {.kind = Packet::Kind::gone, .from = me});
  for (const auto& [number, network] : lanes_) network->leave_locked(me);
}

void SimNetwork::hide(Rank me) {
  const std::scoped_lock lock(mutex_);
  seats_[me].hidden = true;
}

bool SimNetwork::is_hidden(Rank rank) {
  const std::scoped_lock lock(mutex_);
  return seats_[rank].hidden;
}

void SimNetwork::die(Rank me, std::uint64_t notice_ns) {
  const std::scoped_lock lock(mutex_);
  die_locked(me, notice_ns);
}

// Where the sender's memory is shared all that was published can be read; elsewhere it lies in
// queues that end with it, and what comes after the news of the death is lost.
void SimNetwork::die_locked(Rank me, std::uint64_t notice_ns) {
  Seat& dead = seats_[me];
  if (std::exchange(dead.left, true)) return;
  dead.died = true;
  dead.stays_mapped = is_mapped() && dead.draws.up_to(1) == 0;
  dead.arriving.clear();
  refuse_parts_to(me);
  for (Rank rank = 0; rank < size(); ++rank) {
    if (rank == me) continue;
    Wire& wire = dead.wires[rank];
    wire.gone_ns = std::max(now_ns_, wire.cut_until_ns) + wire.random.up_to(notice_ns);
    if (is_mapped()) wire.gone_ns = std::max(wire.gone_ns, wire.last_due_ns);
    lose_under_way(me, rank, wire.gone_ns);
    if (settings_.fault.kind == Fault::Kind::silence) continue;
    enqueue(rank, wire.gone_ns, {.kind = Packet::Kind::gone, .from = me});
  }
  for (const auto& [number, network] : lanes_) network->die_locked(me, notice_ns);
}

// Its NIC finds nobody there. What has landed has landed.
void SimNetwork::refuse_parts_to(Rank rank) {
  for (const auto& [due, part] : parts_)
    if (part.flight->fragment.rank == rank && part.flight->status == PH_OK)
      part.flight->status = PH_ERR_PEER;
}

// From a dead rank. A link that is ordered loses its end, another one anything. What was due is
// there, and a fragment that was told of has landed.
void SimNetwork::lose_under_way(Rank from, Rank to, std::uint64_t gone_ns) {
  constexpr std::uint64_t kOneOf = 4;
  Wire& wire = seats_[from].wires[to];
  std::erase_if(seats_[to].arriving, [&](const auto& one) {
    const auto& [due, packet] = one;
    const bool is_its_own = packet.from == from && packet.kind != Packet::Kind::done;
    if (!is_its_own || due.first <= now_ns_) return false;
    return due.first > gone_ns || (!is_ordered() && wire.random.up_to(kOneOf - 1) == 0);
  });
  std::erase_if(parts_, [&](const auto& one) {
    const auto& [due, part] = one;
    return part.from == from && part.flight->fragment.rank == to && due.first > gone_ns;
  });
}

void SimNetwork::cut(std::uint64_t group, std::uint64_t for_ns) {
  const std::scoped_lock lock(mutex_);
  cut_locked(group, now_ns_ + for_ns);
  for (const auto& [number, network] : lanes_) network->cut_locked(group, now_ns_ + for_ns);
}

void SimNetwork::cut_locked(std::uint64_t group, std::uint64_t until_ns) {
  const auto is_in = [group](Rank rank) { return (group >> (rank % 64) & 1) != 0; };
  for (Rank from = 0; from < size(); ++from) {
    for (Rank to = 0; to < size(); ++to) {
      Wire& wire = seats_[from].wires[to];
      const std::uint64_t begin_ns = std::max(now_ns_, wire.cut_until_ns);
      if (is_in(from) == is_in(to) || until_ns <= begin_ns) continue;
      put_off(from, to, until_ns - begin_ns);
      wire.cut_until_ns = until_ns;
    }
  }
}

// All that is under way on one wire; the NICs' answers to what came the other way are too.
void SimNetwork::put_off(Rank from, Rank to, std::uint64_t ns) {
  Wire& wire = seats_[from].wires[to];
  for (std::uint64_t* at_ns : {&wire.last_due_ns, &wire.gone_ns})
    if (*at_ns > now_ns_) *at_ns += ns;
  delay(seats_[to].arriving, now_ns_, ns,
        [from](const Packet& packet) { return packet.from == from; });
  delay(parts_, now_ns_, ns, [from, to](const Part& part) {
    return part.from == from && part.flight->fragment.rank == to;
  });
}

std::uint64_t SimNetwork::healed_ns() {
  const std::scoped_lock lock(mutex_);
  std::uint64_t last_ns = 0;
  for (const Seat& seat : seats_)
    for (const Wire& wire : seat.wires) last_ns = std::max(last_ns, wire.cut_until_ns);
  return last_ns;
}

void SimNetwork::lose_link(const Loss& loss) {
  const std::scoped_lock lock(mutex_);
  lose_link_locked(loss);
  for (const auto& [number, network] : lanes_) network->lose_link_locked(loss);
}

void SimNetwork::lose_link_locked(const Loss& loss) {
  if (seats_[loss.from].left || seats_[loss.to].left) return;
  losses_.add(loss);
  for (const auto& [from, to] : {std::pair(loss.from, loss.to), std::pair(loss.to, loss.from)})
    if (losses_.is_blocked(from, to)) lose_on_way(from, to);
  tell_of_loss(loss.from, loss.to);
}

// The malformed record of `from` has come: what lies behind it is not looked at any more.
void SimNetwork::cut_off(Rank from, Rank by) {
  losses_.block_cut_off(from, by);
  lose_on_way(from, by);
  lose_on_way(by, from);
  tell_of_loss(from, by);
}

// All records and fragments under way. A fragment of which all has landed is told of to its target,
// whose own NIC knows that; its initiator hears of each fragment, whatever became of it.
void SimNetwork::lose_on_way(Rank from, Rank to) {
  std::erase_if(parts_, [&](const auto& one) {
    Flight& flight = *one.second.flight;
    if (one.second.from != from || flight.fragment.rank != to) return false;
    if (flight.status == PH_OK) flight.status = PH_ERR_PEER;
    return true;
  });
  const auto lost_count = std::erase_if(seats_[to].arriving, [&](const auto& one) {
    const Packet::Kind kind = one.second.kind;
    const bool is_news = kind >= Packet::Kind::gone;  // of the receiver's own network and NIC
    return !is_news && one.second.from == from && one.first.first > now_ns_;
  });
  if (lost_count != 0) losses_.drop(from, to);
}

// Each of the two that has a link, once.
void SimNetwork::tell_of_loss(Rank a, Rank b) {
  for (const auto& [me, peer] : {std::pair(a, b), std::pair(b, a)})
    if (const auto known_ns = losses_.decide(me, peer, now_ns_))
      enqueue(me, *known_ns, {.kind = Packet::Kind::gone, .from = peer});
}

// Also makes the record malformed that is to be so.
bool SimNetwork::is_lost_on_way(Rank to, Packet& packet) {
  const Rank from = packet.from;
  if (packet.kind == Packet::Kind::hello && packet.incarnation == 0) {
    losses_.begin(from, to);
    tell_of_loss(from, to);
  }
  if (losses_.is_blocked(from, to)) {
    losses_.drop(from, to);
    return true;
  }
  if (packet.kind != Packet::Kind::record || !losses_.spoils(from, to)) return false;
  constexpr std::uint64_t kNoKind = std::uint64_t{0xff} << 16;  // wire/record.hpp
  packet.lines[0][0] |= kNoKind;
  packet.is_malformed = true;
  return false;
}

std::uint64_t SimNetwork::loss_known_ns(Rank rank, Rank me) {
  const std::scoped_lock lock(mutex_);
  return losses_.known_ns(me, rank);
}

bool SimNetwork::owes_news(Rank me) {
  const std::scoped_lock lock(mutex_);
  return losses_.owes_news(me, now_ns_);
}

bool SimNetwork::is_gone(Rank rank, Rank me) {
  const std::scoped_lock lock(mutex_);
  return seats_[rank].left && seats_[rank].wires[me].gone_ns <= now_ns_;
}

bool SimNetwork::has_died(Rank rank) {
  const std::scoped_lock lock(mutex_);
  return seats_[rank].died;
}

bool SimNetwork::is_mapped_at(Rank rank, Rank me) {
  const std::scoped_lock lock(mutex_);
  const Seat& seat = seats_[rank];
  if (seat.hidden) return false;
  return !seat.left || (seat.stays_mapped && seat.wires[me].gone_ns > now_ns_);
}

// Of some peers nothing, of some all, of the others this and that. Where memory lies must not
// count, or a seed would tell another story in another build. Draws of its own, as old seeds need;
// all lanes of a job have the same.
bool SimNetwork::stores_reach(Rank me, Rank rank, std::uint64_t size_bytes) const noexcept {
  constexpr std::uint64_t kStreams = std::uint64_t{1} << 63;  // apart from those of the wires
  const std::uint64_t seed = home_ != nullptr ? home_->settings_.seed : settings_.seed;
  const std::uint64_t kind =
      Random(seed).stream(kStreams | std::uint64_t{me} << 32 | rank).up_to(2);
  return kind == 2 ? size_bytes % 2 == 0 : kind == 1;
}

}  // namespace photon::transport::sim
