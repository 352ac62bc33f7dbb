#include "transport/network/network_transport.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "given_time.hpp"
#include "memory_boot.hpp"
#include "watchdog.hpp"

namespace photon::transport::network {
namespace {

base::Config network_config() {
  base::Config config;
  config.ring_lines = 64;
  config.bulk_bytes = 8 << 10;
  config.log = base::LogLevel::error;
  return config;
}

// Meets nobody by itself.
class Plain final : public NetworkTransport {
 public:
  explicit Plain(boot::Boot& boot, base::TimeSource time = {})
      : NetworkTransport({.config = network_config(),
                          .boot = boot,
                          .time = time,
                          .wake = {},
                          .order = NewsQueue::Order::as_it_came,
                          .posts = true}),
        peers_(boot.size()) {
    EXPECT_TRUE(wake_.open());
  }

  const char* name() const noexcept override { return "net"; }
  void kick(Rank) noexcept override {}
  void poll(Sink& sink) noexcept override {
    const Entered entered(lock_);
    news_.tell(sink);
  }
  Reach reach(Rank, std::uint64_t, std::uint64_t) noexcept override { return {}; }
  std::span<RegionEntry> regions() noexcept override { return {}; }
  void arm() noexcept override {
    const Entered entered(lock_);
    wake_.arm();
  }
  SleepOn sleep_on() noexcept override {
    const auto side_channel = side_channel_.sleep_on(-1);
    return {.fds = {wake_.fd(), -1, side_channel.fd}, .limit_us = side_channel.limit_us};
  }
  void describe(Rank, ph_path&) override {}

  NetworkPeer* known(Rank rank) const noexcept override {
    return rank < peers_.size() ? peers_[rank].get() : nullptr;
  }
  NetworkPeer& remember(Rank rank) override {
    if (peers_[rank] == nullptr) {
      peers_[rank] = std::make_unique<NetworkPeer>(rank);
      ++unsettled_;
    }
    return *peers_[rank];
  }
  base::Result<> can_meet(Rank rank) const override {
    if (is_stuck) return base::Error{PH_ERR_PEER, 0, "it is stuck", rank};
    return {};
  }
  base::Result<bool> ask(Rank rank) override {
    ++asked_count;
    return side_channel_.send(rank, {});
  }
  void end(Rank rank, base::Error why) override {
    known(rank)->state = NetworkPeer::State::ended;
    known(rank)->why = std::move(why);
    --unsettled_;
  }
  bool has_left_all() const noexcept override { return is_empty; }
  void take_info(Rank rank, std::span<const std::byte> bytes) override {
    heard.push_back("info of " + std::to_string(rank) + ", " + std::to_string(bytes.size()));
  }
  void boot_gone(Rank rank, const char* why) override {
    heard.push_back(std::to_string(rank) + " " + why);
  }
  void look() {
    side_channel_.begin_look();
    take_messages();
  }
  void hear_of(NetworkPeer& peer) {
    const Entered entered(lock_);
    tell({.kind = News::Kind::activity, .peer = &peer});
  }
  // Whether the side channel is to be looked at; if so, it is.
  bool looks_at(std::int64_t at_ns) {
    const bool is_due = side_channel_.is_due(at_ns);
    if (is_due) look();
    return is_due;
  }
  void refuse(Refusal why) { refused_.add(why); }
  std::size_t unsettled() const { return unsettled_; }

  bool is_stuck = false;
  bool is_empty = true;
  unsigned asked_count = 0;
  std::vector<std::string> heard;

 private:
  std::vector<std::unique_ptr<NetworkPeer>> peers_;
};

class Links final : public Sink {
 public:
  void on_link(Rank rank) override { links.push_back(rank); }
  void on_activity(Rank) override {}
  void on_gone(Rank, const base::Error&) override {}

