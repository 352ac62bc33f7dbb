// A host that vanishes with something under way to it, and a peer that is merely stopped.
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include "given_time.hpp"
#include "tcp_ranks.hpp"

namespace photon::transport::tcp::test {
namespace {

using Clock = std::chrono::steady_clock;

// Two ranks of which the second does not read, and a write of the first one's to it. How long the
// other end has been silent the kernel says, by its own clock; but how often they look is a matter
// of theirs, which is given.
class OfiKeepalive {
 public:
  explicit OfiKeepalive(std::size_t size_bytes) : source_(size_bytes), to_(size_bytes) {
    base::Config config = tcp_config();
    config.tcp_silence_s = 1;
    config.tcp_interface = base::word("127.0.0.1");
    ranks_ = std::make_unique<TcpRanks>(2, config, TcpOptions{.time = time_.source()});
    EXPECT_TRUE(ranks_->join(0, 1));
    ranks_->settle();
  }
  void write() { ASSERT_TRUE(side(0).transport->post(fragment_to_rank_1(*ranks_, source_, to_))); }
  // As a rank that has nothing else to do: asleep between its looks, of which the next is due.
  void rest() {
    time_.move_ns(boot::kKeepaliveCheckNs);
    Transport& transport = *side(0).transport;
    transport.arm();
    transport.poll(side(0).news);
    if (side(0).news.gone.empty()) {
      const std::int64_t limit_us = transport.sleep_on().limit_us;
      EXPECT_TRUE(limit_us >= 0 && limit_us <= boot::kKeepaliveCheckNs / 1'000) << limit_us;
      transport.sleep(10'000);
    }
    transport.disarm();
    transport.poll(side(0).news);
  }
  TcpSide& side(Rank rank) { return (*ranks_)[rank]; }
  bool eventually(const std::function<bool()>& done) {
    return ranks_->eventually([&] {
      time_.move_ns(100'000);  // what is held back leaves by the clock
      return done();
    });
  }

 private:
  photon::test::GivenTime time_;
  std::unique_ptr<TcpRanks> ranks_;
  std::vector<std::byte> source_, to_;
};

constexpr std::size_t kMoreThanSocketsHold = 32 << 20;

TEST(TcpKeepalive, a_stopped_peer_whose_window_is_full_is_not_gone) {
  OfiKeepalive job(kMoreThanSocketsHold);
  job.write();
  // It asks after 0.2, 0.6, 1.4 and 3 s, and has an answer each time: before the last of these
  // nothing has come for longer than the second of the setting.
  const auto begin = Clock::now();
  while (Clock::now() - begin < std::chrono::milliseconds(2'800)) job.rest();
  EXPECT_TRUE(job.side(0).news.gone.empty());
  EXPECT_TRUE(job.eventually([&] { return job.side(0).news.done.count(1) == 1; }));
  EXPECT_EQ(job.side(0).news.done[1], PH_OK);
}

bool loopback(const char* how) {
  return std::system((std::string("ip link set lo ") + how + " 2>/dev/null").c_str()) == 0;
}

// In a network of its own, whose only link is taken down before or after the write begins.
void expect_gone(std::size_t size_bytes, bool is_down_before) {
  bool has_network = false;
  std::thread([&] {
    has_network = ::unshare(CLONE_NEWNET) == 0 && loopback("up");
    if (!has_network) return;
    const auto begin = Clock::now();  // all that is heard of rank 1 comes later
    OfiKeepalive job(size_bytes);
    EXPECT_TRUE(!is_down_before || loopback("down"));
    job.write();
    for (int i = 0; i < 100; ++i) job.side(0).transport->poll(job.side(0).news);
    EXPECT_TRUE(loopback("down"));
    while (job.side(0).news.gone.empty()) job.rest();
    const auto after = Clock::now() - begin;
    EXPECT_GE(after, std::chrono::milliseconds(900));
    EXPECT_LT(after, std::chrono::seconds(20));
    EXPECT_EQ(job.side(0).news.gone[1].status, PH_ERR_PEER);
    EXPECT_NE(job.side(0).news.gone[1].what.find("tcp_silence_s"), std::string::npos)
        << job.side(0).news.gone[1].what;
    EXPECT_EQ(job.side(0).news.done[1], PH_ERR_PEER);
  }).join();
  if (!has_network) GTEST_SKIP() << "no network namespace here: it needs root and ip(8)";
}

TEST(TcpKeepalive, a_host_that_vanished_before_it_could_confirm_is_gone) { expect_gone(64, true); }

TEST(TcpKeepalive, a_host_that_vanished_behind_a_full_window_is_gone) {
  expect_gone(kMoreThanSocketsHold, false);
}

// What is confirmed is forgotten: who has nothing under way sleeps as long as it likes.
TEST(TcpKeepalive, nothing_is_owed_once_all_is_confirmed) {
  OfiKeepalive job(64);
  job.write();
  ASSERT_TRUE(job.eventually([&] { return job.side(0).news.done.count(1) == 1; }));
  const auto has_no_limit = [&] {
    TcpSide& side = job.side(0);
    side.transport->arm();
    const std::int64_t limit_us = side.transport->sleep_on().limit_us;
    side.transport->disarm();
    return limit_us < 0;
  };
  EXPECT_TRUE(job.eventually(has_no_limit));
}

}  // namespace
}  // namespace photon::transport::tcp::test
