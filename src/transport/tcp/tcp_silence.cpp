// Whether the other kernel still answers, where something of ours is under way to it. Keep-alive
// probes ask only while nothing is; and what the kernel would do by itself is too late (its
// retries) or too much (TCP_USER_TIMEOUT, which takes a stopped peer for a dead one).
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "transport/tcp/transport_impl.hpp"

namespace photon::transport::tcp {

namespace {

// A probe of a closed window may be a moment old; two without an answer are not.
constexpr unsigned kProbesUnanswered = 2;

bool is_all_confirmed(int socket) noexcept {
  int left_bytes = 0;
  return ::ioctl(socket, SIOCOUTQ, &left_bytes) != 0 || left_bytes == 0;
}

// For how long the other kernel has owed an answer: since the first look at which it did, and
// nothing has come after. 0: it owes none.
std::int64_t owed_ns(int socket, std::int64_t since_ns, std::int64_t now_ns) noexcept {
  tcp_info info{};
  socklen_t size_bytes = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size_bytes) != 0) return 0;
  if (info.tcpi_retransmits == 0 && info.tcpi_probes < kProbesUnanswered) return 0;
  constexpr std::int64_t kMillisecond = 1'000'000;
  const std::int64_t heard_ns = now_ns - info.tcpi_last_ack_recv * kMillisecond;
  return std::max<std::int64_t>(1, now_ns - std::max(since_ns == 0 ? now_ns : since_ns, heard_ns));
}

}  // namespace

// After every send: cheap, and it says nothing yet. Who sleeps has to look in time from now on.
void TcpTransport::await_confirmation(TcpPeer& peer) {
  if (peer.is_unconfirmed) return;
  peer.is_unconfirmed = true;
  unconfirmed_.push_back(&peer);
  if (is_announced_) wake();
}

void TcpTransport::look_for_silence(std::int64_t now_ns) {
  confirmed_ns_ = now_ns;
  const std::int64_t limit_ns = static_cast<std::int64_t>(config_.tcp_silence_s) * 1'000'000'000;
  for (std::size_t i = 0; i < unconfirmed_.size();) {
    TcpPeer& peer = *unconfirmed_[i];
    const int socket = peer.socket.get();
    if (!peer.is_open() || is_all_confirmed(socket)) {
      peer.is_unconfirmed = false;
      peer.owes_since_ns = 0;
      unconfirmed_[i] = unconfirmed_.back();
      unconfirmed_.pop_back();
      continue;
    }
    ++i;
    const std::int64_t owed = owed_ns(socket, peer.owes_since_ns, now_ns);
    peer.owes_since_ns = owed == 0 ? 0 : now_ns - owed;
    if (owed >= limit_ns)
      end(peer, {PH_ERR_PEER, ETIMEDOUT,
                 "tcp: rank " + std::to_string(peer.rank) + ": its host has not answered for " +
                     std::to_string(config_.tcp_silence_s) +
                     " s, though asked again and again (setting tcp_silence_s)",
                 peer.rank});
  }
}

}  // namespace photon::transport::tcp
