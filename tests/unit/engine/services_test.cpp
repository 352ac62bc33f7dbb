#include "engine/fast_path.hpp"
#include "probe_service.hpp"

namespace photon::engine::test {
namespace {

TEST(Services, of_an_owner_that_there_is_not_are_null_and_their_records_end_the_peer) {
  Probed two;
  EXPECT_EQ(two.ranks[0].service(wire::Owner::rendezvous), nullptr);
  auto& line = two.ranks.net().way(1, 0).lines[1];  // the meeting took one
  line.head.store(1 | wire::encode(wire::Kind::message, 8, 0, wire::Owner::rendezvous),
                  std::memory_order_release);
  two.ranks[0].serve();
  EXPECT_EQ(two.ranks[0].put(1, notice()), PH_ERR_PROTOCOL);
  EXPECT_EQ(two.at(0).lost.size(), 0u) << "made only now";
}

TEST(Services, that_refuse_a_message_end_its_sender) {
  Probed two;
  two.at(1).is_good = false;
  ASSERT_EQ(two.at(0).port.say_words(1, 1), PH_OK);
  EXPECT_TRUE(two.ranks.eventually([&] { return !two.at(1).lost.empty(); }));
  EXPECT_EQ(two.at(1).lost.front(), (std::pair(Rank{0}, PH_ERR_PROTOCOL)));
}

TEST(Services, hear_of_what_a_fast_probe_meets_and_their_code_runs_behind_it) {
  Probed two;
  two.at(1).runs_code = true;
  ASSERT_EQ(two.at(0).port.say_words(1, 1, 2), PH_OK);
  ASSERT_EQ(two.at(0).port.say_words(1, 3), PH_OK);
  ph_completion found[2];
  CompletionSink sink{{PH_ANY_RANK, PH_EITHER, nullptr}, found, 2};
  EXPECT_EQ(two.ranks[1].serve_asked(sink), Engine::Served::run);
  EXPECT_EQ(two.at(1).heard.size(), 2u) << "those in a row at once";
  EXPECT_EQ(two.at(1).ran, 0);
  LaneGuard guard(two.ranks.lane(1));
  two.ranks[1].run_user_code(guard);
  EXPECT_EQ(guard.status(), PH_OK);
  EXPECT_EQ(two.at(1).collected, 1);
  EXPECT_EQ(two.at(1).ran, 1);
  EXPECT_FALSE(two.ranks[1].owes_services());
}

TEST(Services, hear_of_contact_whoever_makes_it) {
  EngineGroup ranks(3, Ground::fake, options(), ProbeService::table());
  const ProbeService& service = ProbeService::of(ranks[0]);
  ASSERT_EQ(ranks[0].put(1, notice()), PH_OK);
  EXPECT_EQ(service.met, std::vector<Rank>{1});
  ASSERT_EQ(ranks[2].put(0, notice()), PH_OK);
  ranks.take(0, PH_REMOTE, 2);
  EXPECT_EQ(service.met, (std::vector<Rank>{1, 2}));
}

TEST(Services, have_turns_until_they_want_no_more) {
  Probed two;
  two.at(0).wanted_turns = 3;
  two.ranks[0].serve();
  EXPECT_EQ(two.at(0).turns, 0) << "none was asked for";
  two.at(0).port.wants_turn();
  for (int i = 0; i < 10; ++i) two.ranks[0].serve();
  EXPECT_EQ(two.at(0).turns, 3);
}

TEST(Services, have_turns_while_every_probe_of_the_user_hits) {
  Probed two;
  two.at(1).wanted_turns = 1'000'000;
  two.at(1).port.wants_turn();
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(two.ranks[0].notify(1, 7), PH_OK);
    ph_completion found{};
    CompletionSink sink{{PH_ANY_RANK, PH_REMOTE, nullptr}, &found, 1};
    if (!two.ranks[1].try_probe(sink.query, sink)) {
      ASSERT_EQ(two.ranks[1].probe(sink), PH_OK);
    }
    ASSERT_EQ(sink.count, 1u);
  }
  EXPECT_GE(two.at(1).turns, 50);
}

// A caller who only posts: the credit grant that it had ends, and its calls are counted.
TEST(Services, have_turns_while_the_user_only_posts) {
  constexpr int kPosts = 640;
  Probed two;
  ASSERT_EQ(two.ranks[0].notify(1, 7), PH_OK);
  ASSERT_EQ(two.ranks[0].try_notify(1, 7), Engine::Fast::done) << "a credit grant was granted";
  two.at(0).wanted_turns = 1'000'000;
  two.at(0).port.wants_turn();
  for (int i = 0; i < kPosts; ++i) {
    EXPECT_EQ(two.ranks[0].try_notify(1, 7), Engine::Fast::no) << "that would not be counted";
    ASSERT_EQ(two.ranks[0].notify(1, 7), PH_OK);
    EXPECT_TRUE(two.ranks[0].owes_services());
    two.ranks[0].count_call();
    two.ranks.probe(1, PH_REMOTE);
  }
  EXPECT_GE(two.at(0).turns, kPosts / 64);
  two.at(0).wanted_turns = 0;
  while (two.ranks[0].owes_services()) two.ranks[0].count_call();
  ASSERT_EQ(two.ranks[0].notify(1, 7), PH_OK);
  EXPECT_EQ(two.ranks[0].try_notify(1, 7), Engine::Fast::done);
}

TEST(Services, end_a_sleep_when_their_next_turn_is_due) {
  Probed two;
  two.at(0).next_ns = two.at(0).port.now_ns() + 20'000'000;
  LaneGuard guard(two.ranks.lane(0));
  const auto done = [&] { return two.at(0).port.now_ns() >= two.at(0).next_ns; };
  EXPECT_EQ(two.ranks[0].wait_for(guard, done, 10'000'000), PH_OK);
  EXPECT_GE(two.at(0).sleeps, 1);
  two.ranks[0].serve();
  EXPECT_GE(two.at(0).turns, 1) << "and has it";
}

TEST(Services, that_have_news_are_not_slept_over) {
  Probed two;
  two.at(0).news = true;
  LaneGuard guard(two.ranks.lane(0));
  const auto done = [&] { return two.at(0).sleeps > 3; };
  EXPECT_EQ(two.ranks[0].wait_for(guard, done, 10'000'000), PH_OK);
}

TEST(Services, are_closed_by_finalize_which_waits_until_they_are_idle) {
  FakeOptions chosen = options();
  chosen.config.finalize_timeout_ms = 20;
  Probed two(chosen);
  two.at(0).idle = false;
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_TIMEOUT);
  EXPECT_TRUE(two.at(0).closed);
}

