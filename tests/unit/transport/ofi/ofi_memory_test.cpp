// Fragments between ranks over the tests' own fabric: who is asked, who is shut out, and what of a
// provider's faults is told.
#include <photon/memory.h>

#include <algorithm>
#include <thread>

#include "ofi_ranks.hpp"

namespace photon::transport::ofi::test {
namespace {

constexpr std::size_t kRegionBytes = 4096;
constexpr std::uint64_t kRegionKey = 0x1200 + 5;

base::Config direct_config() {
  base::Config config = ofi_config();
  config.ofi_direct_least_bytes = 64;
  return config;
}

// Rank 0 moves memory of rank 1 by fragments.
class OfiMemory : public OfiTest {
 protected:
  static FakeManners rma_endpoints() { return {.has_rma_endpoints = true}; }
  // So long that no busy machine makes an answer late.
  static constexpr OfiOptions kPatient{.give_back_ns = 60'000'000'000};
  void begin(const FakeManners& manners = rma_endpoints(), std::uint32_t count = 2,
             const OfiOptions& options = {}) {
    ranks_ = std::make_unique<OfiRanks>(count, manners, direct_config(), options, OfiTime::real);
    ASSERT_TRUE(ranks().join(0, 1));
    publish(kRegionKey);
  }
  OfiRanks& ranks() { return *ranks_; }
  Transport& us() { return *ranks()[0].transport; }
  Transport& them() { return *ranks()[1].transport; }
  std::map<std::uint64_t, ph_status>& done() { return ranks()[0].news.done; }

  void publish(std::uint64_t key) {
    them().regions()[key & 63].publish(
        key, {reinterpret_cast<std::uintptr_t>(memory_.data()), kRegionBytes, PH_ACCESS_ALL});
  }
  void revoke(std::uint64_t key = kRegionKey) { them().regions()[key & 63].revoke(); }
  PostedFragment write(std::uint64_t key = kRegionKey) {
    PostedFragment fragment;
    fragment.rank = 1;
    fragment.address = reinterpret_cast<std::uintptr_t>(memory_.data());
    fragment.key = key;
    fragment.size_bytes = source_.size();
    fragment.source = source_.data();
    fragment.token = ++tokens_;
    return fragment;
  }
  // A rank more, which we are to write to.
  PostedFragment begin_with_third(std::span<std::byte> third) {
    begin(rma_endpoints(), 3);
    EXPECT_TRUE(ranks().join(0, 2));
    const auto address = reinterpret_cast<std::uintptr_t>(third.data());
    ranks()[2].transport->regions()[5].publish(kRegionKey, {address, third.size(), PH_ACCESS_ALL});
    use_twice();
    PostedFragment fragment = write();
    fragment.rank = 2;
    fragment.address = address;
    return fragment;
  }
  bool over(std::size_t count) {
    return ranks().eventually([&] { return done().size() >= count; });
  }
  ph_status outcome(const PostedFragment& fragment) {
    EXPECT_TRUE(us().post(fragment));
    ranks().eventually([&] { return done().count(fragment.token) != 0; });
    return done()[fragment.token];
  }
  // They take back what they have shown, and we give it, as we poll.
  void quiesce_while_we_poll() {
    std::thread peer([&] {
      while (ranks()[1].fabric().rma_endpoints().exposed() != 0) us().poll(ranks()[0].news);
    });
    them().quiesce();
    EXPECT_EQ(ranks()[1].fabric().rma_endpoints().exposed(), 0u);
    peer.join();
  }
  // A lease that is kept, as of memory that is used again and again.
  void use_twice(std::uint64_t key = kRegionKey) {
    EXPECT_EQ(outcome(write(key)), PH_OK);
    EXPECT_EQ(outcome(write(key)), PH_OK);
    ranks().settle();
  }
  bool is_there() const { return std::equal(source_.begin(), source_.end(), memory_.begin()); }

  std::vector<std::byte> memory_ = std::vector<std::byte>(kRegionBytes);
  std::vector<std::byte> source_ = std::vector<std::byte>(1000, std::byte{7});
  std::uint64_t tokens_ = 100;
  std::unique_ptr<OfiRanks> ranks_;
};

TEST_F(OfiMemory, is_reached_by_posting_from_the_setting_on) {
  begin();
  EXPECT_EQ(us().reach(1, 0, 64).kind, Reach::Kind::posted);
  EXPECT_EQ(us().reach(1, 0, 63).kind, Reach::Kind::none);
  EXPECT_EQ(us().reach(0, 0, 64).kind, Reach::Kind::none) << "itself";
  ph_path path{};
  us().describe(1, path);
  EXPECT_NE(std::string(path.reason).find("64 bytes and more by the provider"), std::string::npos)
      << path.reason;
}

TEST_F(OfiMemory, is_reached_by_records_where_there_are_no_rma_endpoints_and_the_path_says_why) {
  begin({});
  EXPECT_EQ(us().reach(1, 0, kRegionBytes).kind, Reach::Kind::none);
  ph_path path{};
  us().describe(1, path);
  EXPECT_NE(std::string(path.reason).find("FI_RMA"), std::string::npos) << path.reason;
  base::Config never = direct_config();
  never.ofi_direct_least_bytes = 0;
  OfiRanks off(2, rma_endpoints(), never);
  ASSERT_TRUE(off.join(0, 1));
  EXPECT_EQ(off[0].transport->reach(1, 0, kRegionBytes).kind, Reach::Kind::none);
  off[0].transport->describe(1, path);
  EXPECT_NE(std::string(path.reason).find("ofi_direct_least_bytes is 0"), std::string::npos)
      << path.reason;
}

TEST_F(OfiMemory, costs_no_rma_endpoint_before_it_is_used) {
  begin();
  EXPECT_EQ(
      ranks()[1].fabric().rma_endpoints().opened() + ranks()[0].fabric().rma_endpoints().opened(),
      0u);
  EXPECT_EQ(outcome(write()), PH_OK);
  EXPECT_TRUE(is_there());
  EXPECT_EQ(ranks()[1].fabric().rma_endpoints().opened(), 1u);
  EXPECT_EQ(ranks()[0].fabric().rma_endpoints().opened(), 1u);
}

// As a rendezvous uses it.
TEST_F(OfiMemory, that_is_used_once_is_taken_back_without_a_wait_and_the_rma_endpoint_stays) {
  begin();
  EXPECT_EQ(outcome(write()), PH_OK);
  ranks().settle();
  revoke();
  them().quiesce();  // nobody answers meanwhile
  EXPECT_EQ(ranks()[1].fabric().rma_endpoints().exposed(), 0u);
  constexpr std::uint64_t kNext = kRegionKey + 64;
  publish(kNext);
  EXPECT_EQ(outcome(write(kNext)), PH_OK);
  EXPECT_EQ(ranks()[1].fabric().rma_endpoints().opened(), 1u);
}

TEST_F(OfiMemory, whose_lease_is_kept_is_given_back_when_its_owner_asks) {
  begin(rma_endpoints(), 2, kPatient);
  use_twice();
  revoke();
  quiesce_while_we_poll();
  EXPECT_EQ(outcome(write()), PH_ERR_KEY);
}

// What libfabric 1.17 has left behind of the RMA endpoint must not be waited for; the fake minds
// it.
TEST_F(OfiMemory, whose_rma_endpoint_has_ended_is_looked_after_by_naps) {
  begin();
  use_twice();
  const auto fabric_fd = [this] {
    them().arm();
    const auto on = them().sleep_on();
    them().disarm();
    EXPECT_TRUE(on.fds[1] >= 0 || (on.limit_us >= 0 && on.limit_us <= 1000)) << on.limit_us;
    return on.fds[1];
  };
  EXPECT_GE(fabric_fd(), 0);
  revoke();
  them().quiesce();  // nobody answers
  EXPECT_EQ(fabric_fd(), -1);
}

// Who has given its lease back and then says its bye is no reason not to wait for the other.
TEST_F(OfiMemory, whose_holder_leaves_is_given_back_by_the_other_and_the_rma_endpoint_stays) {
  begin(rma_endpoints(), 3, kPatient);
  ASSERT_TRUE(ranks().join(2, 1));
  use_twice();
  constexpr std::uint64_t kOther = 0x3400 + 6;
  publish(kOther);
  for (int i = 0; i < 2; ++i) {
    PostedFragment fragment = write();
    fragment.token = 1;
    ranks()[2].news.done.clear();
    ASSERT_TRUE(ranks()[2].transport->post(fragment));
    ASSERT_TRUE(ranks().eventually([&] { return ranks()[2].news.done.count(1) != 0; }));
  }
  ranks().settle();
  ranks()[2].transport.reset();  // its words are there, and not read
  revoke();
  quiesce_while_we_poll();
  EXPECT_EQ(outcome(write(kOther)), PH_OK);
  EXPECT_EQ(ranks()[1].fabric().rma_endpoints().opened(), 1u);
}

TEST_F(OfiMemory, whose_peer_does_not_answer_is_shut_off_and_others_go_on_by_a_new_rma_endpoint) {
  begin();
  constexpr std::uint64_t kOther = 0x3400 + 6;
  publish(kOther);
  use_twice();
  use_twice(kOther);
  ranks()[0].fabric().rma_endpoints().hold(true);
  const PostedFragment lost = write(), innocent = write(kOther);
  ASSERT_TRUE(us().post(lost));
  ASSERT_TRUE(us().post(innocent));
  std::fill(memory_.begin(), memory_.end(), std::byte{0});
  revoke();
  them().quiesce();
  EXPECT_EQ(ranks()[1].fabric().rma_endpoints().exposed(), 0u);
  ranks()[0].fabric().rma_endpoints().hold(false);
  ASSERT_TRUE(ranks().eventually([&] { return done().count(lost.token) != 0; }));
  EXPECT_EQ(done()[lost.token], PH_ERR_KEY) << "as its owner says";
  ASSERT_TRUE(ranks().eventually([&] { return done().count(innocent.token) != 0; }));
  EXPECT_EQ(done()[innocent.token], PH_OK);
  EXPECT_TRUE(is_there());
  EXPECT_EQ(outcome(write(kOther)), PH_OK);
  EXPECT_TRUE(ranks()[0].news.gone.empty());
}

// Else it would be tried for ever.
TEST_F(OfiMemory, that_fails_and_its_owner_knows_no_reason_ends_the_peer_with_the_providers_words) {
  begin();
  use_twice();
  ranks()[0].fabric().rma_endpoints().fail(true);
  const PostedFragment fragment = write();
  ASSERT_TRUE(us().post(fragment));
  ASSERT_TRUE(ranks().eventually([&] { return ranks()[0].news.gone.count(1) != 0; }));
  EXPECT_EQ(done()[fragment.token], PH_ERR_PEER);
  EXPECT_NE(ranks()[0].news.gone[1].what.find("fake trouble"), std::string::npos)
      << ranks()[0].news.gone[1].what;
  EXPECT_EQ(us().reach(1, 0, kRegionBytes).kind, Reach::Kind::none);
}

// As without memory of our own: the peer has nothing to do with it.
TEST_F(OfiMemory, that_our_own_provider_refuses_is_an_error_of_that_operation_alone) {
  begin();
  use_twice();
  ranks()[0].fabric().rma_endpoints().answer(Taken::refused);
  EXPECT_EQ(outcome(write()), PH_ERR_SYSTEM);
  ranks()[0].fabric().rma_endpoints().answer(Taken::yes);
  EXPECT_EQ(outcome(write()), PH_OK);
  ranks().settle();
  EXPECT_TRUE(ranks()[0].news.gone.empty());
}

TEST_F(OfiMemory, that_no_route_leads_to_for_a_while_is_waited_for) {
  begin();
  use_twice();
  std::fill(memory_.begin(), memory_.end(), std::byte{0});
  ranks()[0].fabric().rma_endpoints().answer(Taken::no_way);
  const PostedFragment fragment = write();
  ASSERT_TRUE(us().post(fragment));
  ranks().settle();
  EXPECT_EQ(done().count(fragment.token), 0u);
  ranks()[0].fabric().rma_endpoints().answer(Taken::yes);
  ASSERT_TRUE(ranks().eventually([&] { return done().count(fragment.token) != 0; }));
  EXPECT_EQ(done()[fragment.token], PH_OK);
  EXPECT_TRUE(is_there());
  EXPECT_TRUE(ranks()[0].news.gone.empty());
}

TEST_F(OfiMemory, that_its_owner_cannot_expose_is_refused_and_nobody_ends) {
  auto full = rma_endpoints();
  full.opens_none = true;
  ranks_ = std::make_unique<OfiRanks>(EachManners{rma_endpoints(), full}, direct_config(),
                                      OfiOptions{}, OfiTime::real);
  ASSERT_TRUE(ranks().join(0, 1));
  publish(kRegionKey);
  EXPECT_EQ(outcome(write()), PH_ERR_SYSTEM);
  ranks().settle();
  EXPECT_TRUE(ranks()[0].news.gone.empty());
}

TEST_F(OfiMemory, goes_by_records_from_when_no_rma_endpoint_of_ours_can_be_opened) {
  auto full = rma_endpoints();
  full.opens_none = true;
  ranks_ = std::make_unique<OfiRanks>(EachManners{full, rma_endpoints()}, direct_config(),
                                      OfiOptions{}, OfiTime::real);
  ASSERT_TRUE(ranks().join(0, 1));
  publish(kRegionKey);
  EXPECT_EQ(us().reach(1, 0, kRegionBytes).kind, Reach::Kind::posted);
  EXPECT_EQ(outcome(write()), PH_ERR_SYSTEM);
  EXPECT_EQ(us().reach(1, 0, kRegionBytes).kind, Reach::Kind::none);
  ph_path path{};
  us().describe(1, path);
  EXPECT_NE(std::string(path.reason).find("no RMA endpoint"), std::string::npos) << path.reason;
}

// Its end is told when no provider touches our memory any more.
TEST_F(OfiMemory, of_a_rank_that_has_ended_is_let_go_of_before_that_is_told) {
  begin(rma_endpoints(), 3);
  ASSERT_TRUE(ranks().join(0, 2));
  use_twice();
  ranks()[0].fabric().rma_endpoints().hold(true);
  const PostedFragment fragment = write();
  ASSERT_TRUE(us().post(fragment));
  ASSERT_EQ(ranks()[0].fabric().rma_endpoints().fragments_under_way(), 1u);
  ranks()[1].transport.reset();
  ASSERT_TRUE(ranks().eventually([&] { return ranks()[0].news.gone.count(1) != 0; }));
  EXPECT_EQ(ranks()[0].fabric().rma_endpoints().fragments_under_way(), 0u)
      << "our RMA endpoint has ended";
  EXPECT_EQ(done()[fragment.token], PH_ERR_PEER);
  EXPECT_EQ(ranks()[0].news.done_before_gone, done().size());
}

// It is posted again by the next RMA endpoint. Bytes of the first time that are still on their way
// must not arrive after those of the second: they would overwrite what was written there since.
TEST_F(OfiMemory, of_a_rank_that_lives_is_moved_once_although_our_rma_endpoint_ends_for_another) {
  std::vector<std::byte> third(kRegionBytes);
  const PostedFragment to_third = begin_with_third(third);
  ranks()[0].fabric().rma_endpoints().hold(true);
  ranks()[2].fabric().rma_endpoints().hold_landings(true);
  ASSERT_TRUE(us().post(write()));
  ASSERT_TRUE(us().post(to_third));
  ASSERT_TRUE(ranks().eventually(
      [&] { return ranks()[0].fabric().rma_endpoints().fragments_under_way() == 2; }));
  ranks()[1].transport.reset();
  ASSERT_TRUE(ranks().eventually([&] { return ranks()[0].news.gone.count(1) != 0; }));
  EXPECT_EQ(done().count(to_third.token), 0u);
  ranks()[0].fabric().rma_endpoints().hold(false);
  ASSERT_TRUE(ranks().eventually([&] { return done().count(to_third.token) != 0; }));
  EXPECT_EQ(done()[to_third.token], PH_OK);
  EXPECT_TRUE(std::equal(source_.begin(), source_.end(), third.begin()));
  const std::vector<std::byte> since(kRegionBytes, std::byte{0x55});
  third = since;
  ranks()[2].fabric().rma_endpoints().hold_landings(false);
  ranks().settle();
  EXPECT_TRUE(third == since);
  EXPECT_EQ(ranks()[2].fabric().rma_endpoints().opened(), 2u);
}

TEST_F(OfiMemory, whose_owner_has_not_answered_is_let_go_of_when_that_ends) {
  begin();
  const PostedFragment fragment = write();
  ASSERT_TRUE(us().post(fragment));
  ranks()[1].transport.reset();
  ASSERT_TRUE(ranks().eventually([&] { return ranks()[0].news.gone.count(1) != 0; }));
  EXPECT_EQ(done()[fragment.token], PH_ERR_PEER);
  const PostedFragment late = write();
  EXPECT_EQ(outcome(late), PH_ERR_PEER);
}

// No more than its slots, whoever else has some; the fake counts what is under way.
TEST_F(OfiMemory, of_a_peer_that_does_not_answer_takes_no_room_of_others) {
  begin(rma_endpoints(), 3);
  ASSERT_TRUE(ranks().join(0, 2));
  std::size_t posted = 0;
  while (us().post(write())) ++posted;
  EXPECT_EQ(posted, kMostFragments);
  PostedFragment other = write();
  other.rank = 2;
  EXPECT_TRUE(us().post(other));
  ASSERT_TRUE(over(posted + 1));
  EXPECT_EQ(done()[other.token], PH_ERR_KEY);
}

// It computes: the flusher sees to the provider.
TEST_F(OfiMemory, is_moved_although_our_rank_makes_no_calls) {
  begin({.completes_after = 20, .has_rma_endpoints = true});
  use_twice();
  std::fill(memory_.begin(), memory_.end(), std::byte{0});
  ASSERT_TRUE(us().post(write()));
  while (ranks()[0].fabric().rma_endpoints().fragments_under_way() != 0) std::this_thread::yield();
  EXPECT_TRUE(is_there());
}

// The question and the answer as well.
TEST_F(OfiMemory, is_moved_although_our_rank_makes_no_calls_from_the_first_one_on) {
  begin();
  ASSERT_TRUE(us().post(write()));
  while (!ranks()[1].fabric().rma_endpoints().opened()) them().poll(ranks()[1].news);
  while (ranks()[0].fabric().rma_endpoints().opened() == 0 ||
         ranks()[0].fabric().rma_endpoints().fragments_under_way() != 0)
    std::this_thread::yield();
  ASSERT_TRUE(over(1));
  EXPECT_TRUE(is_there());
}

}  // namespace
}  // namespace photon::transport::ofi::test
