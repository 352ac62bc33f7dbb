// HOST:PORT of the command line, and sockets for it. Throws std::runtime_error in words.
// Owner: none (values and functions).
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "fd.hpp"

namespace photonrun {

struct HostPort {
  std::string host;  // a name, or an address without brackets; empty: every address of this host
  std::string port;

  std::string text() const;
};

// "10.0.0.1:7000", "[::1]:7000", "node1:7000", ":7000". Empty: none of these.
std::string objection(std::string_view text);
HostPort parse_host_port(std::string_view text);

// Port 0: any that is free.
Fd listen_at(const HostPort& place);
// "10.0.0.1:7000"
std::string own_address(int socket);
std::string peer_address(int socket);
// Without the port.
std::string peer_host(int socket);

// Of this host, as seen from that one; empty: the name is unknown here.
std::string address_towards(const std::string& host);

struct Target {
  sockaddr_storage address{};
  socklen_t bytes = 0;
};
// All addresses of it. Empty: the name cannot be looked up now, but perhaps later.
std::vector<Target> look_up(const HostPort& place);

}  // namespace photonrun
