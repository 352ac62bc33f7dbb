// Memory of peers that our fragments touch, and ours that theirs do. docs/ofi.md, Fragments, has
// the states and who waits for whom.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/readable.hpp"
#include "transport/ofi/ofi_transport_impl.hpp"

namespace photon::transport::ofi {

namespace {

template <class Body>
bool read_body(std::span<const std::byte> bytes, Body& body) noexcept {
  if (bytes.size() != sizeof body) return false;
  std::memcpy(&body, bytes.data(), sizeof body);
  return true;
}

template <class Body>
std::size_t put_message(std::span<std::byte> room, const MessageHead& head, const Body& body) {
  static_assert(sizeof head + sizeof body <= kLeastMessageBytes);
  std::memcpy(room.data(), &head, sizeof head);
  std::memcpy(room.data() + sizeof head, &body, sizeof body);
  return sizeof head + sizeof body;
}

}  // namespace

Reach OfiTransport::reach(Rank rank, std::uint64_t /*address*/, std::uint64_t size_bytes) noexcept {
  if (size_bytes < config_.ofi_direct_least_bytes || !parts_.fabric->traits().has_rma_endpoints)
    return {};
  const network::Entered entered(lock_);
  const OfiPeer* peer = known(rank);
  const bool is_there = peer != nullptr && peer->is_open() && !peer->is_released &&
                        !peer->is_mute() && rank != parties_.self;
  if (!is_there || has_no_rma_endpoint_) return {};
  return {Reach::Kind::posted, nullptr};
}

// A provider over tcp that meets memory which is not there ends the connection, or the process of
// the peer. One that has memory registered finds out by itself.
bool OfiTransport::has_own_memory(const PostedFragment& fragment) const noexcept {
  if (local_granule() != 0) return true;
  if (fragment.source != nullptr) return base::is_readable({fragment.source, fragment.size_bytes});
  return base::is_writable({fragment.destination, fragment.size_bytes});
}

bool OfiTransport::post(const PostedFragment& fragment) noexcept {
  const network::Entered entered(lock_);
  OfiPeer* peer = known(fragment.rank);
  if (peer == nullptr || !peer->is_open() || fragment.rank == parties_.self) {
    tell({.kind = News::Kind::done, .token = fragment.token, .status = PH_ERR_PEER});
    return true;
  }
  if (!has_own_memory(fragment)) {
    tell({.kind = News::Kind::done, .token = fragment.token, .status = PH_ERR_ARGUMENT});
    return true;
  }
  if (peer->fragments == nullptr)
    peer->fragments = std::make_unique<Fragments>(peer->rank, parts_.window_slots, peer->words);
  if (peer->fragments->add(fragment) == nullptr) return false;
  await_confirmation(*peer);
  go_on(*peer);
  return true;
}

// All that can go goes; what there is to say about leases is said.
void OfiTransport::go_on(OfiPeer& peer) {
  if (peer.fragments == nullptr || !peer.is_open() || is_ending_rma_endpoint_) return;
  Fragments& fragments = *peer.fragments;
  bool is_full = false;
  const std::size_t first = fragments.first(), count = fragments.slots().size();
  for (std::size_t i = 0; i < count && !is_full; ++i) {
    Fragments::Slot& slot = fragments.slots()[(first + i) % count];
    if (slot.state != Fragments::Slot::State::waits) continue;
    const auto next = fragments.next(slot);
    switch (next.kind) {
      case Fragments::Next::Kind::wait: break;
      case Fragments::Next::Kind::go: is_full = !start(peer, slot, next); break;
      case Fragments::Next::Kind::over:
        answer_done(slot, next.status);
        fragments.dismiss(slot);
        break;
      case Fragments::Next::Kind::fault:
        return cut_off(peer,
                       {PH_ERR_PEER, 0,
                        "ofi: rank " + std::to_string(peer.rank) +
                            ": a fragment of memory could not be moved: " + peer.rma_endpoint_words,
                        peer.rank});
    }
  }
  if (!fragments.is_waiting()) peer.rma_endpoint_full.over();
  if (is_full && !std::exchange(peer.is_stalled, true)) stalled_.push_back(&peer);
  if (fragments.is_waiting()) {  // our rank may go and compute
    has_waiting_ = true;
    if (!is_restarting_) static_cast<void>(flusher_.note());
  }
  fragments.tidy();
  if (!peer.words.empty()) flush(peer);
}

void OfiTransport::answer_done(const Fragments::Slot& slot, ph_status status) {
  tell({.kind = News::Kind::done, .token = slot.fragment.token, .status = status});
}

void OfiTransport::fragment_over(const Operation& operation) {
  OfiPeer* peer = known(operation.rank);
  if (peer == nullptr || peer->fragments == nullptr) return;
  Fragments::Slot& slot = peer->fragments->slot(operation.index);
  if (slot.state != Fragments::Slot::State::under_way) return;
  if (slot.is_lost() && peer->state != OfiPeer::State::ended) return fragment_failed(operation);
  answer_done(slot, PH_OK);
  peer->keepalive.heard();
  peer->fragments->over(slot);
  --under_way_;
  if (peer->state == OfiPeer::State::ended) return say_gone_if_clear(*peer);
  peer->fragments->tidy();
  if (!peer->words.empty()) flush(*peer);
}

// The end of an RMA endpoint of its owner's explains it, and then its answer to our question does;
// or it is a fault.
void OfiTransport::fragment_failed(const Operation& operation) {
  OfiPeer* peer = known(operation.rank);
  if (peer == nullptr || peer->fragments == nullptr) return;
  Fragments::Slot& slot = peer->fragments->slot(operation.index);
  if (slot.state != Fragments::Slot::State::under_way) return;
  if (slot.was_told()) return fragment_over(operation);
  --under_way_;
  if (peer->state == OfiPeer::State::ended) {
    answer_done(slot, PH_ERR_PEER);
    peer->fragments->over(slot);
    return say_gone_if_clear(*peer);
  }
  if (is_ending_rma_endpoint_) return peer->fragments->recall(slot);  // it is we who have ended it
  peer->rma_endpoint_words = parts_.fabric->words();
  peer->fragments->failed(slot, slot.rma_endpoint);
  go_on(*peer);
}

// Its peer has ended: what has not begun never will.
void OfiTransport::end_fragments(OfiPeer& peer) {
  peer.words.clear();
  peer.tells_due = 0;
  peer.is_stalled = false;
  if (peer.fragments == nullptr) return;
  for (Fragments::Slot& slot : peer.fragments->slots()) {
    if (slot.state != Fragments::Slot::State::waits) continue;
    answer_done(slot, PH_ERR_PEER);
    peer.fragments->dismiss(slot);
  }
  peer.is_lingering = peer.has_fragments_under_way();
  if (peer.is_lingering && lingering_++ == 0) lingering_ns_ = time_.now_ns();
}

// After the last of its fragments.
void OfiTransport::say_gone_if_clear(OfiPeer& peer) {
  if (peer.has_fragments_under_way()) return;
  if (peer.is_lingering) --lingering_;
  peer.is_lingering = false;
  if (!std::exchange(peer.is_gone_held, false)) return;
  tell({.kind = News::Kind::gone, .peer = &peer});
}

// Who holds a lease of what was taken back gives it back when its fragments are over; who does not
// answer in time, or cannot, is shut out with everybody else.
void OfiTransport::quiesce() noexcept {
  const network::Entered entered(lock_);
  if (!exposures_.collect()) return;
  const auto holders = exposures_.stale_holders();
  if (may_give_back(holders))  // all of them: one that cannot costs the RMA endpoint anyway
    for (const auto& one : holders)
      say(*known(one.rank), {MessageKind::back, {.key = one.key, .rma_endpoint = 0}, 0});
  const std::int64_t until = time_.now_ns() + parts_.own->give_back_ns;
  for (unsigned spins = 0; may_give_back(exposures_.stale_holders()) && time_.now_ns() < until;
       ++spins) {
    look();
    take_arrived();
    static_cast<void>(parts_.receives->post());  // poll() does it again, and tells trouble
    flush_waiting();
    go_on_stalled();
    if (!exposures_.collect()) return;
    pause(spins);
  }
  end_their_rma_endpoint();
}

bool OfiTransport::may_give_back(const std::vector<Exposures::Holder>& holders) const noexcept {
  return !is_broken_ && std::all_of(holders.begin(), holders.end(), [this](const auto& one) {
    const OfiPeer* peer = known(one.rank);
    return peer != nullptr && peer->is_open() && !peer->is_mute() && peer->boot_gone_ns == 0;
  });
}

void OfiTransport::say(OfiPeer& peer, const Word& word) {
  peer.words.push(word);
  flush(peer);
}

// A refusal must not overtake what was published before the key was taken back. Which it is shows
// when it is to be said: so one goes behind what stands in the ring then, a ring full at most. And
// in a stream no answer is put off for longer than a ring full: it waits for no gap.
bool OfiTransport::may_say_word(OfiPeer& peer) const noexcept {
  if (peer.words.empty()) return false;
  const Word& word = peer.words.front();
  return word.kind != MessageKind::tell || peer.outlet.lines_composed() >= word.after_lines;
}

std::size_t OfiTransport::compose_word(OfiPeer& peer, std::span<std::byte> room, MessageHead head) {
  Word& word = peer.words.front();
  const KeyBody about = word.body;
  if (word.kind != MessageKind::tell) {
    head.kind = word.kind;
    peer.words.pop();
    if (head.kind != MessageKind::back) return put_message(room, head, about);
    return put_message(room, head, BackBody{about, heard_from(peer)});
  }
  TellBody answer = exposures_.answer(peer.rank, about.key);
  answer.told = heard_from(peer);
  // The ring is looked at after the key: what was published before it was revoked can be seen.
  if (answer.status == PH_ERR_KEY && !word.is_refusal && peer.outlet.has_run(*peer.link)) {
    word.is_refusal = true;
    word.after_lines = peer.outlet.lines_composed() + config_.ring_lines;
    return peer.outlet.compose(room, *peer.link, head);
  }
  head.kind = MessageKind::tell;
  peer.words.pop();
  --peer.tells_due;
  if (answer.status == PH_ERR_MEMORY || answer.status == PH_ERR_SYSTEM)
    PHOTON_LOG(log_, warn, "ofi: rank %u cannot be let into memory of ours: %s", peer.rank,
               exposures_.trouble().c_str());
  return put_message(room, head, answer);
}

// False: no rank of this library says such a thing.
bool OfiTransport::take_word(OfiPeer& peer, MessageKind kind, std::span<const std::byte> body) {
  if (!parts_.fabric->traits().has_rma_endpoints) return false;
  if (kind == MessageKind::tell) return take_tell(peer, body);
  if (kind == MessageKind::back) return take_back(peer, body);
  KeyBody about;
  if (!read_body(body, about)) return false;
  switch (kind) {
    case MessageKind::ask:
      if (peer.tells_due == kMostAsks) return false;
      ++peer.tells_due;
      say(peer, {MessageKind::tell, about, peer.outlet.lines_composed() + config_.ring_lines});
      return true;
    case MessageKind::given:
      if (about.key == 0) return take_end(peer, about.rma_endpoint);
      exposures_.given(peer.rank, about.key);
      return true;
    case MessageKind::seen:
      if (peer.fragments == nullptr || !peer.fragments->seen(about.key)) return false;
      go_on(peer);
      return true;
    case MessageKind::landed: return is_told(peer, about.key);
    default: return false;
  }
}

bool OfiTransport::take_back(OfiPeer& peer, std::span<const std::byte> body) {
  BackBody back;
  if (!read_body(body, back) || peer.fragments == nullptr || !peer.fragments->learn(back.told))
    return false;
  if (back.about.key == 0)
    peer.fragments->rma_endpoint_ended(back.about.rma_endpoint);
  else
    peer.fragments->called_back(back.about.key);
  go_on(peer);
  return true;
}

bool OfiTransport::take_tell(OfiPeer& peer, std::span<const std::byte> body) {
  TellBody answer;
  if (!read_body(body, answer) || peer.fragments == nullptr || !peer.fragments->told(answer))
    return false;
  if (answer.status == PH_OK && answer.rma_endpoint != peer.rma_endpoint) {
    const auto to = parts_.fabric->insert(
        std::span(answer.rma_endpoint_address).first(answer.rma_endpoint_bytes));
    if (!to) {
      cut_off(peer, {to.error().status, to.error().native_errno,
                     "ofi: rank " + std::to_string(peer.rank) + ": " + to.error().what, peer.rank});
      return true;
    }
    // There is a new one because the old one has ended; its word for that may still be on its way.
    if (peer.rma_endpoint != 0) peer.fragments->rma_endpoint_ended(peer.rma_endpoint);
    peer.rma_endpoint = answer.rma_endpoint;
    peer.rma_endpoint_full.over();
    peer.rma_endpoint_to = *to;
  }
  go_on(peer);
  return true;
}

}  // namespace photon::transport::ofi
