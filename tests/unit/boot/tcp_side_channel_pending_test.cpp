// Who is let in, who is not, and that it costs the others nothing.
#include "tcp_side_channel_ranks.hpp"

namespace photon::boot::test {
namespace {

using TcpSideChannelPending = TcpSideChannelTest;

Hello hello_to_0() {
  Hello hello;
  hello.magic = kSideChannelProtocol.magic;
  hello.version = kSideChannelProtocol.version;
  hello.from = 1;
  return hello;
}

TEST_F(TcpSideChannelPending, who_is_no_rank_of_the_job_is_refused_and_counted) {
  TcpSideChannelRanks ranks(2);
  const std::string garbage(200, 'g');
  std::uint64_t count = 0;
  const auto expect_refused = [&](std::span<const std::byte> words,
                                  std::span<const std::byte> proof = {}) {
    Caller caller(ranks[0].address());
    caller.say(words);
    caller.say(proof);
    EXPECT_TRUE(ranks.eventually([&] { return ranks[0].refused_count() > count; }));
    EXPECT_TRUE(ranks.eventually([&] { return caller.is_closed(); }));
    EXPECT_EQ(ranks[0].refused_count(), ++count);
  };
  expect_refused(std::as_bytes(std::span(garbage)));
  Hello hello = hello_to_0();
  expect_refused(bytes_of(hello), Proof{std::byte{1}});
  ++hello.version;
  expect_refused(bytes_of(hello));
  hello = hello_to_0();
  hello.from = 2;
  expect_refused(bytes_of(hello));
  hello = hello_to_0();
  hello.to = 1;
  expect_refused(bytes_of(hello));
  ranks.join(0, 1);
  EXPECT_TRUE(ranks.got(0).empty());
}

TEST_F(TcpSideChannelPending, who_hangs_up_before_he_is_known_is_nobodys_fault) {
  TcpSideChannelRanks ranks(2);
  Caller caller(ranks[0].address());
  caller.say(bytes_of(kSideChannelProtocol.magic));
  ranks.turn(0);
  caller.close();
  ranks.join(1, 0);
  EXPECT_EQ(ranks[0].refused_count(), 0u);
}

TEST_F(TcpSideChannelPending, half_open_connections_make_room_for_others_and_stall_nobody) {
  TcpSideChannelRanks ranks(2);
  std::vector<std::unique_ptr<Caller>> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(std::make_unique<Caller>(ranks[0].address()));
    if (i % 2 == 0) silent.back()->say(bytes_of(kSideChannelProtocol.magic));
    ranks.turn(0);
  }
  EXPECT_TRUE(ranks.eventually([&] { return ranks[0].refused_count() == 100 - 64; }));
  ranks.join(1, 0);
}

TEST_F(TcpSideChannelPending, a_rank_that_sends_nonsense_is_gone_and_the_others_are_not) {
  const struct {
    SideFrameKind kind;
    std::uint32_t size_bytes;
  } kNonsense[] = {{SideFrameKind{3}, 0},
                   {SideFrameKind{0}, 8},
                   {SideFrameKind::message, 1025},
                   {SideFrameKind::message, 0xffff'ffff},
                   {SideFrameKind::bye, 1}};
  for (const auto& nonsense : kNonsense) {
    TcpSideChannelRanks ranks(3);
    FalseSender sender(ranks, 1, 0);
    sender.say(SideFrameKind::message, 2, "ok");
    sender.say(nonsense.kind, nonsense.size_bytes, "");
    EXPECT_TRUE(
        ranks.eventually_got(0, {"1:ok", "1 is gone: sent what no rank of this library sends"}));
    EXPECT_TRUE(sender.caller().is_closed());
    ranks.join(0, 2);
  }
}

TEST_F(TcpSideChannelPending, a_message_that_comes_byte_by_byte_is_put_together) {
  TcpSideChannelRanks ranks(2);
  FalseSender sender(ranks, 1, 0);
  const SideFrameHead head{SideFrameKind::message, 5};
  const std::string text = std::string(reinterpret_cast<const char*>(&head), 8) + "hello";
  for (const char& byte : text) {
    EXPECT_TRUE(ranks.got(0).empty());
    sender.caller().say(std::as_bytes(std::span(&byte, 1)));
    ranks.turn(0);
  }
  EXPECT_TRUE(ranks.eventually_got(0, {"1:hello"}));
}

// It may have dialed twice, and does not say by which it will send until it does.
TEST_F(TcpSideChannelPending, of_two_connections_of_a_rank_that_counts_by_which_it_sends_first) {
  TcpSideChannelRanks ranks(2);
  FalseSender given_up(ranks, 1, 0), used(ranks, 1, 0);
  used.say(SideFrameKind::message, 1, "a");
  ASSERT_TRUE(ranks.eventually_got(0, {"1:a"}));
  given_up.say(SideFrameKind::message, 1, "b");
  EXPECT_TRUE(ranks.eventually([&] { return given_up.caller().is_closed(); }));
  EXPECT_EQ(ranks[0].refused_count(), 1u);
  used.say(SideFrameKind::message, 1, "c");
  EXPECT_TRUE(ranks.eventually_got(0, {"1:a", "1:c"}));
}

TEST_F(TcpSideChannelPending, an_attempt_that_is_given_up_is_no_end_of_its_rank) {
  TcpSideChannelRanks ranks(2);
  { FalseSender given_up(ranks, 1, 0); }
  ranks.join(1, 0);
}

TEST_F(TcpSideChannelPending,
       the_end_of_a_connection_out_waits_for_the_last_message_of_the_one_in) {
  TcpSideChannelRanks ranks(2);
  ranks.join(0, 1);
  ASSERT_TRUE(*ranks.send(1, 0, "last words"));
  ranks[1].leave();
  EXPECT_TRUE(ranks.eventually_got(0, {"1:last words", "1 is gone: has left"}));
}

}  // namespace
}  // namespace photon::boot::test
