// TcpSideChannels of several ranks over the loopback, in the hands of one thread.
//   TcpSideChannelRanks ranks(2);
//   ranks.send(0, 1, "hello");
//   ranks.eventually([&] { return ranks.got(1) == ...; });
// Owner: the test.
#pragma once

#include <gtest/gtest.h>

#include <poll.h>

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "boot/tcp_side_channel.hpp"
#include "given_time.hpp"

namespace photon::boot::test {

// A connection of somebody's, not necessarily a rank's.
class Caller {
 public:
  explicit Caller(const Address& address) {
    const SocketAddress at = socket_address(address);
    socket_.reset(::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket_.get(), at.get(), at.size_bytes), 0);
  }
  int socket() const { return socket_.get(); }
  void say(std::span<const std::byte> bytes) {
    EXPECT_EQ(::send(socket(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  bool is_closed() const {
    char ignored[256];
    const ssize_t got = ::recv(socket(), ignored, sizeof ignored, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }
  void close() { socket_.reset(); }

 private:
  base::UniqueFd socket_;
};

class TcpSideChannelRanks {
 public:
  struct Options {
    std::map<Rank, Address> places = {};  // where others find a rank, if not where it listens
    std::vector<Address> before = {};     // what else they try first
    std::int64_t pending_ns = TcpSideChannel::Place{}.pending_ns;
    std::uint64_t silence_s = base::Config{}.tcp_silence_s;
    base::LogLevel log = base::LogLevel::error;
    // By which eventually() moves their clock in each round, for tests that wait for time-outs. 0:
    // it is the system's.
    std::int64_t round_ns = 0;
  };
  explicit TcpSideChannelRanks(std::uint32_t size) : TcpSideChannelRanks(size, Options{}) {}
  TcpSideChannelRanks(std::uint32_t size, const Options& options)
      : secret_{std::byte{42}}, round_ns_(options.round_ns) {
    base::Config config;
    config.tcp_interface = base::word("127.0.0.1");
    config.log = options.log;
    config.tcp_silence_s = options.silence_s;
    const auto source = round_ns_ == 0 ? base::TimeSource() : time_.source();
    std::vector<Addresses> addresses;
    for (Rank rank = 0; rank < size; ++rank) {
      sides_.push_back(std::make_unique<Side>());
      Side& side = *sides_.back();
      auto opened = TcpSideChannel::open(config, {rank, size, options.pending_ns, source},
                                         side.watch, side.inbox);
      EXPECT_TRUE(opened) << opened.error().what;
      side.side_channel = std::move(*opened);
      const auto place = options.places.find(rank);
      Addresses& all = addresses.emplace_back();
      for (const Address& one : options.before) all.add(one);
      all.add(place == options.places.end() ? side.side_channel->address() : place->second);
    }
    for (const auto& side : sides_)
      if (auto begun = side->side_channel->begin(secret_, addresses); !begun)
        ADD_FAILURE() << begun.error().what;
  }

  TcpSideChannel& operator[](Rank rank) { return *sides_[rank]->side_channel; }
  int fd(Rank rank) const { return sides_[rank]->watch.fd(); }
  const Secret& secret() const { return secret_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(sides_.size()); }
  void drop(Rank rank) { sides_[rank]->side_channel.reset(); }

  base::Result<bool> send(Rank from, Rank to, std::string_view text) {
    return (*this)[from].send(to, std::as_bytes(std::span(text)));
  }
  // What came to a rank: "1:hello", or "1 is gone: why".
  const std::vector<std::string>& got(Rank rank) const { return sides_[rank]->got; }
  photon::test::GivenTime& time() { return time_; }

  void turn(Rank rank) {
    Side& side = *sides_[rank];
    if (side.side_channel)
      for (const Ready& ready : side.watch.ready()) side.side_channel->handle(ready);
    while (auto message = side.inbox.pop()) {
      const std::string from = std::to_string(message->from);
      if (message->kind == Message::Kind::gone)
        side.got.push_back(from + " is gone: " + message->why);
      else
        side.got.push_back(from + ":" +
                           std::string(reinterpret_cast<const char*>(message->bytes.data()),
                                       message->bytes.size()));
    }
  }
  bool eventually(const std::function<bool()>& holds, int limit_s = 20) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limit_s);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      for (Rank rank = 0; rank < size(); ++rank) turn(rank);
      time_.move_ns(round_ns_);
    }
    return true;
  }
  bool eventually_got(Rank rank, const std::vector<std::string>& all) {
    const bool came = eventually([&] { return got(rank).size() >= all.size(); });
    EXPECT_EQ(got(rank), all);
    return came;
  }
  // They have exchanged a word both ways.
  void join(Rank one, Rank other) {
    EXPECT_TRUE(*send(one, other, "hello"));
    EXPECT_TRUE(*send(other, one, "hello"));
    EXPECT_TRUE(eventually([&] { return !got(one).empty() && !got(other).empty(); }));
    sides_[one]->got.clear();
    sides_[other]->got.clear();
  }

 private:
  struct Side {
    Watch watch = std::move(*Watch::create());
    Inbox inbox = std::move(*Inbox::create());
    std::unique_ptr<TcpSideChannel> side_channel;
    std::vector<std::string> got;
  };

  const Secret secret_;
  const std::int64_t round_ns_;
  photon::test::GivenTime time_;
  std::vector<std::unique_ptr<Side>> sides_;
};

// Who knows the secret, has proved to be `from`, and says what it likes then.
class FalseSender {
 public:
  FalseSender(TcpSideChannelRanks& ranks, Rank from, Rank to)
      : caller_(ranks[to].address()),
        handshake_(
            *Handshake::dial(ranks.secret(), {from, ranks.size(), 0, kSideChannelProtocol}, to)) {
    Handshake::Step step = Handshake::Step::waits;
    ranks.eventually([&] {
      step = handshake_.advance(caller_.socket());
      return step != Handshake::Step::waits;
    });
    EXPECT_EQ(step, Handshake::Step::open);
  }
  Caller& caller() { return caller_; }
  void say(SideFrameKind kind, std::uint32_t size_bytes, std::string_view body) {
    const SideFrameHead head{kind, size_bytes};
    caller_.say(bytes_of(head));
    caller_.say(std::as_bytes(std::span(body)));
  }

 private:
  Caller caller_;
  Handshake handshake_;
};

// What the kernel does in a round is done long before a time-out of a second is over.
inline constexpr std::int64_t kRoundNs = 1'000'000;

class TcpSideChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_prove()) GTEST_SKIP() << "this library was built without OpenSSL";
  }
};

}  // namespace photon::boot::test
