#include "transport/network/network_transport.hpp"

#include <string>
#include <utility>

#include "transport/poll_sleepers.hpp"

namespace photon::transport::network {

namespace {

base::Error unreached(const char* transport, Rank rank) {
  return {PH_ERR_STATE, 0,
          std::string(transport) + ": memory of rank " + std::to_string(rank) +
              " is reached by posting only",
          rank};
}

}  // namespace

NetworkTransport::NetworkTransport(Setup setup)
    : boot_(setup.boot),
      config_(setup.config),
      time_(setup.time),
      log_(setup.config.log, setup.boot.rank()),
      wake_(std::move(setup.wake)),
      news_(setup.order),
      side_channel_(setup.boot),
      self_(setup.boot.rank()),
      ranks_count_(setup.boot.size()),
      posts_(setup.posts) {}

base::Error NetworkTransport::peer_error(Rank rank, const std::string& what,
                                         int native_errno) const {
  return {PH_ERR_PEER, native_errno, std::string(name()) + ": rank " + std::to_string(rank) + what,
          rank};
}

base::Result<Link*> NetworkTransport::connect(Rank rank) {
  const Entered entered(lock_);
  if (rank >= ranks_count_)
    return base::Error{PH_ERR_RANK, 0,
                       std::string(name()) + ": connect to rank " + std::to_string(rank) + " of " +
                           std::to_string(ranks_count_) + " ranks",
                       rank};
  NetworkPeer* before = known(rank);
  if (before != nullptr && before->is_linked && !before->is_released) return &before->link->view();
  if (before != nullptr && (before->is_released || before->state == NetworkPeer::State::ended))
    return peer_error(rank, ": connect to a rank that has ended or was disconnected");
  if (auto can = can_meet(rank); !can) return std::move(can.error());
  NetworkPeer& peer = remember(rank);
  if (auto given = give_link(peer); !given) return std::move(given.error());
  if (rank == self_) {
    peer.state = NetworkPeer::State::open;
    --unsettled_;
    tell({.kind = News::Kind::link, .peer = &peer});
  } else if (peer.state == NetworkPeer::State::asked && !peer.has_asked) {
    auto sent = ask(rank);
    if (!sent || !*sent) {
      peer.link.reset();
      peer.is_linked = false;
      end(rank, peer_error(rank, " has ended"));
      if (!sent) return std::move(sent.error());
      return peer_error(rank, ": connect to a rank that has ended");
    }
    peer.has_asked = true;
    side_channel_.asked(time_.now_ns());
  }
  return &peer.link->view();
}

// What it was sent still goes out, and the peer notices nothing: so the connection stays.
void NetworkTransport::disconnect(Rank rank) noexcept {
  const Entered entered(lock_);
  NetworkPeer* peer = known(rank);
  if (peer == nullptr || !peer->is_linked) return;
  peer->is_released = true;
  if (peer->state == NetworkPeer::State::ended || rank == self_) peer->link.reset();
}

void NetworkTransport::take_messages() {
  for (;;) {
    auto received = side_channel_.next();
    if (!received) return end_who_is_asked(received.error());
    if (!*received) return;
    take_message(**received);
  }
}

void NetworkTransport::end_who_is_asked(const base::Error& why) {
  PHOTON_LOG(log_, warn, "no further peers can be met: %s", why.what.c_str());
  for (Rank rank = 0; rank < ranks_count_; ++rank) {
    const NetworkPeer* peer = known(rank);
    if (peer == nullptr || peer->state != NetworkPeer::State::asked) continue;
    base::Error its = why;
    its.rank = rank;
    end(rank, std::move(its));
  }
}

void NetworkTransport::take_message(const boot::Message& message) {
  const Rank rank = message.from;
  if (rank >= ranks_count_ || rank == self_)
    PHOTON_LOG(log_, warn, "ignored a message of rank %u, which is none of our peers", rank);
  else if (message.kind == boot::Message::Kind::data)
    take_info(rank, message.bytes);
  else
    boot_gone(rank, message.why);
}

bool NetworkTransport::drained() const noexcept {
  const Entered entered(lock_);
  is_undrained_ = !has_left_all();
  return !is_undrained_;
}

base::Result<> NetworkTransport::read(Rank rank, std::uint64_t /*address*/,
                                      std::span<std::byte> /*destination*/) noexcept {
  return unreached(name(), rank);
}
base::Result<> NetworkTransport::write(Rank rank, std::uint64_t /*address*/,
                                       std::span<const std::byte> /*source*/) noexcept {
  return unreached(name(), rank);
}

void NetworkTransport::sleep(std::int64_t timeout_us) noexcept {
  Transport* const self[] = {this};
  poll_sleepers(self, timeout_us);
}

// Of the descriptors of sleep_on() the first one is that of our wake-ups, the last one that of the
// side channel.
void NetworkTransport::slept(unsigned ready) noexcept {
  if ((ready & 1) != 0) wake_.drain();
  if ((ready & 4) != 0) side_channel_.slept();
}

void NetworkTransport::disarm() noexcept {
  const Entered entered(lock_);
  wake_.disarm();
}

RejectedConnections NetworkTransport::rejected() const noexcept {
  const Entered entered(lock_);
  return refused_.counts();
}

}  // namespace photon::transport::network
