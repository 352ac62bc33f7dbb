// Ways out, and what there may be at the other end of them.
#include "few_descriptors.hpp"
#include "tcp_side_channel_ranks.hpp"

namespace photon::boot::test {
namespace {

// Somebody's listener in the place of a rank's.
struct Impostor {
  Listener listener = std::move(*listen_at(*choose_address("127.0.0.1", true)));
  std::vector<base::UniqueFd> callers;

  bool took() {
    base::UniqueFd one(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_NONBLOCK));
    const bool came = static_cast<bool>(one);
    if (came) callers.push_back(std::move(one));
    return came;
  }
};

using TcpSideChannelDial = TcpSideChannelTest;

TEST_F(TcpSideChannelDial, a_rank_whose_listener_is_closed_is_gone_at_once) {
  TcpSideChannelRanks ranks(2);
  ranks.drop(1);
  ASSERT_TRUE(ranks.send(0, 1, "anybody there?"));
  EXPECT_TRUE(ranks.eventually_got(0, {"1 is gone: has ended: nobody listens at its address"}));
  EXPECT_TRUE(ranks[0].idle());
  EXPECT_FALSE(*ranks.send(0, 1, "anybody there?"));
}

TEST_F(TcpSideChannelDial, who_cannot_prove_to_be_the_rank_hears_nothing_of_the_message) {
  Impostor impostor;
  TcpSideChannelRanks ranks(2, {.places = {{1, impostor.listener.address}}});
  ASSERT_TRUE(*ranks.send(0, 1, "secret"));
  ASSERT_TRUE(ranks.eventually([&] { return impostor.took(); }));
  const std::string garbage(sizeof(Challenge), 'g');
  ASSERT_EQ(::send(impostor.callers[0].get(), garbage.data(), garbage.size(), 0), 64);
  EXPECT_TRUE(ranks.eventually_got(
      0, {"1 is gone: cannot be met: who answers at its address cannot prove to be it"}));
  char heard[256];
  EXPECT_EQ(::recv(impostor.callers[0].get(), heard, sizeof heard, 0), 56) << "but its hello";
}

TEST_F(TcpSideChannelDial, who_is_thrown_out_before_the_welcome_comes_again) {
  auto impostor = std::make_unique<Impostor>();
  TcpSideChannelRanks ranks(2, {.places = {{1, impostor->listener.address}}, .round_ns = kRoundNs});
  ASSERT_TRUE(*ranks.send(0, 1, "hello"));
  for (int times = 0; times < 8; ++times) {
    ASSERT_TRUE(ranks.eventually([&] { return impostor->took(); })) << times;
    impostor->callers.clear();
  }
  EXPECT_TRUE(ranks.got(0).empty());
  impostor.reset();
  EXPECT_TRUE(ranks.eventually_got(0, {"1 is gone: has ended: nobody listens at its address"}));
}

TEST_F(TcpSideChannelDial, without_a_descriptor_left_it_says_so_and_goes_on_when_there_is_one) {
  TcpSideChannelRanks ranks(2, {.log = base::LogLevel::warn});
  rlim_t limit = 0;
  testing::internal::CaptureStderr();
  {
    const photon::test::FewDescriptors none(0);
    limit = none.limit();
    ASSERT_TRUE(*ranks.send(0, 1, "hello"));
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("no socket yet to reach rank 1"), std::string::npos) << said;
  photon::test::expect_names_limit(said, limit);
  EXPECT_TRUE(ranks.eventually_got(1, {"0:hello"}));
}

// A word that came by the way of a rank that cannot be answered: both hear that it is over.
TEST_F(TcpSideChannelDial, who_can_be_heard_and_not_be_answered_is_gone_on_both_sides) {
  auto impostor = std::make_unique<Impostor>();
  TcpSideChannelRanks ranks(2, {.places = {{0, impostor->listener.address}}});
  impostor.reset();
  ASSERT_TRUE(*ranks.send(0, 1, "hello"));
  ASSERT_TRUE(ranks.eventually_got(1, {"0:hello"}));
  ASSERT_TRUE(ranks.send(1, 0, "who is there?"));
  EXPECT_TRUE(ranks.eventually_got(0, {"1 is gone: closed its connection without a bye"}));
  EXPECT_TRUE(ranks.eventually([&] { return ranks.got(1).size() == 2; }));
  EXPECT_EQ(ranks.got(1).back().rfind("0 is gone", 0), 0u) << ranks.got(1).back();
}

// One where nobody listens, and a stranger who talks nonsense.
TEST_F(TcpSideChannelDial, who_is_not_at_one_address_is_met_at_the_next) {
  const Address closed = listen_at(*choose_address("127.0.0.1", true))->address;
  Impostor impostor;
  TcpSideChannelRanks ranks(2, {.before = {closed, impostor.listener.address}});
  ASSERT_TRUE(*ranks.send(0, 1, "hello"));
  ASSERT_TRUE(ranks.eventually([&] { return impostor.took(); }));
  const std::string garbage(sizeof(Challenge), 'g');
  ASSERT_EQ(::send(impostor.callers[0].get(), garbage.data(), garbage.size(), 0), 64);
  EXPECT_TRUE(ranks.eventually_got(1, {"0:hello"}));
  EXPECT_TRUE(ranks[0].met_at(1)->is_same_host(closed));
  EXPECT_FALSE(ranks[0].met_at(0));
}

TEST_F(TcpSideChannelDial, a_stranger_who_says_nothing_does_not_keep_us_from_the_next_address) {
  Impostor impostor;
  TcpSideChannelRanks ranks(2, {.before = {impostor.listener.address}, .round_ns = kRoundNs});
  ASSERT_TRUE(*ranks.send(0, 1, "hello"));
  EXPECT_TRUE(ranks.eventually_got(1, {"0:hello"}));
  EXPECT_TRUE(impostor.took());
}

// All rounds: also the last word about a rank is one for each address.
TEST_F(TcpSideChannelDial, who_is_at_none_of_its_addresses_is_gone_when_all_were_tried) {
  Impostor impostor;
  TcpSideChannelRanks ranks(2, {.before = {impostor.listener.address}});
  ranks.drop(1);
  ASSERT_TRUE(ranks.send(0, 1, "anybody there?"));
  ASSERT_TRUE(ranks.eventually([&] { return impostor.took(); }));
  const std::string garbage(sizeof(Challenge), 'g');
  ASSERT_EQ(::send(impostor.callers[0].get(), garbage.data(), garbage.size(), 0), 64);
  EXPECT_TRUE(ranks.eventually_got(0, {"1 is gone: has ended: nobody listens at its address"}));
}

// At the one address a stranger takes the connection and says nothing, at the other nobody listens.
TEST_F(TcpSideChannelDial,
       a_stranger_who_says_nothing_at_any_address_is_not_waited_for_without_end) {
  const Address closed = listen_at(*choose_address("127.0.0.1", true))->address;
  for (const bool silent_first : {true, false}) {
    Impostor impostor;
    TcpSideChannelRanks ranks(2,
                              {.places = {{1, silent_first ? closed : impostor.listener.address}},
                               .before = {silent_first ? impostor.listener.address : closed},
                               .silence_s = 1,
                               .log = base::LogLevel::warn,
                               .round_ns = kRoundNs});
    testing::internal::CaptureStderr();
    ASSERT_TRUE(*ranks.send(0, 1, "anybody there?"));
    ranks.eventually_got(0, {"1 is gone: cannot be connected to (setting tcp_interface)"});
    const std::string said = testing::internal::GetCapturedStderr();
    for (const std::string& word :
         {impostor.listener.address.text() + ": who answers there says nothing",
          closed.text() + ": Connection refused"})
      EXPECT_NE(said.find(word), std::string::npos) << said;
  }
}

// Rank 1 has shown by its word where it is, and makes no call then.
TEST_F(TcpSideChannelDial, a_rank_that_computes_is_waited_for_though_another_address_refuses) {
  const Address closed = listen_at(*choose_address("127.0.0.1", true))->address;
  TcpSideChannelRanks ranks(2, {.before = {closed}, .silence_s = 1, .round_ns = kRoundNs});
  ASSERT_TRUE(*ranks.send(1, 0, "hello"));
  ASSERT_TRUE(ranks.eventually_got(0, {"1:hello"}));
  ASSERT_TRUE(*ranks.send(0, 1, "hello"));
  for (int round = 0; round < 4'000; ++round) {
    ranks.time().move_ns(kRoundNs);
    ranks.turn(0);
  }
  EXPECT_TRUE(ranks.eventually_got(1, {"0:hello"}));
  EXPECT_EQ(ranks.got(0).size(), 1u) << ranks.got(0).back();
}

}  // namespace
}  // namespace photon::boot::test
