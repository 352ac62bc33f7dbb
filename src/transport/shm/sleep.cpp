// Going to sleep and waking up: this rank by its peers, its peers by this rank.
// sync/sleep_gate.hpp has the protocol and why no wake-up is lost.
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <new>

#include "transport/shm/transport_impl.hpp"

namespace photon::transport::shm {

namespace {

constexpr std::int64_t kForeverUs = std::numeric_limits<std::int64_t>::max();
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
  if (peer->state == Peer::State::offered) return nudge(rank);
  peer->bell->ring(++peer->rings);
  peer->alarm->set(std::uint64_t{boot_.rank()} << 32 | ++peer->alarms);  // differs from all before
  if (peer->gate->must_wake(peer->link.fenced)) signal(peer->wake.get());
}

// The peer may have our ring, may have found it empty and may sleep, while its answer still waits
// in our side channel. Then the side channel, which wakes it, is the only way.
void ShmTransport::nudge(Rank rank) noexcept {
  boot_due_.set(1);
  const auto sent = boot_.send(rank, encode_nudge(), {});
  if (!sent)
    PHOTON_LOG(log_, debug, "rank %u could not be nudged: %s", rank, sent.error().what.c_str());
}

Gate& ShmTransport::own_gate() noexcept {
  return *std::launder(reinterpret_cast<Gate*>(own_.published.segment.data() +
                                               layout_.gate_at(lane_.slot.number())));
}

void ShmTransport::announce() noexcept {
  own_gate().announce(!own_.heavy_barrier);
  boot_due_.set(1);  // the look that follows takes what is there
  longest_sleep_us_ = boot_.idle() ? kForeverUs : kUnsentSleepUs;
}

void ShmTransport::retract() noexcept { own_gate().retract(); }

void ShmTransport::wake() noexcept { signal(lane_.wake.get()); }

void ShmTransport::sleep(std::int64_t timeout_us) noexcept {
  if (timeout_us < 0) timeout_us = kForeverUs;
  timeout_us = std::min(timeout_us, longest_sleep_us_);
  const bool broken = boot_broken_.get() != 0;
  const std::uint32_t wakes = boot_wakes_.get();
  const bool deaf = wakes >= kFruitlessWakes;
  if (deaf && !broken) {
    timeout_us = std::min(timeout_us, kDeafSleepUs);
    boot_wakes_.set(kFruitlessWakes / 2);
    boot_due_.set(1);
  }
  pollfd watched[2] = {{lane_.wake.get(), POLLIN, 0}, {broken || deaf ? -1 : boot_fd_, POLLIN, 0}};
  const timespec limit = {static_cast<time_t>(timeout_us / 1'000'000),
                          static_cast<long>(timeout_us % 1'000'000 * 1'000)};
  if (::ppoll(watched, 2, timeout_us == kForeverUs ? nullptr : &limit, nullptr) <= 0) return;
  if (watched[0].revents != 0) drain(lane_.wake.get());
  if (watched[1].revents == 0) return;
  boot_due_.set(1);
  boot_wakes_.set(wakes + 1);  // receive() clears it
}

}  // namespace photon::transport::shm
