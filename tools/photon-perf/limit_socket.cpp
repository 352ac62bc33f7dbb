#include "limit_socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "checksum.hpp"
#include "clock.hpp"
#include "contents.hpp"
#include "failure.hpp"
#include "means.hpp"
#include "ping_pong.hpp"

namespace photon::perf {
namespace {

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {
    if (fd < 0) throw Failure(std::string("the bare socket: ") + std::strerror(errno));
  }
  ~Socket() { ::close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

void require(int result) {
  if (result < 0) throw Failure(std::string("the bare socket: ") + std::strerror(errno));
}

// Index 0 listens on the loopback, index 1 connects.
std::shared_ptr<Socket> connect_pair(Team& team) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  Socket first(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  if (team.index() == 0) {
    require(::bind(first.get(), at, bytes));
    require(::listen(first.get(), 1));
    require(::getsockname(first.get(), at, &bytes));
  }
  team.exchange(address.sin_port);
  address.sin_port = team.card_of<in_port_t>(0);
  if (team.index() != 0 && ::connect(first.get(), at, sizeof address) < 0) {
    throw Failure(std::string("the bare socket on the loopback: ") + std::strerror(errno) +
                  "; photon-perf wants ranks 0 and 1 on one host and in one network namespace");
  }
  const int made = team.index() == 0 ? ::accept(first.get(), nullptr, nullptr) : ::dup(first.get());
  auto connection = std::make_shared<Socket>(made);
  const int on = 1;
  require(::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  team.barrier();
  return connection;
}

void check(ssize_t moved) {
  if (moved == 0) throw Failure("the bare socket was closed by the peer");
  if (moved < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
    throw Failure(std::string("the bare socket: ") + std::strerror(errno));
}

void send_all(const Socket& socket, const std::byte* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t sent =
        ::send(socket.get(), from + done, bytes - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    check(sent);
    if (sent > 0) done += static_cast<std::size_t>(sent);
  }
}

void receive_all(const Socket& socket, std::byte* to, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t got = ::recv(socket.get(), to + done, bytes - done, MSG_DONTWAIT);
    check(got);
    if (got > 0) done += static_cast<std::size_t>(got);
  }
}

Outcome ping_pong(Team& team, const Socket& socket, const Buffers& buffers,
                  std::uint64_t round_trips) {
  std::byte word{};
  const bool is_empty = buffers.size_bytes == 0;
  const std::byte* const source = is_empty ? &word : buffers.source;
  std::byte* const landing = is_empty ? &word : buffers.landing[0];
  const std::size_t bytes = is_empty ? 1 : buffers.size_bytes;
  Contents contents(buffers, team.index());
  begin(team);
  auto outcome =
      half_trips(team, contents, round_trips,
                 PingPong{[&](std::uint64_t number) { contents.write(buffers.source, number); },
                          [&](std::uint64_t) { send_all(socket, source, bytes); },
                          [&](std::uint64_t number) {
                            receive_all(socket, landing, bytes);
                            contents.read(landing, number);
                          }});
  team.barrier();
  contents.expect_all(batches_for(round_trips).total());
  return outcome;
}

// `send` and `receive` move `count` messages; index 0 ends when index 1 has said that it has all.
template <class Send, class Receive>
Outcome stream(Team& team, const Socket& socket, std::uint64_t count, Send send, Receive receive) {
  std::byte last{};
  team.barrier();
  Outcome outcome;
  const auto start_ns = now_ns();
  if (team.index() == 0) {
    send();
    receive_all(socket, &last, 1);
    outcome.per_second =
        static_cast<double>(count) * 1e9 / static_cast<double>(now_ns() - start_ns);
  } else {
    receive();
    send_all(socket, &last, 1);
  }
  team.barrier();
  return outcome;
}

Outcome words(Team& team, const Socket& socket, std::uint64_t count) {
  constexpr std::size_t kNumber = sizeof count;
  const auto send = [&] {
    for (std::uint64_t i = 0; i < count; ++i) {
      std::byte word[sizeof i];
      std::memcpy(word, &i, sizeof i);
      send_all(socket, word, sizeof word);
    }
  };
  const auto receive = [&] {
    constexpr std::size_t kAtOnce = 64 << 10;
    const auto buffer = std::make_unique<std::byte[]>(kAtOnce);
    std::uint64_t sum = 0;
    std::size_t held = 0;  // bytes of a word that has not come whole
    for (std::uint64_t left = count * kNumber; left > 0;) {
      const auto most = std::min<std::uint64_t>(kAtOnce - held, left);
      const ssize_t got = ::recv(socket.get(), buffer.get() + held, most, MSG_DONTWAIT);
      check(got);
      if (got <= 0) continue;
      left -= static_cast<std::uint64_t>(got);
      const auto bytes = held + static_cast<std::size_t>(got);
      held = bytes % kNumber;
      sum += checksum_of(buffer.get(), bytes - held);
      std::memmove(buffer.get(), buffer.get() + bytes - held, held);
    }
    if (sum != count * (count - 1) / 2) throw Failure("the bare socket changed a word");
  };
  return stream(team, socket, count, send, receive);
}

Outcome blocks(Team& team, const Socket& socket, const Buffers& buffers, std::uint64_t count) {
  Contents contents(buffers, team.index());
  const auto send = [&] {
    for (std::uint64_t number = 1; number <= count; ++number) {
      auto* const source = buffers.source_at(number % kWindow);
      contents.write(source, number);
      send_all(socket, source, buffers.size_bytes);
    }
  };
  const auto receive = [&] {
    for (std::uint64_t number = 1; number <= count; ++number) {
      auto* const landing = buffers.landing[number % kWindow];
      receive_all(socket, landing, buffers.size_bytes);
      contents.read(landing, number);
    }
    contents.expect_all(count);
  };
  return stream(team, socket, count, send, receive);
}

}  // namespace

std::vector<Entry> socket_latency_limits(Team& team, const Buffers& buffers) {
  return {{"raw socket", [&team, &buffers, line = connect_pair(team)](std::uint64_t count) {
             return ping_pong(team, *line, buffers, count);
           }}};
}

std::vector<Entry> socket_rate_limits(Team& team) {
  return {{"raw socket, a send each", [&team, line = connect_pair(team)](std::uint64_t count) {
             return words(team, *line, count);
           }}};
}

std::vector<Entry> socket_bandwidth_limits(Team& team, const Buffers& buffers) {
  return {{"raw socket stream", [&team, &buffers, line = connect_pair(team)](std::uint64_t count) {
             return blocks(team, *line, buffers, count);
           }}};
}

}  // namespace photon::perf
