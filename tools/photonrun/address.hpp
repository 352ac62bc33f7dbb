// HOST:PORT of the command line, and sockets for it. Throws std::runtime_error in words.
// Owner: none (values and functions).
#pragma once

#include <sys/socket.h>

#include <stdexcept>
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

struct Target {
  sockaddr_storage address{};
  socklen_t bytes = 0;
};
// Of getaddrinfo(): its error, or all addresses, none twice.
struct Found {
  int error = 0;
  std::vector<Target> targets;
};
// May stand still for as long as name servers do: see look_up.hpp. `flags`: AI_...
Found resolve(const HostPort& place, int flags);
std::runtime_error unknown_host(const HostPort& place, int error);

struct Listeners {
  std::vector<Fd> sockets;            // one port; at least one
  std::vector<std::string> refusals;  // where another one is in the way: "10.0.0.1:7000: why"
};
// At all of them that are this host's. `place`: of messages; port 0: any that is free.
Listeners listen_at(const HostPort& place, const std::vector<Target>& targets);
// "10.0.0.1:7000"
std::string own_address(int socket);
std::string peer_address(int socket);
// Without the port.
std::string peer_host(int socket);
// Without the port: what ranks here are best reached at from the other side.
std::string own_host(int socket);

// Without the port.
std::string host_of(const Target& target);
bool is_loopback(const Target& target);
// Of this host, as seen from there; empty: there is no way.
std::string address_towards(const std::vector<Target>& there);

}  // namespace photonrun