  std::vector<Rank> links;
};

class CarriedNetwork : public testing::Test {
 protected:
  photon::test::Watchdog watchdog_{std::chrono::seconds(60)};
  photon::test::MemoryJob job_{3};
  std::unique_ptr<boot::Boot> boot_ = job_.boot(0);
  std::unique_ptr<boot::Boot> other_ = job_.boot(1);
  Plain net_{*boot_};
};

TEST_F(CarriedNetwork, asks_a_rank_once_however_often_its_link_is_asked_for) {
  const auto first = net_.connect(1);
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_TRUE((*first)->post_kicks);
  const auto second = net_.connect(1);
  ASSERT_TRUE(second);
  EXPECT_EQ(*second, *first);
  EXPECT_EQ(net_.asked_count, 1u);
  EXPECT_EQ(net_.unsettled(), 1u);
}

TEST_F(CarriedNetwork, does_not_ask_who_is_being_met_already) {
  net_.remember(1).state = NetworkPeer::State::handshake;
  ASSERT_TRUE(net_.connect(1));
  EXPECT_EQ(net_.asked_count, 0u);
}

TEST_F(CarriedNetwork, meets_itself_without_asking) {
  ASSERT_TRUE(net_.connect(0));
  EXPECT_EQ(net_.asked_count, 0u);
  EXPECT_EQ(net_.unsettled(), 0u);
  EXPECT_TRUE(net_.known(0)->is_open());
  Links links;
  net_.poll(links);
  EXPECT_EQ(links.links, std::vector<Rank>{0});
}

TEST_F(CarriedNetwork, names_a_rank_that_there_is_not) {
  const auto link = net_.connect(3);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().status, PH_ERR_RANK);
  EXPECT_EQ(link.error().what, "net: connect to rank 3 of 3 ranks");
}

TEST_F(CarriedNetwork, ends_who_is_gone_before_it_can_be_asked) {
  other_.reset();
  for (const char* why : {"net: rank 1: connect to a rank that has ended",
                          "net: rank 1: connect to a rank that has ended or was disconnected"}) {
    const auto link = net_.connect(1);
    ASSERT_FALSE(link);
    EXPECT_EQ(link.error().status, PH_ERR_PEER);
    EXPECT_EQ(link.error().what, why);
    EXPECT_EQ(link.error().rank, 1u);
  }
  EXPECT_EQ(net_.known(1)->why.what, "net: rank 1 has ended");
  EXPECT_FALSE(net_.known(1)->is_linked);
}

TEST_F(CarriedNetwork, says_what_the_side_channel_says_when_it_takes_no_question) {
  job_.set_full(true);
  const auto link = net_.connect(1);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().status, PH_AGAIN);
  EXPECT_EQ(net_.known(1)->state, NetworkPeer::State::ended);
}

TEST_F(CarriedNetwork, meets_nobody_new_when_it_cannot_and_knows_whom_it_has_met) {
  const auto first = net_.connect(1);
  ASSERT_TRUE(first);
  net_.is_stuck = true;
  EXPECT_EQ(net_.connect(2).error().what, "it is stuck");
  EXPECT_EQ(*net_.connect(1), *first);
  EXPECT_EQ(net_.known(2), nullptr);
}

TEST_F(CarriedNetwork, keeps_the_link_of_a_released_peer_until_its_end) {
  ASSERT_TRUE(net_.connect(1));
  net_.disconnect(1);
  EXPECT_TRUE(net_.known(1)->is_released);
  EXPECT_NE(net_.known(1)->link, nullptr);
  EXPECT_FALSE(net_.connect(1));
  ASSERT_TRUE(net_.connect(2));
  net_.known(2)->state = NetworkPeer::State::ended;
  net_.disconnect(2);
  EXPECT_EQ(net_.known(2)->link, nullptr);
  ASSERT_TRUE(net_.connect(0));
  net_.disconnect(0);
  EXPECT_EQ(net_.known(0)->link, nullptr);
  net_.disconnect(7);  // of whom nothing is known
}

TEST_F(CarriedNetwork, hears_infos_and_ends_of_its_peers_alone) {
  const std::byte info[3]{};
  ASSERT_TRUE(*other_->send(0, info, {}));
  ASSERT_TRUE(*boot_->send(0, info, {}));
  boot::Message of_nobody;
  of_nobody.from = 3;
  job_.send(0, std::move(of_nobody));
  other_.reset();
  net_.look();
  EXPECT_EQ(net_.heard, (std::vector<std::string>{"info of 1, 3", "1 has ended"}));
  net_.look();
  EXPECT_EQ(net_.heard.size(), 2u);
}

// A bootstrap from which nothing comes any more.
class Breaking final : public boot::Boot {
 public:
  explicit Breaking(boot::Boot& boot) : boot_(boot) {}

  boot::Rank rank() const override { return boot_.rank(); }
  std::uint32_t size() const override { return boot_.size(); }
  const boot::Secret& secret() const override { return boot_.secret(); }
  std::uint32_t local_size() const override { return boot_.local_size(); }
  base::Result<bool> send(boot::Rank to, std::span<const std::byte> bytes,
                          std::span<const int> fds) override {
    return boot_.send(to, bytes, fds);
  }
  base::Result<std::optional<boot::Message>> receive() override {
    return base::Error{PH_ERR_BOOTSTRAP, 0, "the launcher has ended"};
  }
  bool idle() const override { return true; }
  int poll_fd() const override { return boot_.poll_fd(); }
  base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                           const boot::Serve& serve) override {
    return boot_.allgather(mine, all, serve);
  }
  base::Result<> barrier(const boot::Serve& serve) override { return boot_.barrier(serve); }

 private:
  boot::Boot& boot_;
};

