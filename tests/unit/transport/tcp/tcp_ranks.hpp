// Ranks of a job on the tcp transport, all driven by the test's thread over a bootstrap in memory,
// and strangers at their ports.
// Owner: the test.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <photon/memory.h>

#include "memory_boot.hpp"
#include "transport/tcp/tcp_transport_impl.hpp"
#include "watchdog.hpp"

namespace photon::transport::tcp::test {

using photon::test::MemoryJob;

inline base::Config tcp_config() {
  base::Config config;
  config.ring_lines = 64;
  config.bulk_bytes = 8 << 10;
  config.bulk_chunk = 2 << 10;
  config.max_regions = 64;
  config.log = base::LogLevel::error;
  return config;
}

class TcpNews final : public Sink {
 public:
  void on_link(Rank rank) override { links.insert(rank); }
  void on_activity(Rank rank) override { ++activity[rank]; }
  void on_gone(Rank rank, const base::Error& why) override { gone[rank] = why; }
  void on_done(std::uint64_t token, ph_status status) override { done[token] = status; }
  void on_fragment(Rank, std::uint32_t imm) override { names.insert(imm); }

  std::set<Rank> links;
  std::map<Rank, unsigned> activity;
  std::map<Rank, base::Error> gone;
  std::map<std::uint64_t, ph_status> done;
  std::set<std::uint32_t> names;
};

// A connection without its transport.
class TcpSockets : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    near_.reset(ends[0]);
    far_.reset(ends[1]);
  }

  base::UniqueFd near_, far_;
};

struct TcpSide {
  std::unique_ptr<boot::Boot> boot;
  std::unique_ptr<Transport> transport;
  TcpNews news;

  TcpTransport& tcp() { return dynamic_cast<TcpTransport&>(*transport); }
  Link& to(Rank rank) {
    auto link = transport->connect(rank);
    if (!link) throw std::runtime_error(link.error().what);
    return **link;
  }
};

class TcpRanks {
 public:
  explicit TcpRanks(std::uint32_t count, const base::Config& config = tcp_config(),
                    const TcpOptions& options = {})
      : TcpRanks(std::vector<base::Config>(count, config), options) {}
  explicit TcpRanks(const std::vector<base::Config>& configs, const TcpOptions& options = {})
      : options_(options),
        job_(static_cast<std::uint32_t>(configs.size())),
        sides_(configs.size()) {
    for (Rank rank = 0; rank < job_.size(); ++rank) open(rank, configs[rank]);
  }
  void open(Rank rank, const base::Config& config) {
    sides_[rank].boot = job_.boot(rank);
    auto opened = open_tcp(config, *sides_[rank].boot, options_);
    if (!opened) throw std::runtime_error(opened.error().what);
    sides_[rank].transport = std::move(*opened);
  }

  TcpSide& operator[](Rank rank) { return sides_[rank]; }
  MemoryJob& job() { return job_; }
  void turn() {
    for (TcpSide& side : sides_)
      if (side.transport != nullptr) side.transport->poll(side.news);
  }
  // The deadline is the watchdog's.
  bool eventually(const std::function<bool()>& done) {
    while (!done()) turn();
    return true;
  }
  bool join(Rank a, Rank b) {
    sides_[a].to(b);
    return eventually(
        [&] { return sides_[a].news.links.count(b) + sides_[b].news.links.count(a) == 2; });
  }
  void settle() {
    for (int i = 0; i < 500; ++i) turn();
  }

 private:
  photon::test::Watchdog watchdog_{std::chrono::seconds(60)};
  const TcpOptions options_;
  MemoryJob job_;
  std::vector<TcpSide> sides_;
};

// Who connects to a rank's port without being asked.
class Stranger {
 public:
  explicit Stranger(const Address& address) {
    const SocketAddress at = socket_address(address);
    socket_.reset(::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket_.get(), at.get(), at.size_bytes) != 0)
      throw std::runtime_error(std::strerror(errno));
  }
  int socket() const { return socket_.get(); }
  template <class Message>
  void say(const Message& message) {
    EXPECT_EQ(::send(socket_.get(), &message, sizeof message, MSG_NOSIGNAL),
              static_cast<ssize_t>(sizeof message));
  }
  // The other end has closed; what it said before is read off.
  bool is_closed() {
    char ignored[512];
    for (;;) {
      const ssize_t got = ::recv(socket_.get(), ignored, sizeof ignored, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno == ECONNRESET)) return true;
      if (got < 0) return false;
    }
  }
  void close() { socket_.reset(); }

 private:
  base::UniqueFd socket_;
};

// Who knows the secret, has proved to be `from`, and says what it likes then.
class FalseRank {
 public:
  FalseRank(TcpRanks& ranks, Rank from, Rank to)
      : stranger_(ranks[to].tcp().address()),
        handshake_(*Handshake::dial(ranks[from].boot->secret(),
                                    {from, ranks.job().size(), 0, kProtocol}, to)) {
    Handshake::Step step = Handshake::Step::waits;
    ranks.eventually([&] {
      step = handshake_.advance(stranger_.socket());
      return step != Handshake::Step::waits;
    });
    is_open_ = step == Handshake::Step::open;
  }
  bool is_open() const { return is_open_; }
  Stranger& socket() { return stranger_; }
  void say(const FrameHead& head) { stranger_.say(head); }

 private:
  Stranger stranger_;
  Handshake handshake_;
  bool is_open_ = false;
};

// A fragment of rank 0's, for memory that rank 1 shows by the key 5 from here on.
inline PostedFragment fragment_to_rank_1(TcpRanks& ranks, std::span<const std::byte> source,
                                         std::span<std::byte> to) {
  ranks[1].transport->regions()[5].publish(
      5, {reinterpret_cast<std::uintptr_t>(to.data()), to.size(), PH_ACCESS_ALL});
  PostedFragment fragment;
  fragment.rank = 1;
  fragment.address = reinterpret_cast<std::uintptr_t>(to.data());
  fragment.key = 5;
  fragment.size_bytes = source.size();
  fragment.source = source.data();
  fragment.token = 1;
  return fragment;
}

}  // namespace photon::transport::tcp::test
