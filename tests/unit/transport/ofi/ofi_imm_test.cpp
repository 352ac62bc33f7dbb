// Fragments that tell their target when they have landed: each once, and none that was not to.
#include <photon/memory.h>

#include <algorithm>
#include <random>
#include <thread>

#include "ofi_ranks.hpp"

namespace photon::transport::ofi::test {
namespace {

constexpr std::size_t kNamedBytes = 4096;
constexpr std::uint64_t kNamedKey = 0x1200 + 5;
constexpr std::size_t kFragmentBytes = 1000;
constexpr std::uint32_t kOfThird = 1 << 20;

// Rank 0 writes to memory of rank 1.
class OfiImm : public OfiTest {
 protected:
  static FakeManners tellers() { return {.has_rma_endpoints = true, .data_bytes = 8}; }
  // Nobody drives rank 0 while rank 1 takes memory back, so it is mostly too late with its answer.
  static constexpr OfiOptions kHasty{.give_back_ns = 2'000'000};
  void begin(const FakeManners& manners = tellers(), std::uint32_t count = 2,
             const OfiOptions& options = {}) {
    base::Config config = ofi_config();
    config.ofi_direct_least_bytes = 64;
    ranks_ = std::make_unique<OfiRanks>(count, manners, config, options, OfiTime::real);
    ASSERT_TRUE(ranks().join(0, 1));
    publish();
    if (count == 2) return;
    ASSERT_TRUE(ranks().join(0, 2));
    ranks()[2].transport->regions()[kNamedKey & 63].publish(
        kNamedKey, {reinterpret_cast<std::uintptr_t>(third_.data()), kNamedBytes, PH_ACCESS_ALL});
  }
  PostedFragment write_to_third(std::uint32_t imm) {
    PostedFragment fragment = write(imm);
    fragment.rank = 2;
    fragment.address = reinterpret_cast<std::uintptr_t>(third_.data());
    return fragment;
  }
  OfiRanks& ranks() { return *ranks_; }
  Transport& us() { return *ranks()[0].transport; }
  Transport& them() { return *ranks()[1].transport; }
  auto& our_rma_endpoints() { return ranks()[0].fabric().rma_endpoints(); }
  std::map<std::uint64_t, ph_status>& done() { return ranks()[0].news.done; }
  std::map<std::uint32_t, unsigned>& told() { return ranks()[1].news.told; }
  void publish(std::uint64_t key = kNamedKey) {
    them().regions()[key & 63].publish(
        key, {reinterpret_cast<std::uintptr_t>(memory_.data()), kNamedBytes, PH_ACCESS_ALL});
  }
  void revoke(std::uint64_t key = kNamedKey) { them().regions()[key & 63].revoke(); }
  // Its token is its name.
  PostedFragment write(std::uint32_t imm, std::uint64_t key = kNamedKey) {
    PostedFragment fragment;
    fragment.rank = 1;
    fragment.address = reinterpret_cast<std::uintptr_t>(memory_.data());
    fragment.key = key;
    fragment.size_bytes = source_.size();
    fragment.source = source_.data();
    fragment.token = imm;
    fragment.imm = imm;
    return fragment;
  }
  bool over(std::size_t count) {
    return ranks().eventually([&] { return done().size() >= count; });
  }
  // A lease that is kept.
  void use_twice() {
    for (std::uint32_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(us().post(write(i)));
      ASSERT_TRUE(over(i + 1));
    }
    ranks().settle();
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(kNamedBytes);
  std::vector<std::byte> third_ = std::vector<std::byte>(kNamedBytes);
  std::vector<std::byte> source_ = std::vector<std::byte>(kFragmentBytes, std::byte{7});
  std::unique_ptr<OfiRanks> ranks_;
};

TEST_F(OfiImm, tell_where_the_provider_carries_data) {
  begin();
  EXPECT_TRUE(us().has_imm(1));
  EXPECT_FALSE(us().has_imm(0)) << "itself";
  EXPECT_EQ(us().imm_bits(), 28u);
  begin({.has_rma_endpoints = true});
  EXPECT_FALSE(us().has_imm(1));
  begin({.has_rma_endpoints = true, .data_bytes = 4});
  EXPECT_TRUE(us().has_imm(1));
  ASSERT_TRUE(us().post(write(3)));
  ASSERT_TRUE(over(1));
  EXPECT_EQ(told()[3], 1u);
}

// Whose target does not come: others wait, and are not named as long as the engine can choose.
TEST_F(OfiImm, go_no_faster_than_their_target_hears_of_them) {
  begin();
  use_twice();
  EXPECT_EQ(us().imm_room(1), 6u) << "it says that it has heard of them when half are used";
  ranks()[1].fabric().rma_endpoints().hold_told();
  for (std::uint32_t i = 2; i < 10; ++i) ASSERT_TRUE(us().post(write(i)));
  for (int i = 0; i < 1000; ++i) us().poll(ranks()[0].news);
  EXPECT_EQ(done().size(), 8u) << "the fake counts what is told and not read, too";
  EXPECT_EQ(us().imm_room(1), 0u);
  PostedFragment plain = write(99);
  plain.imm.reset();
  ASSERT_TRUE(us().post(plain));
  while (done().count(99) == 0) us().poll(ranks()[0].news);
  ranks()[1].fabric().rma_endpoints().hold_told(false);
  ASSERT_TRUE(over(11));
  ranks().settle();
  EXPECT_EQ(told().size(), 10u);
  EXPECT_GE(us().imm_room(1), 5u);
}

TEST_F(OfiImm, that_had_landed_when_their_rma_endpoint_ended_are_over_and_told_once) {
  begin();
  use_twice();
  our_rma_endpoints().hold(true);
  ASSERT_TRUE(us().post(write(2)));
  our_rma_endpoints().land_unanswered();
  revoke();
  them().quiesce();  // nobody answers
  std::fill(memory_.begin(), memory_.end(), std::byte{1});
  our_rma_endpoints().hold(false);
  ASSERT_TRUE(over(3));
  EXPECT_EQ(done()[2], PH_OK) << "though its key is revoked by now";
  ranks().settle();
  EXPECT_EQ(told()[2], 1u);
  EXPECT_EQ(memory_[0], std::byte{1}) << "it is not written again";
  EXPECT_TRUE(ranks()[0].news.gone.empty());
}

TEST_F(OfiImm, that_had_not_landed_when_their_rma_endpoint_ended_go_again) {
  begin();
  constexpr std::uint64_t kOther = 0x3400 + 6;
  publish(kOther);
  use_twice();
  our_rma_endpoints().hold(true);
  ASSERT_TRUE(us().post(write(2)));
  ASSERT_TRUE(us().post(write(3, kOther)));
  ranks().settle();
  revoke(kOther);
  std::thread peer([&] {
    for (int i = 0; i < 100; ++i) us().poll(ranks()[0].news);
  });
  peer.join();
  them().quiesce();
  our_rma_endpoints().hold(false);
  ASSERT_TRUE(over(4));
  ranks().settle();
  EXPECT_EQ(done()[2], PH_OK);
  EXPECT_EQ(done()[3], PH_ERR_KEY);
  EXPECT_EQ(told()[2], 1u);
  EXPECT_EQ(told().count(3), 0u);
}

TEST_F(OfiImm, that_are_refused_tell_nothing) {
  begin();
  use_twice();
  PostedFragment wrong = write(2);
  wrong.address += kNamedBytes;
  ASSERT_TRUE(us().post(wrong));
  ASSERT_TRUE(us().post(write(3, 0x7700 + 7)));
  ASSERT_TRUE(over(4));
  ranks().settle();
  EXPECT_EQ(done()[2], PH_ERR_RANGE);
  EXPECT_EQ(done()[3], PH_ERR_KEY);
  EXPECT_EQ(told().size(), 2u);
}

// Who fails without a reason goes again for a while, since we have had its RMA endpoint ended, and
// no longer.
TEST_F(OfiImm, that_fail_for_no_reason_end_the_peer) {
  begin();
  use_twice();
  our_rma_endpoints().fail(true);
  ASSERT_TRUE(us().post(write(2)));
  ASSERT_TRUE(ranks().eventually([&] { return !ranks()[0].news.gone.empty(); }));
  EXPECT_NE(ranks()[0].news.gone[1].what.find("fake trouble"), std::string::npos);
  EXPECT_EQ(done()[2], PH_ERR_PEER);
  EXPECT_EQ(told().count(2), 0u);
}

TEST_F(OfiImm, of_strangers_are_counted_and_tell_nothing) {
  begin();
  use_twice();
  const auto refused = [&](Refusal why) { return ranks()[1].ofi().refused(why); };
  const std::uint64_t before = refused(Refusal::wrong_key);
  ranks()[1].fabric().rma_endpoints().tell_us(2);                        // no tag
  ranks()[1].fabric().rma_endpoints().tell_us(2 | 0xdeadbeefULL << 32);  // nor that one
  ranks().settle();
  EXPECT_EQ(refused(Refusal::wrong_key), before + 2);
  EXPECT_EQ(told().count(2), 0u);
  const std::uint32_t own = wire::ImmCodec(2, kImmBits).of(1, 5);
  ranks()[1].fabric().rma_endpoints().tell_us(own);
  ranks().settle();
  EXPECT_EQ(refused(Refusal::unexpected), 1u) << "our own";
  EXPECT_TRUE(ranks()[1].news.gone.empty());
}

// Our RMA endpoint ends, since rank 2 has ended with fragments under way; what else went by it may
// have landed, may land later, or not at all.
TEST_F(OfiImm, whose_own_rma_endpoint_ends_tell_once) {
  begin(tellers(), 3);
  use_twice();
  ASSERT_TRUE(us().post(write_to_third(2)));
  ASSERT_TRUE(over(3));
  our_rma_endpoints().hold(true);
  ranks()[1].fabric().rma_endpoints().hold_landings(true);
  ASSERT_TRUE(us().post(write(3)));
  our_rma_endpoints().land_unanswered();
  ASSERT_TRUE(us().post(write(4)));
  ASSERT_TRUE(us().post(write_to_third(5)));
  ASSERT_TRUE(ranks().eventually([&] { return our_rma_endpoints().fragments_under_way() == 3; }));
  ranks()[2].transport.reset();
  ASSERT_TRUE(ranks().eventually([&] { return ranks()[0].news.gone.count(2) != 0; }));
  our_rma_endpoints().hold(false);
  ASSERT_TRUE(ranks().eventually([&] { return done().count(3) + done().count(4) == 2; }));
  ranks()[1].fabric().rma_endpoints().hold_landings(false);
  ranks().settle();
  EXPECT_EQ(done()[3], PH_OK);
  EXPECT_EQ(done()[4], PH_OK);
  EXPECT_EQ(done()[5], PH_ERR_PEER);
  EXPECT_EQ(told()[3], 1u);
  EXPECT_EQ(told()[4], 1u);
}

// Those that wait for a lease take what the others would.
TEST_F(OfiImm, that_wait_count_as_such_that_go) {
  begin();
  EXPECT_EQ(us().imm_room(1), 8u);
  for (std::uint32_t i = 0; i < 8; ++i) ASSERT_TRUE(us().post(write(i)));
  EXPECT_EQ(us().imm_room(1), 0u);
  ASSERT_TRUE(over(8));
  ranks().settle();
  EXPECT_EQ(told().size(), 8u);
}

// Whatever a NIC throws away of what its endpoint was told, when that ends.
TEST_F(OfiImm, that_were_over_before_their_target_looked_are_told_when_its_rma_endpoint_ends) {
  begin(tellers(), 3);
  ASSERT_TRUE(ranks().join(2, 1));
  use_twice();
  ranks()[2].fabric().rma_endpoints().hold(true);
  ASSERT_TRUE(ranks()[2].transport->post(write(77)));
  ASSERT_TRUE(ranks().eventually(
      [&] { return ranks()[2].fabric().rma_endpoints().fragments_under_way() == 1; }));
  ranks()[2].transport.reset();  // its lease is out, so that nobody is waited for
  ranks().settle();
  ASSERT_TRUE(us().post(write(2)));
  while (done().count(2) == 0) us().poll(ranks()[0].news);
  revoke();
  ranks()[1].fabric().rma_endpoints().hold_told();
  them().quiesce();
  ranks().settle();
  EXPECT_EQ(told()[2], 1u);
  constexpr std::uint64_t kOther = 0x3400 + 6;
  publish(kOther);
  for (std::uint32_t i = 100; i < 115; ++i) {  // the 16th has the same number
    ASSERT_TRUE(us().post(write(i, kOther)));
    ASSERT_TRUE(ranks().eventually([&] { return done().count(i) == 1; }));
  }
  ranks().settle();
  our_rma_endpoints().hold(true);
  ASSERT_TRUE(us().post(write(200, kOther)));
  our_rma_endpoints().land_unanswered();
  ranks().settle();
  revoke(kOther);
  them().quiesce();
  our_rma_endpoints().hold(false);
  ASSERT_TRUE(ranks().eventually([&] { return done().count(200) == 1; }));
  ranks().settle();
  EXPECT_EQ(done()[200], PH_OK);
  EXPECT_EQ(told()[200], 1u);
}

TEST_F(OfiImm, that_fail_for_their_owners_reasons_go_on_for_ever) {
  begin(tellers(), 2, kHasty);
  use_twice();
  our_rma_endpoints().hold(true);
  ASSERT_TRUE(us().post(write(2)));
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t key = 0x3400 + 6 + 64 * i;
    publish(key);
    PostedFragment plain = write(1000 + static_cast<std::uint32_t>(i), key);
    plain.imm.reset();
    ASSERT_TRUE(us().post(plain));
    ASSERT_TRUE(ranks().eventually([&] { return our_rma_endpoints().fragments_under_way() == 2; }));
    revoke(key);
    them().quiesce();
    our_rma_endpoints().hold(false);
    while (our_rma_endpoints().fragments_under_way() != 0) us().poll(ranks()[0].news);
    our_rma_endpoints().hold(true);
    ASSERT_TRUE(ranks().eventually([&] {
      return !ranks()[0].news.gone.empty() ||
             (done().count(plain.token) == 1 && our_rma_endpoints().fragments_under_way() == 1);
    }));
    ASSERT_TRUE(ranks()[0].news.gone.empty()) << ranks()[0].news.gone[1].what;
  }
  our_rma_endpoints().hold(false);
  ASSERT_TRUE(ranks().eventually([&] { return done().count(2) == 1; }));
  ranks().settle();
  EXPECT_EQ(done()[2], PH_OK);
  EXPECT_EQ(told()[2], 1u);
}

// Of some providers the size of data says what messages carry.
TEST_F(OfiImm, by_a_provider_whose_writes_bear_no_data_after_all_are_told_by_messages) {
  FakeManners manners = tellers();
  manners.refuses_data = true;
  begin(manners);
  for (std::uint32_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(us().post(write(i)));
    ASSERT_TRUE(over(i + 1));
  }
  ranks().settle();
  EXPECT_EQ(told().size(), 50u);
  for (const auto& [imm, times] : told()) EXPECT_EQ(times, 1u) << imm;
  EXPECT_EQ(us().imm_room(1), 8u - 50 % 4);
}

TEST_F(OfiImm, of_strangers_where_there_are_no_names_change_nothing) {
  begin({});
  for (int i = 0; i < 9; ++i) ranks()[1].fabric().rma_endpoints().tell_us(0);
  ranks().settle();
  EXPECT_EQ(told().size(), 0u);
  EXPECT_EQ(ranks()[1].ofi().refused(Refusal::unexpected), 9u);
  EXPECT_TRUE(ranks()[1].news.gone.empty());
}

// RMA endpoints that end at either side at any time, late answers and full queues: who is over and
// well has told once, who is refused never.
class RandomNames : public OfiImm, public testing::WithParamInterface<unsigned> {};
TEST_P(RandomNames, tell_once_or_never) {
  std::mt19937 dice(GetParam());
  const auto roll = [&](unsigned sides) { return static_cast<unsigned>(dice() % sides); };
  FakeManners manners = tellers();
  manners.refuses_every = 2 + roll(4);
  manners.completes_after = roll(5);
  manners.refuses_data = roll(5) == 0;
  manners.data_bytes = roll(4) == 0 ? 4 : 8;
  begin(manners, 3, kHasty);
  const int third_ends = 100 + static_cast<int>(roll(150));
  std::uint64_t key = kNamedKey;
  std::uint32_t imm = 0;
  std::set<std::uint32_t> posted;
  std::size_t to_third = 0;
  for (int step = 0; step < 300; ++step) {
    switch (roll(12)) {
      case 0: our_rma_endpoints().hold(roll(2) == 0); break;
      case 1:
        if (roll(3) == 0) ranks()[1].fabric().rma_endpoints().hold_told();
        if (roll(3) != 0) break;
        revoke(key);
        them().quiesce();
        key += 64;
        publish(key);
        break;
      case 2: static_cast<void>(our_rma_endpoints().land_unanswered_if_well()); break;
      case 3: ranks()[1].fabric().rma_endpoints().hold_landings(roll(2) == 0); break;
      case 4: them().poll(ranks()[1].news); break;
      case 5: us().poll(ranks()[0].news); break;
      case 6:
        if (step >= third_ends || !us().post(write_to_third(imm + kOfThird))) break;
        ++to_third;
        ++imm;
        break;
      default: {
        const bool is_stale = roll(8) == 0;
        if (!us().post(write(imm, is_stale ? key - 64 : key))) break;
        posted.insert(imm++);
      }
    }
    if (roll(3) == 0) ranks().turn();
    if (step == third_ends) ranks()[2].transport.reset();
  }
  our_rma_endpoints().hold(false);
  ranks()[1].fabric().rma_endpoints().hold_told(false);
  ranks()[1].fabric().rma_endpoints().hold_landings(false);
  ASSERT_TRUE(over(posted.size() + to_third));
  ranks().settle();
  ASSERT_EQ(ranks()[0].news.gone.count(1), 0u) << ranks()[0].news.gone[1].what;
  ASSERT_EQ(ranks()[1].news.gone.count(0), 0u) << ranks()[1].news.gone[0].what;
  for (const std::uint32_t one : posted) {
    ASSERT_EQ(done().count(one), 1u) << one;
    EXPECT_EQ(told()[one], done()[one] == PH_OK ? 1u : 0u)
        << one << " ended with " << ph_status_text(done()[one]);
    if (done()[one] != PH_OK) {
      EXPECT_EQ(done()[one], PH_ERR_KEY);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(seeds, RandomNames, testing::Range(1u, 41u));

}  // namespace
}  // namespace photon::transport::ofi::test
