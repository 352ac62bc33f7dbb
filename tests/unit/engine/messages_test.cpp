#include "probe_service.hpp"

namespace photon::engine::test {
namespace {

using Heard = std::vector<std::string>;

TEST(Messages, of_every_length_come_as_they_were_said) {
  Probed two;
  Heard said;
  for (const std::size_t header : {1u, 8u, 55u, 56u, 57u, 300u, 1024u})
    for (const std::size_t payload : {0u, 1u, 48u, 1024u}) {
      const std::string a(header, 'h'), b(payload, 'p');
      said.push_back(a + "|" + b);
      ASSERT_TRUE(two.ranks.eventually([&] { return two.at(0).say(1, a, b) == PH_OK; }));
    }
  EXPECT_EQ(two.heard(said.size()), said);
}

TEST(Messages, that_are_too_long_or_empty_are_refused) {
  Probed two;
  EXPECT_EQ(two.at(0).say(1, ""), PH_ERR_ARGUMENT);
  EXPECT_EQ(two.at(0).say(1, std::string(1025, 'h')), PH_ERR_ARGUMENT);
  EXPECT_EQ(two.at(0).say(1, "h", std::string(1025, 'p')), PH_ERR_ARGUMENT);
  EXPECT_EQ(two.at(0).say(7, "h"), PH_ERR_RANK);
}

TEST(Messages, without_a_line_are_told_to_come_again_and_hear_of_room_once) {
  Probed two;
  const int said = two.fill_ring();
  EXPECT_GT(said, 10);
  EXPECT_EQ(two.at(0).say(1, "later"), PH_AGAIN) << "nobody has read";
  two.heard(static_cast<std::size_t>(said));
  EXPECT_TRUE(two.ranks.eventually([&] { return !two.at(0).heard.empty(); }));
  EXPECT_EQ(two.at(0).heard, Heard{"room 1"});
  EXPECT_EQ(two.at(0).say(1, "later"), PH_OK);
  EXPECT_EQ(two.heard(static_cast<std::size_t>(said) + 1).back(), "later|");
}

TEST(Messages, that_must_go_queue_in_order_and_nothing_overtakes_them) {
  Probed two;
  const auto said = static_cast<std::size_t>(two.fill_ring());
  ASSERT_EQ(two.at(0).say(1, "first", "p", true), PH_OK);
  ASSERT_EQ(two.at(0).say(1, "second", "", true), PH_OK);
  EXPECT_NE(two.at(0).ticket, 0u);
  EXPECT_EQ(two.at(0).say(1, "none"), PH_AGAIN) << "it would overtake";
  EXPECT_EQ(two.at(0).port.say_words(1, 1, 2), PH_AGAIN) << "so would this";
  const Heard heard = two.heard(said + 2);
  EXPECT_EQ(heard[said], "first|p");
  EXPECT_EQ(heard[said + 1], "second|");
  EXPECT_EQ(two.ranks[0].resource_use().queued, 0u);
}

TEST(Messages, that_queue_are_covered_by_a_fence_and_those_behind_it_are_not) {
  Probed two;
  const auto said = static_cast<std::size_t>(two.fill_ring());
  for (int i = 0; i < 200; ++i) ASSERT_EQ(two.at(0).say(1, "queued", "", true), PH_OK);
  ASSERT_EQ(two.ranks[0].fence(1), PH_OK);
  ASSERT_EQ(two.ranks[0].notify(1, 9), PH_OK);
  std::size_t heard_at_id = 0;
  EXPECT_TRUE(two.ranks.eventually([&] {
    heard_at_id = two.at(1).heard.size();
    return !two.ranks.probe(1, PH_REMOTE).empty();
  }));
  EXPECT_EQ(two.heard(said + 200).size(), said + 200);
  EXPECT_GE(heard_at_id, said + 200) << "the id stands behind the fence";
}

TEST(Messages, that_still_queue_can_be_taken_back) {
  Probed two;
  const auto said = static_cast<std::size_t>(two.fill_ring());
  ASSERT_EQ(two.at(0).say(1, "first", "", true), PH_OK);
  const std::uint64_t first = two.at(0).ticket;
  ASSERT_EQ(two.at(0).say(1, "second", "", true), PH_OK);
  EXPECT_TRUE(two.at(0).port.unsay(1, first));
  EXPECT_EQ(two.heard(said + 1)[said], "second|");
  EXPECT_FALSE(two.at(0).port.unsay(1, first)) << "it is gone";
}

TEST(Messages, behind_all_come_after_the_bytes_that_were_posted_before) {
  Probed two;
  const std::vector<std::byte> bytes = filled(20'000, 3);
  ASSERT_EQ(two.ranks[0].put(1, two.put(bytes, PH_NO_LCE | PH_NO_RCE)), PH_OK);
  ASSERT_EQ(two.at(0).say(1, "behind", "", false, true), PH_OK);
  ASSERT_EQ(two.at(0).say(1, "then", "", true), PH_OK);
  std::vector<std::size_t> landed;
  two.at(1).at_message = [&] {
    landed.push_back(first_difference(two.memory.bytes().first(20'000), 3));
  };
  EXPECT_EQ(two.heard(2), (Heard{"behind|", "then|"}));
  EXPECT_EQ(landed.front(), 20'000u);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
}

TEST(Messages, with_a_body_come_whole_and_in_the_order_of_the_calls) {
  Probed two;
  const std::vector<std::byte> body = filled(30'000, 5);
  const std::string header = "body";
  ASSERT_EQ(two.at(0).say(1, "before", "", true), PH_OK);
  ASSERT_EQ(two.at(0).port.say_body({1, ProbeService::bytes(header), {}}, body, 77), PH_OK);
  ASSERT_EQ(two.at(0).say(1, "after", "", true), PH_OK);
  EXPECT_EQ(two.heard(4), (Heard{"before|", "body(", ")", "after|"}));
  EXPECT_EQ(two.at(1).body, body);
  EXPECT_EQ(two.heard(1, 0), Heard{"local 1 77 0"});
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  EXPECT_EQ(two.ranks[0].resource_use().queued, 0u);
}

TEST(Messages, with_more_bodies_than_the_quota_are_told_to_come_again) {
  Probed two;
  const std::vector<std::byte> body = filled(8, 5);
  const std::string header = "b";
  std::size_t accepted = 0;
  while (two.at(0).port.say_body({1, ProbeService::bytes(header), {}}, body, accepted) == PH_OK)
    ++accepted;
  EXPECT_GE(accepted, 16u);
  EXPECT_TRUE(two.ranks.eventually([&] { return two.at(0).heard.size() > accepted; }));
  const Heard& heard = two.at(0).heard;
  EXPECT_EQ(std::count(heard.begin(), heard.end(), "room 1"), 1);
}

TEST(Messages, to_a_rank_that_is_lost_end_and_hold_nothing) {
  Probed two;
  two.fill_ring();
  const std::vector<std::byte> body = filled(50'000, 5);
  const std::string header = "b";
  ASSERT_EQ(two.at(0).say(1, "queued", "", true), PH_OK);
  ASSERT_EQ(two.at(0).port.say_body({1, ProbeService::bytes(header), {}}, body, 5), PH_OK);
  ASSERT_EQ(two.at(0).say(1, "behind", "", false, true), PH_OK);
  two.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "has ended", 1};
  two.ranks[0].serve();
  two.ranks[0].serve();
  EXPECT_EQ(two.at(0).lost, (std::vector{std::pair(Rank{1}, PH_ERR_PEER)}));
  EXPECT_EQ(two.at(0).heard, Heard{"local 1 5 " + std::to_string(PH_ERR_PEER)});
  EXPECT_EQ(two.at(0).say(1, "never"), PH_ERR_PEER);
  EXPECT_EQ(two.at(0).port.say_words(1, 1), PH_ERR_PEER);
  EXPECT_EQ(two.ranks[0].resource_use().queued, 0u);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
}

}  // namespace
}  // namespace photon::engine::test
