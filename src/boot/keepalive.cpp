// Keep-alive probes ask only while nothing is under way; and what the kernel would do by itself is
// too late (its retries) or too much (TCP_USER_TIMEOUT, which takes a stopped peer for a dead one).
#include "boot/keepalive.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

namespace photon::boot {

void tune_connection(int socket, std::uint64_t silence_s) noexcept {
  constexpr int kProbes = 4;
  const auto set = [socket](int level, int name, int value) {
    static_cast<void>(::setsockopt(socket, level, name, &value, sizeof value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  const int interval_s = std::max(1, static_cast<int>(silence_s) / (kProbes + 2));
  set(IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, static_cast<int>(silence_s) - kProbes * interval_s));
  set(IPPROTO_TCP, TCP_KEEPINTVL, interval_s);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

bool is_all_confirmed(int socket) noexcept {
  int left_bytes = 0;
  return ::ioctl(socket, SIOCOUTQ, &left_bytes) != 0 || left_bytes == 0;
}

std::int64_t owed_ns(int socket, std::int64_t since_ns, std::int64_t now_ns) noexcept {
  // A probe of a closed window may be a moment old; two without an answer are not.
  constexpr unsigned kProbesUnanswered = 2;
  constexpr std::int64_t kMillisecond = 1'000'000;
  tcp_info info{};
  socklen_t size_bytes = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size_bytes) != 0) return 0;
  if (info.tcpi_retransmits == 0 && info.tcpi_probes < kProbesUnanswered) return 0;
  const std::int64_t heard_ns = now_ns - info.tcpi_last_ack_recv * kMillisecond;
  return std::max<std::int64_t>(1, now_ns - std::max(since_ns == 0 ? now_ns : since_ns, heard_ns));
}

}  // namespace photon::boot
