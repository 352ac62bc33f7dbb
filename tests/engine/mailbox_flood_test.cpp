// A flood of mails to no mailbox, by peers that read nothing of what they are told.
#include <malloc.h>

#include "attack.hpp"
#include "service/mailbox/mailboxes.hpp"

namespace photon::test {
namespace {

using service::mailbox::kMostMails;
using service::mailbox::Mailboxes;

constexpr std::int64_t kFlatBytes = 64 << 10;

// Of this process; 0 where another allocator stands in for the usual one.
std::int64_t private_bytes() {
  const struct mallinfo2 all = ::mallinfo2();
  return static_cast<std::int64_t>(all.uordblks + all.hblkhd);
}

class Flood : public Attack {
 public:
  using Attack::Attack;

  Mailboxes& mailboxes(Rank rank) {
    return *static_cast<Mailboxes*>(ranks()[rank].service(wire::Owner::mailbox));
  }
  // By the attacker, whose engine stands still.
  void mails(std::uint64_t count) {
    constexpr std::uint64_t kAtOnce = 8;
    for (std::uint64_t i = 0; i < count; ++i) {
      post(wire::encode(Kind::message, 32, 0, wire::Owner::mailbox), 1, {1 | 8 << 16, 77, 0, i});
      if (i % kAtOnce == kAtOnce - 1 || i + 1 == count) serve_alone();
    }
  }
  // By the friend, who takes in nothing. How many.
  std::uint64_t honest_mails() {
    const std::uint64_t word = 5;
    std::uint64_t sent = 0;
    while (mailboxes(kFriend).sender().put_u64(kVictim, 77, 0,
                                               std::as_bytes(std::span(&word, 1))) == PH_OK)
      ++sent;
    serve_alone();
    return sent;
  }
  void serve_alone() {
    const std::int64_t before = private_bytes();
    for (int i = 0; i < 4; ++i) ranks()[kVictim].serve();
    grown_ += private_bytes() - before;
  }
  std::int64_t grown() const { return grown_; }

 private:
  std::int64_t grown_ = 0;
};

class FloodOver : public testing::TestWithParam<Ground> {
 protected:
  void SetUp() override {
    if (private_bytes() == 0) GTEST_SKIP() << "nobody says how much memory is in use";
  }
};

TEST_P(FloodOver, a_flood_to_nobody_leaves_memory_flat) {
  Flood flood(GetParam());
  flood.mails(1000);
  const std::int64_t before = flood.grown();
  flood.mails(200'000);
  EXPECT_LE(flood.grown() - before, kFlatBytes);
  EXPECT_EQ(flood.status_of_attacker(), PH_OK);
  EXPECT_FALSE(flood.mailboxes(kVictim).receiver().is_idle()) << "it is told, if it reads";
  flood.expect_nothing_else_harmed();
}

TEST_P(FloodOver, one_that_keeps_to_its_credit_stops_and_costs_no_more) {
  Flood flood(GetParam());
  static_cast<void>(flood.honest_mails());
  std::uint64_t sent = 0;
  for (std::uint64_t more = 1; more != 0; sent += more) more = flood.honest_mails();
  EXPECT_GT(sent, 100u);
  EXPECT_LE(flood.grown(), kFlatBytes);
  EXPECT_EQ(flood.honest_mails(), 0u);
  flood.expect_nothing_else_harmed();
}

TEST_P(FloodOver, one_that_goes_on_without_any_credit_is_cut_off) {
  Flood flood(GetParam());
  flood.mails(kMostMails);
  EXPECT_EQ(flood.status_of_attacker(), PH_OK);
  flood.mails(kMostMails / 8);
  EXPECT_EQ(flood.status_of_attacker(), PH_ERR_PROTOCOL);
  EXPECT_LE(flood.grown(), kFlatBytes);
  EXPECT_TRUE(flood.mailboxes(kVictim).receiver().is_idle());
  flood.expect_nothing_else_harmed();
}

INSTANTIATE_TEST_SUITE_P(Grounds, FloodOver, testing::Values(Ground::fake, Ground::shm),
                         ground_name);

}  // namespace
}  // namespace photon::test
