// Whose key was taken back is told so behind what its owner had published before.
#include <photon/memory.h>

#include <optional>

#include "ofi_ranks.hpp"

namespace photon::transport::ofi::test {
namespace {

constexpr std::uint64_t kKey = 0x1200 + 5;

// Rank 0 writes to rank 1 by fragments.
class OfiRefusal : public OfiTest {
 protected:
  void begin(const FakeManners& manners) {
    base::Config config = ofi_config();
    config.ofi_direct_least_bytes = 64;
    ranks_ = std::make_unique<OfiRanks>(2, manners, config);
    ASSERT_TRUE(ranks().join(0, 1));
    them().regions()[kKey & 63].publish(
        kKey, {reinterpret_cast<std::uintptr_t>(memory_.data()), memory_.size(), PH_ACCESS_ALL});
  }
  OfiRanks& ranks() { return *ranks_; }
  Transport& us() { return *ranks()[0].transport; }
  Transport& them() { return *ranks()[1].transport; }
  std::map<std::uint64_t, ph_status>& done() { return ranks()[0].news.done; }

  void revoke() { them().regions()[kKey & 63].revoke(); }
  PostedFragment write() {
    PostedFragment fragment;
    fragment.rank = 1;
    fragment.address = reinterpret_cast<std::uintptr_t>(memory_.data());
    fragment.key = kKey;
    fragment.size_bytes = source_.size();
    fragment.source = source_.data();
    fragment.token = ++tokens_;
    return fragment;
  }

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(4096);
  std::vector<std::byte> source_ = std::vector<std::byte>(1000, std::byte{7});
  std::uint64_t tokens_ = 100;
  std::unique_ptr<OfiRanks> ranks_;
};

// A refusal says that its owner's bye may stand in the ring: it comes behind.
TEST_F(OfiRefusal, is_refused_behind_what_its_owner_had_published) {
  begin({.has_rma_endpoints = true});
  ASSERT_TRUE(ranks()[1].say(0, 1));
  ranks().settle();
  const unsigned before = ranks()[0].news.activity[1];
  ranks()[1].fabric().stick(true);
  // A question of theirs, which is no activity: nothing is built behind it while it waits.
  PostedFragment theirs = write();
  theirs.rank = 0;
  ASSERT_TRUE(them().post(theirs));
  revoke();
  const PostedFragment fragment = write();
  ASSERT_TRUE(us().post(fragment));
  them().poll(ranks()[1].news);  // the answer waits, and is not built
  for (std::uint64_t i = 0; i < 40; ++i) ASSERT_TRUE(ranks()[1].say(0, i));
  ranks()[1].fabric().stick(false);
  ASSERT_TRUE(ranks().eventually([&] { return done().count(fragment.token) != 0; }));
  EXPECT_GT(ranks()[0].news.activity_before_done[1], before);
  EXPECT_EQ(done()[fragment.token], PH_ERR_KEY);
}

// Whether the first line of a ring's second lap was there when a fragment was over.
struct Order final : Sink {
  explicit Order(const Line& first_line) : line(first_line) {}
  void on_link(Rank) override {}
  void on_activity(Rank) override {}
  void on_gone(Rank, const base::Error&) override {}
  void on_done(std::uint64_t, ph_status status) override {
    outcome = status;
    is_behind = (line.tag_word() & 0xffff) == 2;
  }

  const Line& line;
  std::optional<ph_status> outcome;
  bool is_behind = false;
};

// While a ring full goes out, its owner publishes more and takes the key back then.
TEST_F(OfiRefusal, is_refused_behind_what_was_published_since_it_was_asked_for) {
  begin({.most_bytes = 4096, .has_rma_endpoints = true});
  auto& fabric = ranks()[1].fabric();
  fabric.stick(true);
  PostedFragment theirs = write();
  theirs.rank = 0;
  ASSERT_TRUE(them().post(theirs));  // a message that keeps those behind it
  ASSERT_TRUE(us().post(write()));
  them().poll(ranks()[1].news);
  while (ranks()[1].say(0, 1)) continue;
  fabric.take_only(3);  // that one and two with lines: a third, which waits, has the rest
  const Link& link = ranks()[0].to(1);
  while ((link.rx_lines[31].tag_word() & 0xffff) != 1) ranks().turn();
  link.rx_credits->give_lines(32);
  us().kick(1);
  while (!ranks()[1].say(0, 2)) them().poll(ranks()[1].news);
  revoke();
  Order order(link.rx_lines[0]);
  for (const unsigned messages : {2u, 2u}) {  // not all in one poll of ours
    fabric.take_only(messages);
    for (int i = 0; i < 500; ++i) {
      them().poll(ranks()[1].news);
      us().poll(order);
    }
  }
  ASSERT_TRUE(order.outcome);
  EXPECT_EQ(*order.outcome, PH_ERR_KEY);
  EXPECT_TRUE(order.is_behind);
}

}  // namespace
}  // namespace photon::transport::ofi::test
