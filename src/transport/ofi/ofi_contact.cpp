// First contact: endpoint infos over the side channel, who says hello, and what of strangers is
// refused.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/ofi/ofi_transport_impl.hpp"

namespace photon::transport::ofi {

namespace {

constexpr std::int64_t kHandshakeAgainNs = 200'000'000;
constexpr unsigned kMostDoublings = 5;

std::string named(Rank rank) { return "ofi: rank " + std::to_string(rank); }

Refusal refusal_of(OfiHandshake::Step step) noexcept {
  if (step == OfiHandshake::Step::version) return Refusal::version;
  if (step == OfiHandshake::Step::unexpected) return Refusal::unexpected;
  return step == OfiHandshake::Step::wrong_secret ? Refusal::wrong_secret : Refusal::garbage;
}

}  // namespace

OfiPeer& OfiTransport::remember(Rank rank) {
  if (peers_[rank] == nullptr) {
    peers_[rank] = std::make_unique<OfiPeer>(rank);
    ++unsettled_;
  }
  return *peers_[rank];
}

base::Result<> OfiTransport::can_meet(Rank rank) const {
  if (is_broken_) return peer_error(rank, ": the provider has failed before");
  return {};
}

base::Result<bool> OfiTransport::send_info(Rank rank, OfiEndpointInfo::What what) {
  OfiEndpointInfo endpoint_info = parts_.endpoint_info;
  endpoint_info.what = what;
  return side_channel_.send(rank, encode(endpoint_info));
}

void OfiTransport::take_info(Rank rank, std::span<const std::byte> bytes) {
  OfiPeer& peer = remember(rank);
  auto endpoint_info = decode_endpoint_info(bytes);
  if (endpoint_info && endpoint_info->what == OfiEndpointInfo::What::how_far)
    return answer_later(rank);
  if (peer.state == OfiPeer::State::ended) return;
  auto same = endpoint_info ? check_agreement(parts_.endpoint_info, *endpoint_info)
                            : base::Result<>(endpoint_info.error());
  if (!same) {
    // The peer finds out from our endpoint info, as we do from its.
    if (!peer.has_asked) static_cast<void>(send_info(rank, OfiEndpointInfo::What::answer));
    same.error().what = named(rank) + ": " + same.error().what;
    same.error().rank = rank;
    return end(peer, same.error());
  }
  if (endpoint_info->what == OfiEndpointInfo::What::gone)
    return take_gone(peer, endpoint_info->why.data());
  if (endpoint_info->what == OfiEndpointInfo::What::so_far)
    return take_answer(peer, endpoint_info->heard);
  if (endpoint_info->what != OfiEndpointInfo::What::ask || peer.state != OfiPeer::State::asked)
    return;
  meet(peer, endpoint_info->address_span());
  if (peer.state == OfiPeer::State::handshake) dial(peer);
}

// It waits for nothing of ours any more. What it sent before may still come.
void OfiTransport::take_gone(OfiPeer& peer, std::string why) {
  why = " has cut this rank off: " + why;
  if (!peer.is_open()) return end(peer, peer_error(peer.rank, why, ECONNABORTED));
  peer.is_cut_off = true;
  if (peer.boot_gone_ns != 0) return;
  if (peer.is_settled()) ++unsettled_;
  peer.gone_why = std::move(why);
  peer.boot_gone_ns = time_.now_ns();
}

// It lives, as far as we know. The bootstrap belongs to the engine's threads, and this may be the
// flusher's: poll() sends the endpoint info.
void OfiTransport::cut_off(OfiPeer& peer, base::Error why) {
  if (peer.state == OfiPeer::State::ended) return;
  cut_off_.push_back({peer.rank, why.what});
  wake_.ring_if_armed();
  end(peer, std::move(why));
}

void OfiTransport::cut_off(Rank rank, const std::string& why) noexcept {
  const network::Entered entered(lock_);
  if (OfiPeer* peer = known(rank); peer != nullptr && rank != parties_.self)
    cut_off(*peer, {PH_ERR_PROTOCOL, 0, why, rank});
}

void OfiTransport::tell_who_is_cut_off() {
  const auto told = std::exchange(cut_off_, {});
  if (side_channel_.is_broken()) return;
  for (const CutOff& one : told) {
    OfiEndpointInfo endpoint_info = parts_.endpoint_info;
    endpoint_info.what = OfiEndpointInfo::What::gone;
    endpoint_info.set_why(one.why);
    const auto sent = side_channel_.send(one.rank, encode(endpoint_info));
    // Who has ended need not know; who has much to read is told later.
    if (!sent && sent.error().status == PH_AGAIN) cut_off_.push_back(one);
  }
}

// We know where it is.
void OfiTransport::meet(OfiPeer& peer, std::span<const std::byte> at) {
  const auto trouble = [&](base::Error error) {
    error.what = named(peer.rank) + ": " + error.what;
    error.rank = peer.rank;
    cut_off(peer, std::move(error));
  };
  auto address = seat(peer, at);
  if (!address) return trouble(std::move(address.error()));
  auto handshake = OfiHandshake::make(boot_.secret(), parties_, peer.rank);
  if (!handshake) return trouble(std::move(handshake.error()));
  auto window = Window::make(*parts_.messages, peer.rank, parts_.window_slots);
  if (!window) return trouble(std::move(window.error()));
  peer.route.to = *address;
  peer.handshake = *handshake;
  peer.window = std::move(*window);
  peer.met_ns = time_.now_ns();
  peer.state = OfiPeer::State::handshake;
}

void OfiTransport::dial(OfiPeer& peer) {
  peer.handshake->dial(parts_.fabric->address(peer.route.by));
  peer.said_ns = time_.now_ns();
  await_confirmation(peer);
  flush(peer);
}

// Whatever carries it may have lost it, or the answer. There is no last time: who does not answer
// may compute, and is not dead; so it is said ever more rarely.
void OfiTransport::repeat_handshake(OfiPeer& peer, std::int64_t now_ns) {
  if (peer.window->is_waiting()) return dial_by_another(peer, now_ns);
  peer.unreached.over();
  const std::int64_t patience_ns = kHandshakeAgainNs << std::min(peer.said_again, kMostDoublings);
  if (now_ns - peer.said_ns < patience_ns || !peer.window->is_idle()) return;
  ++peer.said_again;
  peer.said_ns = now_ns;
  peer.handshake->again();
  flush(peer);
}

// The provider does not come to take a hello, and may never, though the peer could be reached:
// docs/ofi.md, "Connections that hang". Else the peer is stopped, and hears it later by one of
// them. It waits still, so flush_waiting() says the new one.
void OfiTransport::dial_by_another(OfiPeer& peer, std::int64_t now_ns) {
  const std::size_t by = peer.route.by + 1;
  const bool is_hello = !peer.handshake->awaits_welcome();
  if (!is_hello || by == kMostEndpoints || peer.no_way_ns != 0) return peer.unreached.over();
  if (peer.unreached.again(now_ns) < kUnreachedNs << peer.route.by) return;
  peer.unreached.over();
  if (!has_endpoint(by)) return;
  PHOTON_LOG(log_, info, "ofi: provider %s has not reached rank %u: another endpoint tries",
             parts_.fabric->traits().provider.c_str(), peer.rank);
  peer.route.by = by;
  peer.said_ns = now_ns;
  peer.window->forget_waiting();
  peer.handshake->dial(parts_.fabric->address(by));
}

bool OfiTransport::has_endpoint(std::size_t by) {
  Fabric& fabric = *parts_.fabric;
  if (by == fabric.endpoints_count()) {
    if (opens_no_more_) return false;
    if (auto opened = fabric.open_endpoint(); !opened) {
      opens_none(opened.error());
      return false;
    }
    parts_.receives->widen();
    static_cast<void>(parts_.receives->post());  // poll() does it again, and tells trouble
  }
  return fabric.address(by).size() <= kMostAddressBytes;
}

// One that began and failed may have left something in the provider's descriptor
// (ofi_rma_endpoints.cpp).
void OfiTransport::opens_none(const base::Error& why) {
  opens_no_more_ = true;
  if (why.status != PH_ERR_STATE) is_wait_broken_ = true;
  PHOTON_LOG(log_, warn, "ofi: who is not reached is not tried by another endpoint: %s",
             why.what.c_str());
}

// `peer` is null if it says it is of a rank that we know nothing of.
void OfiTransport::on_handshake(OfiPeer* peer, const MessageHead& head,
                                std::span<const std::byte> body) {
  if (peer != nullptr && peer->state == OfiPeer::State::ended) return;
  if (peer != nullptr && peer->state == OfiPeer::State::asked && head.kind == MessageKind::hello) {
    HelloBody hello;
    const auto checked = OfiHandshake::check_hello(boot_.secret(), body, hello);
    if (checked == OfiHandshake::Step::waits && hello.hello.from == head.from &&
        hello.hello.to == parties_.self && hello.hello.lane == parties_.lane)
      meet(*peer, std::span(hello.address).first(hello.address_bytes));
    else if (checked != OfiHandshake::Step::waits)
      return refuse(refusal_of(checked));
  }
  if (peer == nullptr || !peer->handshake) return refuse(Refusal::unexpected);
  const auto step = peer->handshake->take(head, body);
  if (step == OfiHandshake::Step::waits && head.kind == MessageKind::hello && !follow(*peer, body))
    return;
  if (step == OfiHandshake::Step::waits || step == OfiHandshake::Step::open) {
    peer->said_ns = time_.now_ns();
    peer->said_again = 0;
    peer->keepalive.heard();
  }
  switch (step) {
    case OfiHandshake::Step::late: return;
    case OfiHandshake::Step::open: return opened(*peer);
    case OfiHandshake::Step::waits: return flush(*peer);
    case OfiHandshake::Step::not_it:
      refuse(Refusal::wrong_secret);
      return cut_off(
          *peer,
          {PH_ERR_PEER, 0, named(peer->rank) + ": who answers at its address cannot prove to be it",
           peer->rank});
    default: return refuse(refusal_of(step));
  }
}

// Who says hello is answered where it says it is, which may be another endpoint than its endpoint
// info or an earlier hello says; and by our first, for that is where the hello came.
bool OfiTransport::follow(OfiPeer& peer, std::span<const std::byte> body) {
  HelloBody hello;
  std::memcpy(&hello, body.data(), sizeof hello);  // it was taken: it has that size, and its seal
  const auto to = seat(peer, std::span(hello.address).first(hello.address_bytes));
  if (to) {
    peer.route = {*to, 0};
    return true;
  }
  cut_off(peer, {to.error().status, to.error().native_errno,
                 named(peer.rank) + ": " + to.error().what, peer.rank});
  return false;
}

// Each address once, however often its hello is said, or said again by a stranger.
base::Result<std::uint64_t> OfiTransport::seat(OfiPeer& peer, std::span<const std::byte> address) {
  for (const Seat& one : peer.seats)
    if (std::equal(one.address.begin(), one.address.end(), address.begin(), address.end()))
      return one.to;
  auto to = parts_.fabric->insert(address);
  if (to) peer.seats.push_back({{address.begin(), address.end()}, *to});
  return to;
}

// Both sides have proved themselves. The acceptor's welcome goes before anything else.
void OfiTransport::opened(OfiPeer& peer) {
  peer.state = OfiPeer::State::open;
  if (peer.is_settled()) --unsettled_;
  if (auto given = give_link(peer); !given) return cut_off(peer, given.error());
  tell({.kind = News::Kind::link, .peer = &peer});
  flush(peer);
}

void OfiTransport::refuse(Refusal why) noexcept {
  if (refused_.add(why) == 1)
    PHOTON_LOG(log_, warn, "ofi: refused a message that %s; more of the kind are counted",
               refusal_text(why));
}

}  // namespace photon::transport::ofi
