#include "transport/network/news.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace photon::transport::network {
namespace {

using Kind = News::Kind;
using Told = std::vector<std::string>;

// Writes down what it is told, and does then what an engine might.
class Engine final : public Sink {
 public:
  void on_link(Rank rank) override { write("link " + std::to_string(rank)); }
  void on_activity(Rank rank) override { write("activity " + std::to_string(rank)); }
  void on_gone(Rank rank, const base::Error& why) override {
    write("gone " + std::to_string(rank) + ": " + why.what);
  }
  void on_done(std::uint64_t token, ph_status status) override {
    write("done " + std::to_string(token) + (status == PH_OK ? "" : " in vain"));
  }
  void on_fragment(Rank from, std::uint32_t imm) override {
    write("fragment " + std::to_string(imm) + " of " + std::to_string(from));
  }

  std::function<void()> then = [] {};
  Told told;

 private:
  void write(std::string line) {
    told.push_back(std::move(line));
    then();
  }
};

class CarriedNews : public testing::Test {
 protected:
  CarriedNews() {
    base::Config config;
    config.ring_lines = 64;
    config.bulk_bytes = 8 << 10;
    EXPECT_TRUE(peer_.give_link(config, false, false));
    peer_.why = {PH_ERR_PEER, 0, "it left", 5};
  }
  void add_one_of_each(NewsQueue& news) {
    news.add({.kind = Kind::activity, .peer = &peer_});
    news.add({.kind = Kind::done, .token = 8, .status = PH_ERR_PEER});
    news.add({.kind = Kind::fragment, .peer = &peer_, .imm = 9});
    news.add({.kind = Kind::link, .peer = &peer_});
    news.add({.kind = Kind::gone, .peer = &peer_});
  }

  NetworkPeer peer_{5};
  Engine engine_;
};

TEST_F(CarriedNews, are_told_as_they_came) {
  NewsQueue news(NewsQueue::Order::as_it_came);
  add_one_of_each(news);
  EXPECT_EQ(peer_.link->view().rx_lines, nullptr);
  news.tell(engine_);
  EXPECT_EQ(engine_.told,
            (Told{"activity 5", "done 8 in vain", "fragment 9 of 5", "link 5", "gone 5: it left"}));
  EXPECT_NE(peer_.link->view().rx_lines, nullptr);
  EXPECT_TRUE(news.is_empty());
}

TEST_F(CarriedNews, are_told_with_links_and_fragments_first_where_that_is_wanted) {
  NewsQueue news(NewsQueue::Order::links_and_fragments_first);
  add_one_of_each(news);
  news.tell(engine_);
  EXPECT_EQ(engine_.told,
            (Told{"fragment 9 of 5", "link 5", "activity 5", "done 8 in vain", "gone 5: it left"}));
}

TEST_F(CarriedNews, of_a_peer_that_was_released_are_not_told_but_for_our_own_fragments) {
  NewsQueue news(NewsQueue::Order::as_it_came);
  add_one_of_each(news);
  peer_.is_released = true;
  peer_.is_touched = true;
  news.tell(engine_);
  EXPECT_EQ(engine_.told, Told{"done 8 in vain"});
  EXPECT_FALSE(peer_.is_touched);  // more of its ring would be news again
  EXPECT_FALSE(peer_.is_gone_told);
}

TEST_F(CarriedNews, of_an_end_are_told_once_with_the_reason_that_is_known_by_then) {
  NewsQueue news(NewsQueue::Order::as_it_came);
  EXPECT_FALSE(news.has_gone());
  news.add({.kind = Kind::gone, .peer = &peer_});
  news.add({.kind = Kind::gone, .peer = &peer_});
  EXPECT_TRUE(news.has_gone());
  peer_.why.what = "it was cut off";
  news.tell(engine_);
  EXPECT_EQ(engine_.told, Told{"gone 5: it was cut off"});
  EXPECT_FALSE(news.has_gone());
}

TEST_F(CarriedNews, that_the_engine_causes_wait_for_the_next_time) {
  NewsQueue news(NewsQueue::Order::as_it_came);
  news.add({.kind = Kind::done, .token = 1});
  engine_.then = [&] { news.add({.kind = Kind::done, .token = 2}); };
  news.tell(engine_);
  EXPECT_EQ(engine_.told, Told{"done 1"});
  engine_.then = [] {};
  news.tell(engine_);
  EXPECT_EQ(engine_.told, (Told{"done 1", "done 2"}));
  EXPECT_TRUE(news.is_empty());
}

TEST_F(CarriedNews, that_were_put_off_follow_what_came) {
  NewsQueue news(NewsQueue::Order::as_it_came);
  std::vector<News> later = {{.kind = Kind::done, .token = 2}, {.kind = Kind::done, .token = 3}};
  news.add({.kind = Kind::done, .token = 1});
  news.take(later);
  EXPECT_TRUE(later.empty());
  news.tell(engine_);
  EXPECT_EQ(engine_.told, (Told{"done 1", "done 2", "done 3"}));
}

}  // namespace
}  // namespace photon::transport::network
