// shm and tcp as the two sides of one rank; what the suite cannot ask, for it knows no sides.
#include <photon/memory.h>

#include "boot/proof.hpp"
#include "open_mixed.hpp"
#include "transport_harness.hpp"

namespace photon::test {
namespace {

// shm and tcp, ranks 0 and 2 on one host.
class MixedRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (!boot::can_prove()) GTEST_SKIP() << "this library was built without OpenSSL";
    ASSERT_TRUE(job_.opened());
    ASSERT_TRUE(job_.join(0, 1));
    ASSERT_TRUE(job_.join(0, 2));
  }
  ph_path path(transport::Rank to) {
    ph_path path{};
    job_[0].transport().describe(to, path);
    return path;
  }
  ph_status write_from_1(std::uint64_t& word, std::uint64_t key, std::uint64_t token) {
    transport::PostedFragment fragment;
    fragment.rank = 0;
    fragment.address = reinterpret_cast<std::uintptr_t>(&word);
    fragment.key = key;
    fragment.size_bytes = sizeof value_;
    fragment.source = reinterpret_cast<const std::byte*>(&value_);
    fragment.token = token;
    EXPECT_TRUE(job_[1].transport().post(fragment));
    auto& done = job_[1].done();
    EXPECT_TRUE(job_.eventually([&] { return !done.empty() && done.back().token == token; }));
    return done.back().status;
  }

  TransportHarness job_{{"mixed", open_mixed, []() -> const char* { return nullptr; }, 2}, 3};
  const std::uint64_t value_ = 42;
  Watchdog watchdog_{std::chrono::seconds(60)};
};

TEST_F(MixedRanks, each_peer_has_its_own_path_and_it_says_why) {
  EXPECT_STREQ(path(0).transport, "self");
  EXPECT_STREQ(path(1).transport, "tcp");
  EXPECT_TRUE(std::string(path(1).reason).starts_with("on another host: ")) << path(1).reason;
  EXPECT_STREQ(path(2).transport, "shm");
  EXPECT_TRUE(std::string(path(2).reason).starts_with("on this host: ")) << path(2).reason;
  EXPECT_EQ(path(2).arena_mapped, 1);
}

TEST_F(MixedRanks, one_registration_is_seen_by_peers_of_both_sides_and_taken_back_for_both) {
  std::uint64_t word = 0;
  constexpr std::uint64_t kKey = 0xab00 + 5;
  transport::RegionEntry& entry = job_[0].transport().regions()[5];
  entry.publish(kKey, {reinterpret_cast<std::uintptr_t>(&word), sizeof word, PH_ACCESS_ALL});
  sync::RegionView view;
  const transport::RegionEntry* seen = job_[2].to(0).link().peer_regions;
  ASSERT_NE(seen, nullptr);
  EXPECT_TRUE(seen[5].read(kKey, view));
  EXPECT_EQ(write_from_1(word, kKey, 1), PH_OK);
  EXPECT_EQ(word, value_);
  entry.revoke();
  job_[0].transport().quiesce();
  EXPECT_FALSE(seen[5].read(kKey, view));
  EXPECT_EQ(write_from_1(word, kKey, 2), PH_ERR_KEY);
}

// Rank 0 sleeps for each record anew; the others are driven by the test's thread.
TEST_F(MixedRanks, a_sleeper_is_woken_by_peers_of_either_side) {
  constexpr std::uint64_t kRounds = 300;
  const auto sender_of = [](std::uint64_t round) { return transport::Rank(1 + round % 2); };
  std::thread sleeper([&] {
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      Channel& from = job_[0].to(sender_of(i));
      job_[0].wait_until([&] { return from.has_record(); });
      EXPECT_EQ(from.receive(), record_of_lines(1, i));
      from.give_back();
    }
  });
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    Peer& sender = job_[sender_of(i)];
    while (!sender.to(0).send(record_of_lines(1, i))) sender.poll();
    if (i % 3 == 0) sender.poll();
  }
  sleeper.join();
}

}  // namespace
}  // namespace photon::test
