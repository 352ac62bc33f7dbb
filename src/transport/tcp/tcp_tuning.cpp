#include "transport/tcp/tcp_tuning.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <string_view>

namespace photon::transport::tcp {

bool is_within_host(const boot::Address& own, const boot::Address& other) noexcept {
  if (own.family == 0 || other.family == 0) return false;
  return own.is_same_host(other) || (own.is_loopback() && other.is_loopback());
}

void tune_within_host(int socket) noexcept {
  constexpr std::string_view kReno = "reno";
  if (!is_within_host(boot::own_end(socket), boot::other_end(socket))) return;
  static_cast<void>(::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, kReno.data(),
                                 static_cast<socklen_t>(kReno.size())));
}

}  // namespace photon::transport::tcp
