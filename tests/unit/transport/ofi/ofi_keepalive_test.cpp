// Who gets nothing of what is sent, and who is only slow.
#include "transport/ofi/ofi_keepalive.hpp"

#include "ofi_ranks.hpp"

namespace photon::transport::ofi::test {
namespace {

using Due = OfiKeepalive::Due;

constexpr std::int64_t kLimit = 30;

TEST(OfiKeepaliveTest, a_third_of_the_time_without_a_word_is_a_reason_to_ask) {
  OfiKeepalive keepalive;
  EXPECT_EQ(keepalive.look(100, kLimit), Due::nothing);
  EXPECT_EQ(keepalive.look(109, kLimit), Due::nothing);
  EXPECT_EQ(keepalive.look(110, kLimit), Due::question);
  EXPECT_EQ(keepalive.look(119, kLimit), Due::nothing);
  EXPECT_EQ(keepalive.look(120, kLimit), Due::question);
}

TEST(OfiKeepaliveTest, who_does_not_answer_is_not_lost) {
  OfiKeepalive keepalive;
  for (std::int64_t now = 100; now < 1000; now += 5)
    EXPECT_NE(keepalive.look(now, kLimit), Due::loss);
}

TEST(OfiKeepaliveTest, who_has_said_twice_that_it_lacks_some_is_lost_when_the_time_is_over) {
  OfiKeepalive keepalive;
  static_cast<void>(keepalive.look(100, kLimit));
  keepalive.missed();
  EXPECT_NE(keepalive.look(130, kLimit), Due::loss) << "once is a coincidence";
  keepalive.missed();
  EXPECT_EQ(keepalive.look(131, kLimit), Due::loss);
}

TEST(OfiKeepaliveTest, any_word_begins_the_time_anew) {
  OfiKeepalive keepalive;
  static_cast<void>(keepalive.look(100, kLimit));
  keepalive.missed();
  keepalive.missed();
  keepalive.heard();
  EXPECT_EQ(keepalive.look(131, kLimit), Due::nothing);
  keepalive.missed();
  keepalive.missed();
  EXPECT_NE(keepalive.look(160, kLimit), Due::loss);
  EXPECT_EQ(keepalive.look(161, kLimit), Due::loss);
}

class OfiSilent : public OfiTest {
 protected:
  static base::Config impatient() {
    base::Config config = ofi_config();
    config.tcp_silence_s = 0;  // less than the setting may be
    return config;
  }
};

TEST_F(OfiSilent, a_peer_that_gets_nothing_is_cut_off_and_both_are_told) {
  OfiRanks ranks(2, {}, impatient());
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[0].fabric().stick(true);
  ASSERT_TRUE(ranks[0].say(1, 7));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.gone.count(0) == 1; }));
  ASSERT_EQ(ranks[0].news.gone.count(1), 1u);
  EXPECT_EQ(ranks[0].news.gone[1].status, PH_ERR_PEER);
  EXPECT_NE(ranks[0].news.gone[1].what.find("network between us is cut"), std::string::npos)
      << ranks[0].news.gone[1].what;
  EXPECT_NE(ranks[1].news.gone[0].what.find("has cut this rank off"), std::string::npos)
      << ranks[1].news.gone[0].what;
}

TEST_F(OfiSilent, who_asked_for_a_peer_that_cannot_reach_it_is_told) {
  OfiRanks ranks(2, {}, impatient());
  ranks[0].fabric().stick(true);
  ranks[1].fabric().stick(true);
  ranks[0].to(1);
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_EQ(ranks[0].news.gone[1].status, PH_ERR_PEER);
}

TEST_F(OfiSilent, a_peer_that_has_all_is_asked_and_stays) {
  OfiRanks ranks(2, {}, impatient());
  ASSERT_TRUE(ranks.join(0, 1));
  ASSERT_TRUE(ranks[0].say(1, 7));
  ranks.turn_for(3'500'000'000);  // three looks
  EXPECT_TRUE(ranks[0].news.gone.empty());
  EXPECT_TRUE(ranks[1].news.gone.empty());
}

}  // namespace
}  // namespace photon::transport::ofi::test