TEST(Services, keep_chunks_while_records_and_other_chunks_go_on) {
  Probed two;
  two.at(1).verdict = service::Verdict::kept;
  const std::vector<std::byte> body = filled(1000, 4), more = filled(1000, 6);
  const std::string header = "b";
  ASSERT_EQ(two.at(0).port.say_body({1, ProbeService::bytes(header), {}}, body, 1), PH_OK);
  two.heard(2);
  two.at(1).verdict = service::Verdict::taken;
  ASSERT_FALSE(two.at(1).kept.empty());
  // The rest of the ring goes round meanwhile, as far as there is room.
  ASSERT_EQ(two.at(0).port.say_body({1, ProbeService::bytes(header), {}}, more, 2), PH_OK);
  two.heard(4);
  ASSERT_EQ(two.ranks[0].notify(1, 9), PH_OK);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, 9u);
  std::vector<std::byte> seen;
  for (const service::Chunk& chunk : two.at(1).kept)
    seen.insert(seen.end(), chunk.bytes.begin(), chunk.bytes.end());
  EXPECT_EQ(seen, body);
  for (const service::Chunk& chunk : two.at(1).kept) two.at(1).port.give_back(0, chunk.loan);
  two.at(1).kept.clear();
  // All of the ring is to be had again.
  const std::vector<std::byte> large = filled(100'000, 8);
  two.at(1).body.clear();
  ASSERT_EQ(two.at(0).port.say_body({1, ProbeService::bytes(header), {}}, large, 3), PH_OK);
  two.heard(6);
  EXPECT_EQ(two.at(1).body, large);
}