TEST_F(CarriedNetwork, ends_whom_it_has_asked_when_the_side_channel_breaks) {
  Breaking breaking(*boot_);
  Plain net(breaking);
  ASSERT_TRUE(net.connect(0));
  ASSERT_TRUE(net.connect(1));
  net.remember(2).state = NetworkPeer::State::open;
  net.look();
  EXPECT_TRUE(net.known(0)->is_open());
  EXPECT_EQ(net.known(1)->state, NetworkPeer::State::ended);
  EXPECT_EQ(net.known(1)->why.what, "the launcher has ended");
  EXPECT_EQ(net.known(1)->why.rank, 1u);
  EXPECT_TRUE(net.known(2)->is_open());
}

TEST_F(CarriedNetwork, wakes_a_sleep_that_was_announced_and_is_drained_behind_it) {
  net_.arm();
  net_.wake();
  net_.sleep(-1);  // returns, for it was rung before
  net_.disarm();
  pollfd wakeup{net_.sleep_on().fds[0], POLLIN, 0};
  EXPECT_EQ(::poll(&wakeup, 1, 0), 0);
  net_.wake();
  EXPECT_EQ(::poll(&wakeup, 1, 0), 1);
  net_.slept(1);
  EXPECT_EQ(::poll(&wakeup, 1, 0), 0);
}

TEST_F(CarriedNetwork, news_wake_who_has_announced_a_sleep_until_it_is_retracted) {
  pollfd wakeup{net_.sleep_on().fds[0], POLLIN, 0};
  net_.arm();
  ASSERT_TRUE(net_.connect(0));  // which is news: it meets itself
  EXPECT_EQ(::poll(&wakeup, 1, 0), 1);
  net_.slept(1);
  net_.hear_of(*net_.known(0));
  EXPECT_EQ(::poll(&wakeup, 1, 0), 1);
  net_.slept(1);
  net_.disarm();
  net_.hear_of(*net_.known(0));
  EXPECT_EQ(::poll(&wakeup, 1, 0), 0);
}

TEST_F(CarriedNetwork, looks_for_the_answer_of_whom_it_has_asked_more_often) {
  constexpr std::int64_t kUs = 1'000;
  photon::test::GivenTime time;
  Plain net(*boot_, time.source());
  const std::int64_t begin_ns = time.now_ns();
  EXPECT_TRUE(net.looks_at(begin_ns));
  EXPECT_FALSE(net.looks_at(begin_ns + 5 * kUs));
  ASSERT_TRUE(net.connect(1));
  EXPECT_TRUE(net.looks_at(begin_ns + 5 * kUs));  // for what was sent
  EXPECT_FALSE(net.looks_at(begin_ns + 9 * kUs));
  EXPECT_TRUE(net.looks_at(begin_ns + 10 * kUs));
}

TEST_F(CarriedNetwork, looks_at_the_side_channel_whose_descriptor_has_ended_a_sleep) {
  constexpr std::int64_t kBeginNs = 1'000'000'000;
  EXPECT_TRUE(net_.looks_at(kBeginNs));
  net_.slept(1 | 2);
  EXPECT_FALSE(net_.looks_at(kBeginNs));
  net_.slept(4);
  EXPECT_TRUE(net_.looks_at(kBeginNs));
}

TEST_F(CarriedNetwork, reaches_memory_of_peers_by_posting_only) {
  std::byte memory[8]{};
  for (const auto& result : {net_.read(1, 0, memory), net_.write(1, 0, memory)}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().status, PH_ERR_STATE);
    EXPECT_EQ(result.error().what, "net: memory of rank 1 is reached by posting only");
  }
}

TEST_F(CarriedNetwork, is_drained_when_all_has_left_and_tells_who_was_refused) {
  EXPECT_TRUE(net_.drained());
  net_.is_empty = false;
  EXPECT_FALSE(net_.drained());
  net_.refuse(Refusal::garbage);
  EXPECT_EQ(net_.rejected().garbage, 1u);
  EXPECT_EQ(net_.rejected().version, 0u);
  EXPECT_EQ(net_.refused(Refusal::garbage), 1u);
}

}  // namespace
}  // namespace photon::transport::network
