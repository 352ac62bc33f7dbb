#include "coll_unit.hpp"

#include <random>

namespace photon::test {
namespace {

using service::coll::encode;
using service::coll::Head;
using service::coll::Op;

Coming message(Rank from, const Head& head, const std::vector<std::uint64_t>& more = {}) {
  const auto words = encode(head);
  std::vector<std::uint64_t> all(words.begin(), words.end());
  all.insert(all.end(), more.begin(), more.end());
  return {from, words_of(all), {}, {}, 0, 0};
}

Head head_of(Op op, std::uint32_t slot = 0, std::uint32_t number = 0) {
  return {static_cast<std::uint8_t>(op), {slot, number, 0, 0, 0}, 0};
}

TEST(CollDispatch, cuts_off_a_peer_that_sends_what_cannot_be) {
  const std::vector<Coming> wrong = {
      {1, {}, {}, {}, 0, 0},
      {1, words_of({static_cast<std::uint64_t>(Op::payload)}), {}, {}, 0, 0},
      message(1, head_of(Op::payload), {1}),
      message(1, head_of(static_cast<Op>(0))),
      message(1, head_of(static_cast<Op>(200))),
      message(1, head_of(Op::ready), {1, 2}),
      message(1, {64 + 8, {}, 0}),
      message(1, head_of(Op::taken), {1}),
      message(1, head_of(Op::failed)),
      message(1, {static_cast<std::uint8_t>(Op::credit), {0, 1, 0, 0, 0}, 0}),
      message(1, {64, {0, 0, 0, Team::kMostAhead + 1, 0}, 0}),
      message(1, {64,
                  {0, 0, static_cast<std::uint32_t>(service::coll::Channels::kMostAhead) + 1, 0, 0},
                  0})};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    Members members;
    members.port(0).deliver(wrong[i]);
    EXPECT_EQ(members.port(0).state(1), PH_ERR_PROTOCOL) << i;
    EXPECT_EQ(members.port(0).state(2), PH_OK) << i;
    EXPECT_EQ(members[0].held(), 0u) << i;
  }
}

// Words of a failure that nobody can have, or that is further ahead than anybody is: they are not
// passed on, for whoever passes them on would be blamed.
TEST(CollDispatch, passes_on_no_word_that_others_would_take_ill) {
  service::coll::Blame blame;
  blame.status = PH_ERR_ARGUMENT;
  const Bytes payload = bytes_of(std::as_bytes(std::span(&blame, 1)));
  for (const Op op : {Op::differs, Op::failed})
    for (const std::uint32_t channel : {0U, 0xffffU}) {
      Members members;
      Coming coming = message(1, {static_cast<std::uint8_t>(op),
                                  {0, 0, channel, channel == 0 ? Team::kMostAhead + 9 : 0, 0},
                                  0});
      coming.payload = payload;
      members.port(0).deliver(coming);
      EXPECT_EQ(members.port(0).state(1), op == Op::failed ? PH_OK : PH_ERR_PROTOCOL);
      members.run();
      for (Rank rank = 2; rank < Members::kCount; ++rank)
        EXPECT_EQ(members.port(rank).state(0), PH_OK) << rank;
    }
}

TEST(CollDispatch, survives_any_words) {
  std::mt19937_64 random(20261128);
  for (int round = 0; round < 2000; ++round) {
    Members members;
    members.world(0);
    for (int i = 0; i < 20 && members.port(0).state(1) == PH_OK; ++i) {
      Coming coming{1, {}, {}, {}, 0, 0};
      std::vector<std::uint64_t> words(random() % 8);
      for (std::uint64_t& word : words) word = random() >> random() % 64;
      if (!words.empty()) words[0] = (words[0] & ~std::uint64_t{0xff}) | random() % 100;
      coming.header = words_of(words);
      coming.payload.resize(random() % 3 == 0 ? 72 : random() % 64);
      members.port(0).deliver(coming);
    }
    members.run();
  }
}

// A freed team's slot has a new team: what comes late names another number.
TEST(CollDispatch, a_late_record_of_a_freed_team_is_not_its_successors) {
  Members members;
  ph_rank alone = 0;
  ph_team_of_args args{};
  args.size = sizeof args;
  args.ranks = &alone;
  args.count = 1;
  Team* team = nullptr;
  ASSERT_EQ(members[0].of(args, team), PH_OK);
  const std::uint32_t slot = team->slot;
  const std::uint32_t number = team->number;
  ASSERT_EQ(members[0].free(*team), PH_OK);
  ASSERT_EQ(members[0].of(args, team), PH_OK);
  ASSERT_EQ(team->slot, slot);
  ASSERT_NE(team->number, number);
  EXPECT_TRUE(members.port(0).deliver(message(1, {64, {slot, number, 0, 0, 0}, 0})));
  EXPECT_EQ(members[0].held(), 0u) << "it is dropped";
  EXPECT_TRUE(members.port(0).deliver(message(1, head_of(Op::ready, slot, number), {8, 1, 2, 3})));
  Said said;
  for (int i = 0; i < 2; ++i) {  // the team was freed without that call
    ASSERT_TRUE(members.port(0).take(said));
    EXPECT_EQ(words_in(said.header)[0] & 0xff, static_cast<std::uint64_t>(Op::absent));
  }
  ASSERT_TRUE(members.port(0).take(said));
  EXPECT_EQ(words_in(said.header)[0] & 0xff, static_cast<std::uint64_t>(Op::taken));
  EXPECT_EQ(words_in(said.header)[0] >> 8 & 0xffffff, 3u) << "at the sender's own slot";
}

}  // namespace
}  // namespace photon::test
