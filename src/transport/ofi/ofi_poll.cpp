// News: completions of the provider, the side channel by the clock; and how peers end.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/ofi/ofi_transport_impl.hpp"

namespace photon::transport::ofi {

namespace {

constexpr std::size_t kMostCompletions = 32;  // of one call of the provider's
constexpr int kMostReads = 8;
constexpr std::int64_t kAttendNs = 1'000'000;
// After the bootstrap said that a rank has ended or a message to it has failed, and after the last
// of what still came from it.
constexpr std::int64_t kByeWaitNs = 1'000'000'000;
// How long fragments may still be under way to a rank that has ended, before our RMA endpoint ends
// them.
constexpr std::int64_t kLingerNs = 100'000'000;

// For messages, or for fragments.
bool has_no_way(const OfiPeer& peer) noexcept {
  return peer.no_way_ns != 0 || peer.no_way_to_rma_endpoint_ns != 0;
}

}  // namespace

void OfiTransport::poll(Sink& sink) noexcept {
  const network::Entered entered(lock_);
  flusher_.came();
  look();
  is_behind_ = false;
  if (parts_.receives->has_arrived()) take_arrived();
  if (parts_.receives->is_short() && !is_broken_ && !parts_.receives->post())
    end_all(parts_.fabric->words());
  if (!waiting_.empty()) flush_waiting();
  if (!stalled_.empty()) go_on_stalled();
  if (lingering_ != 0 && time_.now_ns() - lingering_ns_ >= kLingerNs) end_our_rma_endpoints();
  const std::int64_t now = time_.now_ns();
  if (!unconfirmed_.empty()) check_keepalive(now);
  const bool is_look_due = side_channel_.is_due(now);
  if (unsettled_ != 0 && now - attended_ns_ >= kAttendNs) attend(now);
  if (is_look_due) receive_boot();
  answer_who_asked();
  if (!cut_off_.empty()) tell_who_is_cut_off();
  if (!news_.is_empty()) dispatch(sink);
}

// What is over makes room; what has arrived is kept for take_arrived(). False: there is no more. (A
// read ends before an error, which the next one brings.)
bool OfiTransport::look() {
  Completion completions[kMostCompletions];
  bool has_failed = false;
  for (int i = 0; i < kMostReads && !is_broken_; ++i) {
    std::size_t count = 0;
    const auto got = parts_.fabric->read(completions, count);
    if (got == Fabric::Got::broken) {
      end_all(parts_.fabric->words());
      return false;
    }
    if (got == Fabric::Got::error) {
      ++completions_count_;
      failed();
      has_failed = true;
      continue;
    }
    completions_count_ += count;
    for (std::size_t k = 0; k < count; ++k) {
      const Completion& one = completions[k];
      if (one.operation == nullptr && one.data)
        fragment_told(*one.data);
      else if (one.operation == nullptr)
        refuse(Refusal::unexpected);
      else if (one.operation->rank == Operation::kReceive)
        parts_.receives->arrived(*one.operation, one.size_bytes);
      else if (one.operation->is_fragment)
        fragment_over(*one.operation);
      else
        sent(*one.operation, true);
    }
    if (count < kMostCompletions) return has_failed || count != 0;
  }
  return !is_broken_;
}

void OfiTransport::sent(const Operation& operation, bool is_well) noexcept {
  OfiPeer* peer = known(operation.rank);
  if (peer == nullptr || peer->window == nullptr) return;
  if (is_well && operation.is_handshake) peer->unsaid = 0;
  if (peer->window->over(operation)) --under_way_;
  if (peer->state == OfiPeer::State::ended && peer->window->is_idle()) peer->window.reset();
}

// A message that could not be received is none of this library's, which is never too long. One that
// could not be sent is a gap in what its peer gets.
void OfiTransport::failed() {
  const Operation* operation = parts_.fabric->failed();
  if (operation == nullptr) {
    PHOTON_LOG(log_, warn, "ofi: an error of the provider that concerns no message: %s",
               parts_.fabric->words().c_str());
    return;
  }
  if (operation->rank == Operation::kReceive) {
    parts_.receives->spoiled(*operation);
    return refuse(Refusal::garbage);
  }
  if (operation->is_fragment) return fragment_failed(*operation);
  const Rank rank = operation->rank;
  sent(*operation, false);
  OfiPeer* peer = known(rank);
  if (peer != nullptr && operation->is_handshake && is_said_again(*peer)) return;
  if (peer != nullptr) mute(*peer, ": a message could not be sent: " + parts_.fabric->words());
}

void OfiTransport::take_arrived() {
  heard_ns_ = time_.now_ns();
  std::size_t count = 0;
  for (; parts_.receives->has_arrived(); ++count) {
    take(parts_.receives->next());
    parts_.receives->taken();
  }
  // All that one endpoint had been given, before these grew.
  is_behind_ = 2 * count * parts_.fabric->endpoints_count() >= parts_.receives->wanted();
}

// Anybody may have sent it.
void OfiTransport::take(std::span<const std::byte> message) {
  MessageHead head;
  if (message.size() < sizeof head) return refuse(Refusal::garbage);
  std::memcpy(&head, message.data(), sizeof head);
  const auto body = message.subspan(sizeof head);
  OfiPeer* peer = head.from == parties_.self ? nullptr : known(head.from);
  if (is_handshake(head.kind)) return on_handshake(peer, head, body);
  if (peer != nullptr && peer->state == OfiPeer::State::handshake &&
      peer->handshake->awaits_welcome() && head.key == peer->handshake->our_key()) {
    peer->handshake->welcomed();  // the welcome was lost
    opened(*peer);
  }
  if (peer == nullptr || !peer->is_open()) {
    // What a rank said before it was ended is late, and no offence.
    if (peer == nullptr || peer->state != OfiPeer::State::ended) refuse(Refusal::unexpected);
    return;
  }
  if (head.key != peer->handshake->our_key()) return refuse(Refusal::wrong_key);
  take_open(*peer, head, body);
}

void OfiTransport::take_open(OfiPeer& peer, const MessageHead& head,
                             std::span<const std::byte> body) {
  if (peer.boot_gone_ns != 0) peer.boot_gone_ns = heard_ns_;
  peer.keepalive.heard();
  if (peer.is_mute()) {
    peer.mute_heard_ns = heard_ns_;
    ++peer.mute_heard_count;
  }
  if (parts_.fabric->traits().keeps_order || head.sequence == peer.inlet.next_sequence()) {
    take_next(peer, head, body);
    while (peer.is_open()) {
      const auto message = peer.early.next(peer.inlet.next_sequence());
      if (!message) return;
      take_next(peer, message->head, message->body);
    }
  } else if (!peer.early.keep(head, body, most_before_bye())) {
    cut_off_disorder(peer);
  }
}

void OfiTransport::cut_off_disorder(OfiPeer& peer) {
  cut_off(peer, {PH_ERR_PROTOCOL, 0,
                 "ofi: a message of rank " + std::to_string(peer.rank) +
                     " is missing or came out of order: provider " +
                     parts_.fabric->traits().provider + " has lost it",
                 peer.rank});
}

// Behind all that it said. That it has left the bootstrap may say, too, but later.
base::Error OfiTransport::departed_error(const OfiPeer& peer) const {
  base::Error why = peer_error(peer.rank, " has ended");
  why.status = PH_ERR_DEPARTED;
  return why;
}

void OfiTransport::take_next(OfiPeer& peer, const MessageHead& head,
                             std::span<const std::byte> body) {
  const auto cut_off_garbage = [&] {
    cut_off(peer, {PH_ERR_PROTOCOL, 0,
                   "ofi: rank " + std::to_string(peer.rank) +
                       " sent what no rank of this library sends; it is cut off",
                   peer.rank});
  };
  switch (peer.inlet.take(head, body, *peer.link)) {
    case Inlet::Took::news:
      if (!std::exchange(peer.is_touched, true))
        tell({.kind = News::Kind::activity, .peer = &peer});
      return;
    case Inlet::Took::nothing: return;
    case Inlet::Took::bye: return end(peer, peer_error(peer.rank, " has ended"));
    case Inlet::Took::left: return end(peer, departed_error(peer));
    case Inlet::Took::disorder: return cut_off_disorder(peer);
    case Inlet::Took::word:
      if (!take_word(peer, head.kind, body)) cut_off_garbage();
      return;
    case Inlet::Took::garbage: return cut_off_garbage();
  }
}

void OfiTransport::receive_boot() {
  side_channel_.begin_look();
  take_messages();
}

void OfiTransport::boot_gone(Rank rank, const char* why) {
  OfiPeer& peer = remember(rank);
  if (peer.state == OfiPeer::State::ended) return;
  if (peer.state == OfiPeer::State::asked)
    return end(peer, peer_error(rank, std::string(" ") + why));
  // What it sent may still come, and its bye behind it.
  if (peer.boot_gone_ns != 0) return;
  if (peer.is_settled()) ++unsettled_;
  peer.boot_gone_ns = time_.now_ns();
}

// Deadlines.
void OfiTransport::attend(std::int64_t now_ns) {
  const std::int64_t away_ns = now_ns - attended_ns_ - kAwayNs;
  attended_ns_ = now_ns;
  for (const auto& peer : peers_) {
    if (peer == nullptr || peer->is_settled() || peer->rank == parties_.self) continue;
    for (std::int64_t* since : {&peer->boot_gone_ns, &peer->mute_heard_ns})
      if (away_ns > 0 && *since != 0) *since = std::min(*since + away_ns, now_ns);
    attend(*peer, now_ns);
  }
}

// What it may send without credits that we cannot give it any more, and more than that; so no more
// of its messages can have overtaken others, either.
std::uint64_t OfiTransport::most_before_bye() const noexcept {
  return 4 * config_.ring_lines + config_.bulk_bytes / kLeastMessageBytes + 64;
}

void OfiTransport::attend(OfiPeer& peer, std::int64_t now_ns) {
  if (is_behind_) return;  // what it said may lie behind what others did
  if (peer.boot_gone_ns != 0 && now_ns - peer.boot_gone_ns >= kByeWaitNs)
    return end(peer, peer_error(peer.rank, peer.gone_why, peer.is_cut_off ? ECONNABORTED : 0));
  if (peer.is_mute()) {
    const bool is_silent = now_ns - peer.mute_heard_ns >= kByeWaitNs;
    if (is_silent || peer.mute_heard_count >= most_before_bye())
      cut_off(peer, peer_error(peer.rank, peer.mute_why, has_no_way(peer) ? EHOSTUNREACH : 0));
  } else if (peer.state == OfiPeer::State::handshake && peer.handshake->is_owed()) {
    repeat_handshake(peer, now_ns);
  }
}

// What stands in its ring stays until disconnect(); what the provider still has of ours, until it
// has done with it.
void OfiTransport::end(OfiPeer& peer, base::Error why) {
  if (peer.state == OfiPeer::State::ended) return;
  if (!peer.is_settled()) --unsettled_;
  peer.state = OfiPeer::State::ended;
  peer.is_waiting = false;
  if (peer.window != nullptr) {
    peer.window->forget_waiting();
    if (peer.window->is_idle()) peer.window.reset();
  }
  side_channel_.look_soon();  // which may know that it left in order
  end_fragments(peer);
  if (peer.is_released) {
    peer.link.reset();
    return;
  }
  // A rank that was never met may end unheard, unless we know why nobody can meet it.
  if (!peer.is_linked && why.status == PH_ERR_PEER && !peer.handshake) return;
  peer.why = std::move(why);
  peer.is_gone_held = true;
  say_gone_if_clear(peer);
}

void OfiTransport::end_all(const std::string& why) {
  is_broken_ = true;
  PHOTON_LOG(log_, error, "ofi: provider %s has failed: %s",
             parts_.fabric->traits().provider.c_str(), why.c_str());
  for (const auto& peer : peers_)
    if (peer != nullptr && peer->rank != parties_.self)
      cut_off(*peer, peer_error(peer->rank, ": the provider has failed: " + why, ENETDOWN));
  end_our_rma_endpoints();
}

// What the bootstrap knows of an end is looked for before that is told.
void OfiTransport::dispatch(Sink& sink) {
  if (news_.has_gone() && !side_channel_.is_broken()) receive_boot();
  news_.tell(sink);
}

}  // namespace photon::transport::ofi
