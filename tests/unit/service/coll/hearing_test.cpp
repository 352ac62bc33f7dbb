// What comes for agreements: verdicts in several parts, and what no member says.
#include "many_members.hpp"
#include "service/coll/agreeing.hpp"

namespace photon::test {
namespace {

using service::coll::encode;
using service::coll::Head;
using service::coll::HeadWords;
using service::coll::Op;

enum Heard : std::uint32_t { kVote = 1, kAsk, kPropose, kHeld, kHolds, kSettled, kVerdict, kGone };

TEST(CollHearing, puts_a_verdict_of_many_members_together) {
  constexpr std::uint32_t kCount = 600;
  ManyMembers members(kCount);
  Team* smaller = nullptr;
  const auto call = [&](Rank rank) { return members[rank].shrink(members.world(rank), smaller); };
  for (Rank rank = 0; rank < kCount; ++rank) EXPECT_EQ(call(rank), PH_TIMEOUT);
  // The first leader dies when one member alone has all of what it proposes.
  members.port(0).run_turns();
  for (Rank rank = 1; rank < kCount; ++rank) {
    members.port(rank).run_turns();
    for (Said said; members.port(rank).take(said);)
      if (said.to == 0) members.port(0).deliver({rank, said.header, said.payload, {}, 0, 0});
  }
  members.port(0).run_turns();
  for (Said said; members.port(0).take(said);)
    if (said.to == 500) members.port(500).deliver({0, said.header, said.payload, {}, 0, 0});
  for (Rank rank = 1; rank < kCount; ++rank) members.port(rank).lose(0);
  members.run(0);
  for (Rank rank = 1; rank < kCount; ++rank) {
    ASSERT_EQ(call(rank), PH_OK) << rank;
    EXPECT_EQ(smaller->size(), kCount) << "it was proposed while the first one lived";
    EXPECT_EQ(smaller->own, rank);
  }
}

Bytes agree_header(std::uint32_t word, std::uint32_t sequence,
                   const std::vector<std::uint64_t>& more = {}) {
  Head head;
  head.op = static_cast<std::uint8_t>(Op::agree);
  head.name.channel = word;
  head.name.sequence = sequence;
  const HeadWords first = encode(head);
  std::vector<std::uint64_t> words(first.begin(), first.end());
  words.insert(words.end(), more.begin(), more.end());
  return words_of(words);
}

Bytes places(std::vector<std::uint32_t> all) { return bytes_of(std::as_bytes(std::span(all))); }

TEST(CollHearing, ends_whoever_says_what_no_member_does) {
  const std::uint64_t kWish = std::uint64_t{1} << 32;
  const std::vector<Coming> garbage = {
      {1, agree_header(0, 0), {}, {}, 0, 0},
      {1, agree_header(99, 0), {}, {}, 0, 0},
      {1, agree_header(kAsk, 7), {}, {}, 0, 0},
      {1, agree_header(kAsk, 0, {1}), {}, {}, 0, 0},
      {1, agree_header(kAsk, 0), places({1}), {}, 0, 0},
      {1, agree_header(kVote, 0), {}, {}, 0, 0},
      {1, agree_header(kVote, 0, {0, 0, 3}), {}, {}, 0, 0},
      {1, agree_header(kVote, 0, {0, std::uint64_t{1} << 60, 1}), {}, {}, 0, 0},
      {1, agree_header(kHeld, 0, {0, 0, kWish}), {}, {}, 0, 0},
      {1, agree_header(kHeld, 0, {0, 0, kWish}), places({0, 0, 0, 0, 0}), {}, 0, 0},
      {1, agree_header(kHeld, 0, {0, 0, kWish | 1}), places({0}), {}, 0, 0},
      {1, agree_header(kHeld, 0, {0, 0, 9 * kWish}), places({0, 0, 0, 0}), {}, 0, 0},
      {1,
       agree_header(kHeld, 0, {0, std::uint64_t{4} << 32, kWish}),
       places({0, 0, 0, 0}),
       {},
       0,
       0},
      {1, agree_header(kHeld, 0, {0, 0, kWish}), places({0, 0, 3U << 24, 0}), {}, 0, 0},
  };
  for (std::size_t i = 0; i < garbage.size(); ++i) {
    Members members;
    std::uint64_t bits = 0;
    EXPECT_EQ(members[0].agree(members.world(0), bits), PH_TIMEOUT);
    EXPECT_FALSE(members.port(0).deliver(garbage[i])) << i;
    EXPECT_EQ(members.port(0).state(1), PH_ERR_PROTOCOL) << i;
    EXPECT_EQ(members.port(0).state(2), PH_OK) << i;
  }
}

// A vote comes once; and what nobody waits for is dropped.
TEST(CollHearing, takes_nothing_from_who_does_not_lead) {
  Members members;
  std::uint64_t bits = 6;
  EXPECT_EQ(members[2].agree(members.world(2), bits), PH_TIMEOUT);
  const std::uint64_t kWish = std::uint64_t{1} << 32;
  for (const std::uint32_t word : {kSettled, kHolds})
    EXPECT_TRUE(members.port(2).deliver({1, agree_header(word, 0), {}, {}, 0, 0}));
  const std::uint64_t round = std::uint64_t{1} << 32;
  EXPECT_TRUE(members.port(2).deliver(
      {1, agree_header(kPropose, 0, {0, round, kWish}), places({0, 0, 0, 0}), {}, 0, 0}));
  EXPECT_TRUE(members.port(2).deliver({1, agree_header(kSettled, 0), {}, {}, 0, 0}));
  EXPECT_EQ(members[2].agree(members.world(2), bits), PH_TIMEOUT) << "0 leads";
  EXPECT_TRUE(members.port(2).deliver({3, agree_header(kVote, 0, {0, 0, 1}), {}, {}, 0, 0}));
  EXPECT_FALSE(members.port(2).deliver({3, agree_header(kVote, 0, {0, 0, 1}), {}, {}, 0, 0}));
}

// They go on without it, and it is told so when it asks.
TEST(CollHearing, tells_a_member_that_counts_as_lost_and_lives) {
  Members members;
  std::uint64_t bits = 1;
  const auto call = [&](Rank rank) { return members[rank].agree(members.world(rank), bits); };
  for (const Rank rank : {0U, 1U, 2U}) EXPECT_EQ(call(rank), PH_TIMEOUT);
  members.port(0).lose(3);  // their link is cut, and no other
  members.port(3).lose(0);
  members.run();
  for (const Rank rank : {0U, 1U, 2U}) EXPECT_EQ(call(rank), PH_OK);
  EXPECT_EQ(Collectives::lost(members.world(1), 3), PH_ERR_PEER);
  EXPECT_EQ(call(3), PH_TIMEOUT);
  members.run();
  EXPECT_EQ(call(3), PH_ERR_PEER);
  EXPECT_NE(members.port(3).last_error().what.find("count this one as lost"), std::string::npos);
  EXPECT_EQ(call(3), PH_ERR_PEER) << "for ever";
}

}  // namespace
}  // namespace photon::test