TEST(Services, keep_chunks_of_a_rank_that_has_ended) {
  Probed two;
  two.at(1).verdict = service::Verdict::kept;
  const std::vector<std::byte> body = filled(1000, 4);
  const std::string header = "b";
  ASSERT_EQ(two.at(0).port.say_body({1, ProbeService::bytes(header), {}}, body, 1), PH_OK);
  two.heard(2);
  two.ranks.net().seats[1].gone[0] = {PH_ERR_PEER, 0, "has ended", 0};
  two.ranks[1].serve();
  EXPECT_EQ(two.at(1).lost.size(), 1u);
  const auto& net = two.ranks.net();
  EXPECT_EQ(net.seats[1].let_go.count(0), 0u) << "its memory stays";
  for (const service::Chunk& chunk : two.at(1).kept) two.at(1).port.give_back(0, chunk.loan);
  EXPECT_EQ(net.seats[1].let_go.count(0), 1u);
}

TEST(Services, of_a_promise_are_asked_when_the_user_cancels) {
  Probed two;
  ph_request request = PH_REQUEST_NONE;
  service::UserEnd end;
  end.rank = 1;
  end.request = &request;
  end.token = 42;
  end.size_bytes = 100;
  const std::uint64_t promise = two.at(0).port.promise(end);
  ASSERT_NE(promise, 0u);
  ph_outcome outcome = PH_CANCELLED;
  ASSERT_EQ(two.ranks[0].cancel(request, outcome), PH_OK);
  EXPECT_EQ(outcome, PH_TOO_LATE);
  ph_result result{};
  EXPECT_EQ(two.ranks[0].test(request, result), PH_AGAIN);
  two.at(0).port.complete(promise, PH_OK);
  EXPECT_EQ(two.ranks[0].test(request, result), PH_OK);
  EXPECT_EQ(result.size_bytes, 100u);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 1u) << "until the service lets go";
  two.at(0).port.release(promise);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  EXPECT_EQ(two.ranks[0].resource_use().events, 0);
}

TEST(Services, are_counted_by_name_behind_what_the_engine_counts_also_before_they_are_used) {
  Probed two;
  const auto last = [&](Rank rank) {
    std::vector<NamedCount> found;
    EXPECT_EQ(two.ranks[0].counters(rank, found), PH_OK);
    EXPECT_EQ(std::string(found.back().text.name), "probe_b");
    EXPECT_EQ(std::string(found[found.size() - 2].text.name), "probe_a");
    return found.back().value;
  };
  EXPECT_EQ(last(1), 0u) << "no one was made";
  static_cast<void>(two.at(0));
  EXPECT_EQ(last(1), 11u);
  EXPECT_EQ(last(PH_ANY_RANK), 101u);
}

TEST(Services, say_their_ways_behind_what_the_transport_says_as_far_as_there_is_room) {
  Probed two;
  ph_path path{};
  path.size = sizeof path;
  ASSERT_EQ(two.ranks[0].describe(1, path), PH_OK);
  const std::string before = path.reason;
  two.at(0).shows_ways = true;
  ASSERT_EQ(two.ranks[0].describe(1, path), PH_OK);
  EXPECT_EQ(path.reason, (before + "; by hand to 1").substr(0, sizeof path.reason - 1));
}

}  // namespace
}  // namespace photon::engine::test
