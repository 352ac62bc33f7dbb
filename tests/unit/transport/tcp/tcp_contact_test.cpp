// Who is let in, who is not, and what it costs.
#include <sys/socket.h>

#include <functional>
#include <utility>

#include "few_descriptors.hpp"
#include "given_time.hpp"
#include "tcp_ranks.hpp"

namespace photon::transport::tcp::test {
namespace {

boot::Hello hello_of(Rank from, Rank to) {
  boot::Hello hello;
  hello.magic = kProtocol.magic;
  hello.version = kProtocol.version;
  hello.from = from;
  hello.to = to;
  return hello;
}

// As a rank that has nothing else to do: asleep between its looks.
void rest(TcpSide& side) {
  side.transport->arm();
  side.transport->poll(side.news);
  if (side.news.gone.empty()) side.transport->sleep(20'000'000);
  side.transport->disarm();
  side.transport->poll(side.news);
}

// Between two looks of somebody who waits for a time-out of seconds. What the kernel does meanwhile
// is done in less: at one address it has a second, which is fifty looks.
constexpr std::int64_t kLookNs = 20'000'000;

using photon::test::GivenTime;

TEST(TcpContact, both_that_ask_at_the_same_time_have_one_connection) {
  for (const bool lower_first : {true, false}) {
    TcpRanks ranks(2);
    ranks[lower_first ? 0 : 1].to(lower_first ? 1 : 0);
    ranks[lower_first ? 1 : 0].to(lower_first ? 0 : 1);
    ASSERT_TRUE(ranks.join(0, 1));
    ranks.settle();
    EXPECT_TRUE(ranks[0].news.gone.empty());
    EXPECT_TRUE(ranks[1].news.gone.empty());
    EXPECT_EQ(ranks[0].tcp().refused(Refusal::unexpected), 0u);
    EXPECT_EQ(ranks[1].tcp().refused(Refusal::unexpected), 0u);
  }
}

// Where the lower rank's connection takes its time the higher one dials again, and that may prove
// itself when the other is open.
TEST(TcpContact, a_rank_that_has_dialed_twice_meanwhile_is_no_stranger) {
  TcpRanks ranks(2);
  ranks[0].to(1);
  ranks[1].to(0);
  ranks[0].transport->poll(ranks[0].news);  // it dials, and nobody answers yet
  FalseRank first(ranks, 1, 0);
  ASSERT_TRUE(ranks.join(0, 1));
  FalseRank second(ranks, 1, 0);
  EXPECT_FALSE(second.is_open());
  ranks.settle();
  EXPECT_EQ(ranks[0].tcp().refused(Refusal::unexpected), 0u);
  EXPECT_TRUE(ranks[0].news.gone.empty());
}

TEST(TcpContact, a_stranger_that_says_nonsense_is_refused_and_counted_while_others_meet) {
  TcpRanks ranks(2);
  Stranger stranger(ranks[0].tcp().address());
  const char nonsense[64] = "GET / HTTP/1.1\r\n\r\n";
  stranger.say(nonsense);
  ASSERT_TRUE(ranks.eventually([&] { return stranger.is_closed(); }));
  EXPECT_EQ(ranks[0].tcp().refused(Refusal::garbage), 1u);
  EXPECT_EQ(ranks[0].transport->rejected().garbage, 1u);
  EXPECT_TRUE(ranks.join(0, 1));
  ph_path path{};
  ranks[0].transport->describe(0, path);
  EXPECT_NE(std::string(path.reason).find("refused 1"), std::string::npos) << path.reason;
}

TEST(TcpContact, who_does_not_know_the_secret_is_refused_and_counted) {
  TcpRanks ranks(2);
  Stranger stranger(ranks[0].tcp().address());
  stranger.say(hello_of(1, 0));
  stranger.say(boot::Proof{std::byte{1}});
  ASSERT_TRUE(ranks.eventually([&] { return stranger.is_closed(); }));
  EXPECT_EQ(ranks[0].tcp().refused(Refusal::wrong_secret), 1u);
  EXPECT_EQ(ranks[0].transport->rejected().wrong_secret, 1u);
  EXPECT_TRUE(ranks[0].news.links.empty());
  EXPECT_TRUE(ranks.join(0, 1));
}

TEST(TcpContact, a_rank_of_another_protocol_is_refused_counted_and_told_with_both_versions) {
  base::Config config = tcp_config();
  config.log = base::LogLevel::warn;
  TcpRanks ranks(2, config);
  testing::internal::CaptureStderr();
  Stranger stranger(ranks[0].tcp().address());
  boot::Hello hello = hello_of(1, 0);
  ++hello.version;
  stranger.say(hello);
  ASSERT_TRUE(ranks.eventually([&] { return stranger.is_closed(); }));
  EXPECT_EQ(ranks[0].tcp().refused(Refusal::version), 1u);
  const std::string said = testing::internal::GetCapturedStderr();
  for (const std::uint32_t version : {kProtocol.version, kProtocol.version + 1})
    EXPECT_NE(said.find(std::to_string(version)), std::string::npos) << said;
  EXPECT_TRUE(ranks[0].news.links.empty());
  EXPECT_TRUE(ranks.join(0, 1));
}

TEST(TcpContact, half_open_connections_make_room_for_others_and_stall_nobody) {
  TcpRanks ranks(2);
  std::vector<std::unique_ptr<Stranger>> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(std::make_unique<Stranger>(ranks[0].tcp().address()));
    if (i % 2 == 0) silent.back()->say(std::uint64_t{kHelloMagic});  // the beginning of a hello
    ranks.turn();
  }
  ASSERT_TRUE(
      ranks.eventually([&] { return ranks[0].tcp().refused(Refusal::crowded) == 100 - 64; }));
  EXPECT_TRUE(ranks.join(1, 0));
}

// The sleeper's clock rings for it; who has begun to speak has no longer than who has not.
TEST(TcpContact, who_does_not_say_who_it_is_in_time_is_sent_away_and_counted_as_silent) {
  constexpr std::int64_t kPendingNs = 100'000'000;
  GivenTime time;
  MemoryJob job(2);
  TcpSide side;
  side.boot = job.boot(0);
  side.transport = std::move(
      *open_tcp(tcp_config(), *side.boot, {.pending_ns = kPendingNs, .time = time.source()}));
  const std::int64_t begin_ns = time.now_ns();
  Stranger silent(side.tcp().address()), slow(side.tcp().address());
  slow.say(std::uint64_t{kHelloMagic});    // the beginning of a hello
  for (int i = 0; i < 5; ++i) rest(side);  // it has let them in
  time.move_ns(kPendingNs - 1);
  rest(side);
  EXPECT_EQ(side.tcp().refused(Refusal::silent), 0u);
  while (side.tcp().refused(Refusal::silent) != 2) {
    time.move_ns(kLookNs);
    rest(side);
  }
  EXPECT_LT(time.now_ns() - begin_ns, 3 * kPendingNs);
  EXPECT_TRUE(silent.is_closed() && slow.is_closed());
  EXPECT_EQ(side.transport->rejected().silent, 2u);
}

TEST(TcpContact, who_has_time_left_to_say_who_it_is_stays) {
  TcpRanks ranks(2);
  Stranger silent(ranks[0].tcp().address());
  for (int i = 0; i < 10; ++i) rest(ranks[0]);
  EXPECT_FALSE(silent.is_closed());
  EXPECT_EQ(ranks[0].tcp().refused(Refusal::silent), 0u);
}

TEST(TcpContact, a_rank_that_is_connected_gets_no_second_connection) {
  TcpRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  FalseRank second(ranks, 1, 0);
  EXPECT_FALSE(second.is_open());
  EXPECT_EQ(ranks[0].tcp().refused(Refusal::unexpected), 1u);
  ranks.settle();
  EXPECT_TRUE(ranks[0].news.gone.empty());
}

TEST(TcpContact, settings_that_differ_are_told_to_both) {
  base::Config other = tcp_config();
  other.ring_lines = 128;
  TcpRanks ranks(std::vector<base::Config>{tcp_config(), other});
  ranks[0].to(1);
  ASSERT_TRUE(ranks.eventually(
      [&] { return ranks[0].news.gone.count(1) == 1 && ranks[1].news.gone.count(0) == 1; }));
  for (const auto& why : {ranks[0].news.gone[1], ranks[1].news.gone[0]}) {
    EXPECT_EQ(why.status, PH_ERR_BOOTSTRAP);
    EXPECT_NE(why.what.find("ring_lines"), std::string::npos) << why.what;
  }
}

TEST(TcpContact, a_endpoint_info_that_is_none_ends_that_rank_only) {
  TcpRanks ranks(3);
  const std::uint64_t nonsense = 4711;
  ASSERT_TRUE(ranks[1].boot->send(0, std::as_bytes(std::span(&nonsense, 1)), {}));
  ASSERT_TRUE(ranks.eventually([&] { return ranks[0].news.gone.count(1) == 1; }));
  EXPECT_EQ(ranks[0].news.gone[1].status, PH_ERR_PROTOCOL);
  EXPECT_TRUE(ranks.join(0, 2));
}

// Rank 1 makes no call, so it does not dial itself.
TEST(TcpContact, an_address_where_nobody_listens_is_told_after_some_attempts) {
  GivenTime time;
  TcpRanks ranks(2, tcp_config(), {.time = time.source()});
  TcpEndpointInfo endpoint_info;
  endpoint_info.settings = network::shared_settings(tcp_config(), 2);
  {
    const auto closed = boot::listen_at(*boot::choose_address("127.0.0.1", true));
    ASSERT_TRUE(closed);
    endpoint_info.addresses.add(closed->address);
  }
  ASSERT_TRUE(ranks[1].boot->send(0, encode(endpoint_info), {}));
  ranks[0].to(1);
  while (ranks[0].news.gone.count(1) == 0) {
    ranks[0].transport->poll(ranks[0].news);
    time.move_ns(1'000'000);
  }
  EXPECT_EQ(ranks[0].news.gone[1].status, PH_ERR_PEER);
  EXPECT_NE(
      ranks[0].news.gone[1].what.find(endpoint_info.addresses.text() + ": Connection refused"),
      std::string::npos)
      << ranks[0].news.gone[1].what;
}

// Nobody listens at the first, and at the second somebody who is no rank closes the connection;
// none of the others is it either, but all are named.
TEST(TcpContact, each_address_of_a_rank_is_tried_and_named_with_what_stood_in_the_way) {
  GivenTime time;
  TcpRanks ranks(3, tcp_config(), {.time = time.source()});
  TcpEndpointInfo endpoint_info;
  endpoint_info.settings = network::shared_settings(tcp_config(), 3);
  const boot::Address closed = boot::listen_at(*boot::choose_address("127.0.0.1", true))->address;
  endpoint_info.addresses.add(closed);
  endpoint_info.addresses.add(ranks[2].tcp().address());
  ASSERT_TRUE(ranks[1].boot->send(0, encode(endpoint_info), {}));
  ranks[0].to(1);
  while (ranks[0].news.gone.count(1) == 0) {
    ranks[0].transport->poll(ranks[0].news);
    ranks[2].transport->poll(ranks[2].news);
    time.move_ns(1'000'000);
  }
  EXPECT_GE(ranks[2].tcp().refused(Refusal::unexpected), 1u);
  const std::string why = ranks[0].news.gone[1].what;
  EXPECT_NE(why.find(closed.text() + ": Connection refused; " + ranks[2].tcp().address().text() +
                     ": Connection reset by peer"),
            std::string::npos)
      << why;
}

TEST(TcpContact, a_rank_that_is_not_at_its_first_address_is_met_at_the_next) {
  TcpRanks ranks(2);
  TcpEndpointInfo endpoint_info;
  endpoint_info.settings = network::shared_settings(tcp_config(), 2);
  endpoint_info.addresses.add(boot::listen_at(*boot::choose_address("127.0.0.1", true))->address);
  endpoint_info.addresses.add(ranks[1].tcp().address());
  ASSERT_TRUE(ranks[1].boot->send(0, encode(endpoint_info), {}));
  ranks[0].to(1);
  EXPECT_TRUE(ranks.eventually([&] { return ranks[0].news.links.count(1) == 1; }));
  EXPECT_TRUE(ranks[0].news.gone.empty());
}

// Without the pauses of six attempts.
TEST(TcpContact, who_is_not_reached_is_not_dialed_for_longer_than_the_time_of_silence) {
  base::Config config = tcp_config();
  config.tcp_silence_s = 0;  // less than the setting may be: no test waits for it
  TcpRanks ranks(2, config);
  TcpEndpointInfo endpoint_info;
  endpoint_info.settings = network::shared_settings(config, 2);
  {
    const auto closed = boot::listen_at(*boot::choose_address("127.0.0.1", true));
    ASSERT_TRUE(closed);
    endpoint_info.addresses.add(closed->address);
  }
  ASSERT_TRUE(ranks[1].boot->send(0, encode(endpoint_info), {}));
  const std::int64_t begin_ns = base::now_ns();
  while (ranks[0].news.gone.count(1) == 0) ranks[0].transport->poll(ranks[0].news);
  EXPECT_LT(base::now_ns() - begin_ns, 2'000'000'000);
  EXPECT_EQ(ranks[0].news.gone[1].status, PH_ERR_PEER) << "though it was never asked for here";
}

// What becomes of a rank that is said to have these two addresses, and has neither.
base::Error end_of_search(const boot::Address& first, const boot::Address& second,
                          const std::function<void()>& meanwhile) {
  base::Config config = tcp_config();
  config.tcp_silence_s = 1;  // less than the setting may be
  GivenTime time;
  TcpRanks ranks(2, config, {.time = time.source()});
  TcpEndpointInfo endpoint_info;
  endpoint_info.settings = network::shared_settings(config, 2);
  endpoint_info.addresses.add(first);
  endpoint_info.addresses.add(second);
  EXPECT_TRUE(ranks[1].boot->send(0, encode(endpoint_info), {}));
  ranks[0].to(1);
  const std::int64_t begin_ns = time.now_ns();
  while (ranks[0].news.gone.count(1) == 0) {
    rest(ranks[0]);
    meanwhile();
    time.move_ns(kLookNs);
  }
  EXPECT_LT(time.now_ns() - begin_ns, 8'000'000'000);
  return ranks[0].news.gone[1];
}

// None of ours, so it may be another host's.
boot::Listener listen_elsewhere(std::byte last) {
  boot::Address elsewhere = *boot::choose_address("127.0.0.1", true);
  elsewhere.bytes[3] = last;
  return std::move(*boot::listen_at(elsewhere));
}

// At the one address a stranger takes the connection and says nothing, at the other nobody listens.
TEST(TcpContact, a_stranger_who_says_nothing_at_any_address_is_not_waited_for_without_end) {
  const boot::Listener stranger = listen_elsewhere(std::byte{2});
  const boot::Address closed = boot::listen_at(*boot::choose_address("127.0.0.1", true))->address;
  for (const bool silent_first : {true, false}) {
    const base::Error why = end_of_search(silent_first ? stranger.address : closed,
                                          silent_first ? closed : stranger.address, [] {});
    EXPECT_EQ(why.status, PH_ERR_PEER);
    EXPECT_NE(why.native_errno, 0) << "it may live";
    for (const std::string& said : {stranger.address.text() + ": who answers there says nothing",
                                    closed.text() + ": Connection refused"})
      EXPECT_NE(why.what.find(said), std::string::npos) << why.what;
  }
}

// As a proxy does that has nobody behind it.
TEST(TcpContact, one_who_hangs_up_beside_a_silent_stranger_does_not_prolong_the_search) {
  const boot::Listener stranger = listen_elsewhere(std::byte{2});
  const boot::Listener proxy = listen_elsewhere(std::byte{3});
  const auto close = [&] {
    const base::UniqueFd pending(::accept4(proxy.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  };
  for (const bool silent_first : {true, false}) {
    const base::Error why = end_of_search(silent_first ? stranger.address : proxy.address,
                                          silent_first ? proxy.address : stranger.address, close);
    EXPECT_EQ(why.status, PH_ERR_PEER);
    EXPECT_NE(why.what.find(proxy.address.text()), std::string::npos) << why.what;
  }
}

TEST(TcpContact, who_has_fallen_silent_for_a_peer_hears_so_by_the_bootstrap) {
  GivenTime time;
  TcpRanks ranks(2, tcp_config(), {.time = time.source()});
  ASSERT_TRUE(ranks.join(0, 1));
  TcpEndpointInfo endpoint_info;
  endpoint_info.settings = network::shared_settings(tcp_config(), 2);
  endpoint_info.what = TcpEndpointInfo::What::gone;
  const std::string_view why = "not heard";
  std::copy(why.begin(), why.end(), endpoint_info.why.begin());
  ASSERT_TRUE(ranks[1].boot->send(0, encode(endpoint_info), {}));
  ASSERT_TRUE(ranks.eventually([&] {
    time.move_ns(1'000'000);
    return ranks[0].news.gone.count(1) == 1;
  }));
  EXPECT_EQ(ranks[0].news.gone[1].what, "tcp: rank 1 has cut this rank off: not heard");
}

// Rank 0 waits to be dialed, rank 2 waits as rank 1 waits for it.
TEST(TcpContact, without_a_descriptor_left_to_dial_with_both_are_told_what_was_missing) {
  GivenTime time;
  TcpRanks ranks(3, tcp_config(), {.time = time.source()});
  ranks[0].to(1);
  ranks[2].to(1);
  ranks[1].to(2);
  {
    const photon::test::FewDescriptors none(0);
    while (ranks[1].news.gone.count(2) == 0) {
      rest(ranks[1]);
      time.move_ns(kLookNs);
    }
    const base::Error why = ranks[1].news.gone[2];
    EXPECT_EQ(why.status, PH_ERR_PEER);
    EXPECT_EQ(why.native_errno, EMFILE);
    EXPECT_NE(why.what.find("rank 2"), std::string::npos) << why.what;
    EXPECT_NE(why.what.find("no socket for it"), std::string::npos) << why.what;
    photon::test::expect_names_limit(why.what, none.limit());
  }
  ASSERT_TRUE(ranks.eventually([&] {
    time.move_ns(kLookNs);
    return ranks[0].news.gone.count(1) == 1;
  }));
  const std::string there = ranks[0].news.gone[1].what;
  EXPECT_NE(there.find("limit of descriptors there (ulimit -n)"), std::string::npos) << there;
}

TEST(TcpContact, without_a_descriptor_left_a_pending_connection_is_sent_away_and_comes_again) {
  TcpRanks ranks(2);
  Stranger stranger(ranks[0].tcp().address());  // waits in the queue
  {
    const photon::test::FewDescriptors none(0);
    for (int i = 0; i < 1000 && ranks[0].tcp().refused(Refusal::no_room) == 0; ++i)
      ranks[0].transport->poll(ranks[0].news);
  }
  EXPECT_EQ(ranks[0].tcp().refused(Refusal::no_room), 1u);
  EXPECT_TRUE(stranger.is_closed());
  EXPECT_TRUE(ranks.join(0, 1));
}

}  // namespace
}  // namespace photon::transport::tcp::test
