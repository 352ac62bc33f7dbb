// News: doorbells at every poll, one ring in rotation as a safety net, the side channel by the
// clock.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/resource_limits.hpp"
#include "transport/shm/shm_transport_impl.hpp"

namespace photon::transport::shm {

namespace {

constexpr std::uint64_t kPollsPerRotation = 16;
constexpr int kMessagesPerPoll = 64;
constexpr unsigned kMostClockSkips = 16;
// A look at the side channel is a system call: rare, but for a short while after our own offer.
constexpr std::int64_t kReceiveNs = 50'000;
constexpr std::int64_t kReceiveSoonNs = 5'000;
constexpr std::int64_t kSoonNs = 20'000'000;

}  // namespace

void ShmTransport::poll(Sink& sink) noexcept {
  report_links(sink);
  compare_doorbells(sink);
  if (++polls_count_ % kPollsPerRotation == 0) look_at_next(sink);
  if (receive_due()) receive(sink);
}

// Links that were completed outside poll().
void ShmTransport::report_links(Sink& sink) {
  while (!unreported_.empty()) {
    const Rank rank = unreported_.back();
    unreported_.pop_back();
    sink.on_link(rank);
  }
}

const LaneDoorbell* ShmTransport::lane_doorbell() const noexcept {
  return std::launder(reinterpret_cast<const LaneDoorbell*>(
      own_.arena.segment.data() + layout_.lane_doorbell_at(lane_.slot.number())));
}

ShmTransport::DoorbellWord* ShmTransport::doorbell_words() noexcept {
  return std::launder(reinterpret_cast<DoorbellWord*>(own_.arena.segment.data() +
                                                      layout_.doorbells_at(lane_.slot.number())));
}

// Doorbells are hints that peers write: a false one costs a look at a ring, nothing else.
void ShmTransport::compare_doorbells(Sink& sink) {
  const DoorbellWord* words = doorbell_words();
  for (std::size_t i = 0; i < heard_.size(); ++i) {
    const std::uint64_t now = words[i].get();
    std::uint64_t changed = now ^ heard_[i];
    heard_[i] = now;
    while (changed != 0) {
      const auto doorbell = static_cast<unsigned>(std::countr_zero(changed)) / 8;
      changed &= ~(std::uint64_t{0xff} << (8 * doorbell));
      const auto rank = static_cast<Rank>(i * kDoorbellsPerWord + doorbell);
      if (rank >= peers_.size()) continue;
      const Peer* peer = known(rank);
      if (peer != nullptr && peer->state == Peer::State::linked)
        sink.on_activity(rank);
      else
        boot_due_.set(1);  // its offer must be waiting there
    }
  }
}

// A doorbell can be missed: 256 rings between two looks, or `cold` seen too late.
void ShmTransport::look_at_next(Sink& sink) {
  if (linked_.empty()) return;
  if (++next_linked_ >= linked_.size()) next_linked_ = 0;
  sink.on_activity(linked_[next_linked_]);
}

// By the clock, not by the count of polls: a count that suits who spins is hours to who polls
// rarely. The clock in turn costs more than a poll: who polls often reads it at every sixteenth
// only, and asks for polls less often: a record that comes meanwhile waits for a poll to end. So
// the first polls of who spun and now polls rarely are still few: up to kMostClockSkips until he is
// known.
bool ShmTransport::receive_due() noexcept {
  if (boot_broken_.get() != 0) return false;
  const bool asked = boot_due_.get() != 0;
  if (!asked && ++clock_skipped_ < clock_skips_) return false;
  const std::int64_t now = base::now_ns();
  const std::int64_t since_ns = now - clock_ns_;
  clock_skips_ = since_ns < kReceiveSoonNs / 4 ? std::min(2 * clock_skips_, kMostClockSkips) : 1;
  if (since_ns < kReceiveSoonNs / 2)
    interval_ = std::min(2 * interval_, kMostInterval);
  else if (since_ns > 2 * kReceiveSoonNs)
    interval_ = kLeastInterval;
  clock_skipped_ = 0;
  clock_ns_ = now;
  const bool soon = now - offered_ns_ < kSoonNs;
  const bool due = asked || now - received_ns_ >= (soon ? kReceiveSoonNs : kReceiveNs);
  if (due) received_ns_ = now;
  return due;
}

void ShmTransport::receive(Sink& sink) {
  boot_due_.set(0);
  tell_who_is_cut_off();
  for (int i = 0; i < kMessagesPerPoll; ++i) {
    auto received = boot_.receive();
    if (!received) return boot_failed(received.error(), sink);
    if (!*received) return;
    boot_wakes_.set(0);
    handle(**received, sink);
  }
  boot_due_.set(1);
}

void ShmTransport::handle(boot::Message& message, Sink& sink) {
  const Rank rank = message.from;
  if (rank >= peers_.size() || rank == boot_.rank()) {
    PHOTON_LOG(log_, warn, "ignored a message of rank %u, which is none of our peers", rank);
    return;
  }
  if (message.kind == boot::Message::Kind::gone) {
    sink.on_gone(rank, {.status = PH_ERR_PEER,
                        .what = "rank " + std::to_string(rank) + " " + message.why,
                        .rank = rank});
    return;
  }
  if (const auto said = decode_cut_off(message.bytes)) {
    sink.on_gone(rank, {.status = PH_ERR_PEER,
                        .native_errno = ECONNABORTED,
                        .what = "rank " + std::to_string(rank) +
                                " has cut this rank off: " + said->why.data(),
                        .rank = rank});
    return;
  }
  if (is_nudge(message.bytes)) {
    const Peer* peer = known(rank);
    if (peer != nullptr && peer->state == Peer::State::linked) sink.on_activity(rank);
    return;
  }
  handle_offer(message, sink);
}

void ShmTransport::cut_off(Rank rank, const std::string& why) noexcept {
  CutOff said;
  std::copy_n(why.begin(), std::min(why.size(), said.why.size() - 1), said.why.begin());
  tell_cut_off(rank, said);
}

// Whoever has much to read, so that the side channel takes no more for it, is told later.
void ShmTransport::tell_cut_off(Rank rank, const CutOff& said) noexcept {
  if (boot_broken_.get() != 0) return;
  try {
    const auto sent = boot_.send(rank, std::as_bytes(std::span(&said, 1)), {});
    if (sent) return;
    if (sent.error().status == PH_AGAIN) {
      cut_off_.emplace_back(rank, said);
      return;
    }
    PHOTON_LOG(log_, warn, "rank %u could not be told that it is cut off: %s", rank,
               sent.error().what.c_str());
  } catch (const std::bad_alloc&) {
    PHOTON_LOG(log_, warn, "rank %u could not be told that it is cut off: out of memory", rank);
  }
}

void ShmTransport::tell_who_is_cut_off() {
  for (const auto& [rank, said] : std::exchange(cut_off_, {})) tell_cut_off(rank, said);
}

void ShmTransport::handle_offer(boot::Message& message, Sink& sink) {
  const Rank rank = message.from;
  const Peer* before = known(rank);
  if (before != nullptr && before->state != Peer::State::offered) {
    PHOTON_LOG(log_, warn, "ignored another offer of rank %u", rank);
    return;
  }
  // Answered even when it cannot be accepted: the peer finds out from our offer, as we do from its.
  const bool answered = before == nullptr;
  auto made = answered ? make_half(rank) : base::Result<bool>(true);
  if (!made) {
    sink.on_gone(rank, made.error());
    return;
  }
  Peer& peer = *known(rank);
  auto linked = accept(peer, message);
  if (!linked) {
    base::Error& why = linked.error();
    why.rank = rank;
    why.what = "rank " + std::to_string(rank) + ": " + why.what;
    end(peer, why);
    sink.on_gone(rank, peer.why_ended);
    return;
  }
  linked_.push_back(rank);
  sink.on_link(rank);
  // What we posted before we knew its doorbell.
  if (!answered) kick(rank);
}

base::Result<> ShmTransport::accept(Peer& peer, boot::Message& message) {
  auto offer = decode(message.bytes);
  if (!offer) return std::move(offer.error());
  if (message.fds.size() != kOfferFds)  // fewer, if we may have no more
    return base::Error{
        .status = PH_ERR_PROTOCOL,
        .what = "malformed shared-memory offer: " + std::to_string(message.fds.size()) +
                " descriptors, expected " + std::to_string(std::size_t{kOfferFds}) +
                "; unless it was this process that had no room for them: it may have " +
                std::to_string(base::descriptors_limit()) + " (RLIMIT_NOFILE, ulimit -n)"};
  return complete(peer, *offer, message);
}

// The side channel is lost: who has not answered never will. Links that stand are not affected.
void ShmTransport::boot_failed(const base::Error& why, Sink& sink) {
  boot_broken_.set(1);
  cut_off_.clear();
  PHOTON_LOG(log_, warn, "no further peers can be met: %s", why.what.c_str());
  for (Rank rank = 0; rank < peers_.size(); ++rank) {
    Peer* peer = known(rank);
    if (peer == nullptr || peer->state != Peer::State::offered) continue;
    base::Error error = why;
    error.rank = rank;
    end(*peer, error);
    sink.on_gone(rank, error);
  }
}

}  // namespace photon::transport::shm
