// Going to sleep and waking up: this rank by its peers, its peers by this rank.
// sync/sleep_gate.hpp has the protocol and why no wake-up is lost.
#include <unistd.h>

#include <algorithm>
#include <new>

#include "transport/poll_sleepers.hpp"
#include "transport/shm/shm_transport_impl.hpp"

namespace photon::transport::shm {

namespace {

// While the side channel holds back what we sent, or its descriptor wakes us for nothing.
constexpr std::int64_t kUnsentSleepUs = 1'000;
constexpr std::int64_t kDeafSleepUs = 10'000;
constexpr std::uint32_t kFruitlessWakes = 16;

// A full counter (EAGAIN) is a wake-up already; nothing else can be done about other failures.
void signal(int event_fd) noexcept {
  const std::uint64_t one = 1;
  if (::write(event_fd, &one, sizeof one) < 0) return;
}

void drain(int event_fd) noexcept {
  std::uint64_t ignored = 0;
  if (::read(event_fd, &ignored, sizeof ignored) < 0) return;  // drained by somebody else
}

}  // namespace

void ShmTransport::kick(Rank rank) noexcept {
  Peer* peer = known(rank);
  if (peer == nullptr || peer->state == Peer::State::ended) return;
  if (peer->state == Peer::State::offered) return kick_peer(rank);
  peer->doorbell->ring(++peer->rings);
  peer->lane_doorbell->set(std::uint64_t{boot_.rank()} << kDoorbellRankShift |
                           ++peer->alarms);  // differs from all before
  if (peer->gate->must_wake(peer->link.fenced)) signal(peer->wake.get());
}

void ShmTransport::wake_rank(Rank rank) noexcept {
  const Peer* peer = known(rank);
  if (peer == nullptr || peer->state != Peer::State::linked) return;
  if (peer->gate->must_wake(peer->link.fenced)) signal(peer->wake.get());
}

// The peer may have our ring, may have found it empty and may sleep, while its answer still waits
// in our side channel. Then the side channel, which wakes it, is the only way.
void ShmTransport::kick_peer(Rank rank) noexcept {
  boot_due_.set(1);
  const auto sent = boot_.send(rank, encode_nudge(), {});
  if (!sent)
    PHOTON_LOG(log_, debug, "rank %u could not be nudged: %s", rank, sent.error().what.c_str());
}

Gate& ShmTransport::own_gate() noexcept {
  return *std::launder(reinterpret_cast<Gate*>(own_.published.segment.data() +
                                               layout_.gate_at(lane_.slot.number())));
}

void ShmTransport::arm() noexcept {
  own_gate().arm(!own_.heavy_barrier);
  boot_due_.set(1);  // the look that follows takes what is there
  longest_sleep_us_.set(cut_off_.empty() && boot_.idle() ? -1 : kUnsentSleepUs);
}

void ShmTransport::disarm() noexcept { own_gate().disarm(); }

void ShmTransport::wake() noexcept { signal(lane_.wake.get()); }

void ShmTransport::sleep(std::int64_t timeout_us) noexcept {
  Transport* const self[] = {this};
  poll_sleepers(self, timeout_us);
}

SleepOn ShmTransport::sleep_on() noexcept {
  const bool broken = boot_broken_.get() != 0;
  const bool deaf = boot_wakes_.get() >= kFruitlessWakes;
  std::int64_t limit_us = longest_sleep_us_.get();
  if (deaf && !broken) {
    limit_us = limit_us < 0 ? kDeafSleepUs : std::min(limit_us, kDeafSleepUs);
    boot_wakes_.set(kFruitlessWakes / 2);
    boot_due_.set(1);
  }
  return {.fds = {lane_.wake.get(), broken || deaf ? -1 : boot_fd_, -1}, .limit_us = limit_us};
}

void ShmTransport::slept(unsigned ready) noexcept {
  if ((ready & 1) != 0) drain(lane_.wake.get());
  if ((ready & 2) == 0) return;
  boot_due_.set(1);
  boot_wakes_.set(boot_wakes_.get() + 1);  // receive() clears it
}

}  // namespace photon::transport::shm
