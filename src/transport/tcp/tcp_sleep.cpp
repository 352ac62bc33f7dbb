// Going to sleep and waking up. All that can end a sleep is a descriptor that stays readable until
// poll() has looked: so nothing can be missed between the last look and the sleep.
#include "transport/tcp/tcp_transport_impl.hpp"

namespace photon::transport::tcp {

namespace {

// While attend() has deadlines to keep, or the side channel holds back what we sent.
constexpr std::int64_t kUnsettledSleepUs = 2'000;
constexpr std::int64_t kUnsentInfoSleepUs = 1'000;

}  // namespace

// Nothing is held back while nobody looks, and room in a full socket is news.
void TcpTransport::arm() noexcept {
  const network::Entered entered(lock_);
  side_channel_.look_soon();
  while (!held_.empty()) flush(*held_.back());
  wake_.arm();
  if (!news_.is_empty() || !written_.empty()) wake_.ring();
  bool has_deadlines = !pending_.empty();
  for (const Rank rank : hot_)  // who cannot be watched is looked at by the clock
    has_deadlines = !watch_again(*known(rank)) || has_deadlines;
  for (const auto& peer : peers_) {
    if (peer == nullptr) continue;
    has_deadlines = has_deadlines || peer->boot_gone_ns != 0 ||
                    peer->state == TcpPeer::State::dialing ||
                    (peer->state == TcpPeer::State::handshake && peer->tries.is_hurried());
  }
  // That the kernel has got rid of its queue is no event of a socket's, nor that it has not.
  longest_sleep_us_.set(has_deadlines ? kUnsettledSleepUs
                        : !kept_infos_.empty() || !side_channel_.is_idle() || is_undrained_
                            ? kUnsentInfoSleepUs
                        : !unconfirmed_.empty() ? boot::kKeepaliveCheckNs / 1'000
                                                : -1);
}

SleepOn TcpTransport::sleep_on() noexcept {
  const auto side_channel = side_channel_.sleep_on(longest_sleep_us_.get());
  return {.fds = {wake_.fd(), parts_.epoll.get(), side_channel.fd},
          .limit_us = side_channel.limit_us};
}

}  // namespace photon::transport::tcp
