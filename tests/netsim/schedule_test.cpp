// Schedules: what the reader takes and refuses, and how they are played.
#include "netsim/motif/schedule.hpp"

#include <gtest/gtest.h>

#include "fake_ranks.hpp"
#include "netsim/motif/played.hpp"

namespace photon::netsim {
namespace {

// Plays it with many orders of delivery; the sends of the first.
std::vector<FakeRanks::Sent> play_text(const std::string& text) {
  std::vector<FakeRanks::Sent> sent;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto schedule = read_schedule(text);
    EXPECT_TRUE(schedule) << schedule.error();
    if (!schedule) return {};
    Played motif(std::move(*schedule));
    FakeRanks ranks(motif, seed, seed == 0 ? 0 : 100'000);
    ranks.play();
    for (const std::uint32_t count : ranks.finished) EXPECT_EQ(count, 1U);
    EXPECT_FALSE(ranks.released_too_much);
    EXPECT_EQ(ranks.held_in_all(), 0);
    if (seed == 0) sent = ranks.sent;
  }
  return sent;
}

TEST(Schedule, operations_begin_when_those_before_them_are_over) {
  const auto sent = play_text(
      "# comment\n"
      "ranks 3\n"
      "0: work compute 1500\n"
      "0: ask send 1 4096 7 after work  # and more\n"
      "0: reply receive 1 8 0\r\n"
      "\n"
      "1: asked receive 0 4096 7\n"
      "1: think compute 200 after asked\n"
      "1: answer send 0 8 0 after think asked\n");
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].time, 1'500'000U);
  EXPECT_EQ(sent[1].time, 1'700'000U);
  EXPECT_EQ(sent[1].message.bytes, 8U);
}

TEST(Schedule, messages_that_come_early_are_kept) {
  std::string text = "ranks 2\n0: c compute 1000000\n";
  for (int i = 0; i < 100; ++i) {
    const std::string number = std::to_string(i);
    text += "1: s" + number + " send 0 64 " + std::to_string(i % 3) + "\n";
    text += "0: r" + number + " receive 1 64 " + std::to_string(i % 3) + " after ";
    text += i == 0 ? "c\n" : "r" + std::to_string(i - 1) + "\n";
  }
  EXPECT_EQ(play_text(text).size(), 100U);
}

TEST(Schedule, a_ring_of_ranks_passes_its_parts_on) {
  std::string text = "ranks 5\n";
  for (int rank = 0; rank < 5; ++rank) {
    const std::string own = std::to_string(rank) + ": ";
    std::string after = "\n";
    for (int step = 0; step < 8; ++step) {
      const std::string number = std::to_string(step);
      text += own + "s" + number + " send " + std::to_string((rank + 1) % 5) + " 100 0" + after;
      text += own + "r" + number + " receive " + std::to_string((rank + 4) % 5) + " 100 0" + after;
      after = " after s" + number + " r" + number + "\n";
    }
  }
  EXPECT_EQ(play_text(text).size(), 40U);
}

TEST(Schedule, what_is_wrong_is_said_with_line_word_and_what_is_allowed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "line 1: the end: allowed is 'ranks N' first"},
      {"\n0: a compute 1", "line 2: 0:: allowed is 'ranks N' first"},
      {"ranks 0", "line 1: 0: allowed is a number of ranks from 1 to 1048576"},
      {"ranks 2 3", "line 1: 3: allowed is the end of the line"},
      {"ranks", "line 1: the end of the line: allowed is a number of ranks from 1 to 1048576"},
      {"ranks 2\n2: a compute 1", "line 2: 2:: allowed is 'RANK:' with a rank from 0 to 1"},
      {"ranks 2\n1 a compute 1", "line 2: 1: allowed is 'RANK:' with a rank from 0 to 1"},
      {"ranks 2\n1:",
       "line 2: the end of the line: allowed is a label of up to 64 letters, "
       "digits and _ . -"},
      {"ranks 2\n1: a sned 1", "line 2: sned: allowed is compute, send or receive"},
      {"ranks 2\n1: a compute -1", "line 2: -1: allowed is nanoseconds from 0 to 1000000000"},
      {"ranks 2\n1: a send 1 8 0", "line 2: 1: allowed is another rank"},
      {"ranks 2\n1: a send 0 0 0", "line 2: 0: allowed is bytes from 1 to 4294967295"},
      {"ranks 2\n1: a send 0 8 65536", "line 2: 65536: allowed is a tag from 0 to 65535"},
      {"ranks 2\n1: a compute 1 before b",
       "line 2: before: allowed is 'after LABEL...' or the end of the line"},
      {"ranks 2\n1: a compute 1 after",
       "line 2: the end of the line: allowed is a label that the "
       "rank has used above"},
      {"ranks 2\n0: b compute 1\n1: a compute 1 after b",
       "line 3: b: allowed is a label that the rank has used above"},
      {"ranks 2\n0: b compute 1\n0: b compute 1",
       "line 3: b: allowed is a label that the rank has not used above"},
      {"ranks 2\n0: b send 1 8 3",
       "messages from rank 0 to 1 with tag 3: allowed is a receive for "
       "each send, all of one size"},
      {"ranks 2\n0: b send 1 8 3\n1: b receive 0 9 3",
       "messages from rank 0 to 1 with tag 3: allowed is a receive for each send, all of one size"},
      {"ranks 2\n1: a\x01\xff compute 1",
       "line 2: a??: allowed is a label of up to 64 letters, "
       "digits and _ . -"},
  };
  for (const auto& [text, what] : cases) {
    const auto schedule = read_schedule(text);
    ASSERT_FALSE(schedule) << text;
    EXPECT_EQ(schedule.error(), what);
  }
}

// Texts with bytes changed, cut and doubled at random: no crash, and what is taken can be played.
TEST(Schedule, no_text_brings_the_reader_down) {
  const std::string good =
      "ranks 2\n0: a compute 1\n0: b send 1 8 3 after a\n1: c receive 0 8 3\n1: d compute 2 after "
      "c\n";
  Random random(7, 7);
  const std::string bytes = "0123456789 :\n#abcd ranks send after \t\xff";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (std::uint32_t i = random.below(6); i > 0; --i) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()) + 1);
      const std::uint32_t what = random.below(3);
      if (what == 0)
        text.insert(at, 1, bytes[random.below(static_cast<std::uint32_t>(bytes.size()))]);
      if (what == 1) text.erase(at, random.below(4));
      if (what == 2) text.insert(at, text.substr(random.below(20), random.below(20)));
    }
    auto schedule = read_schedule(text);
    if (!schedule) {
      EXPECT_FALSE(schedule.error().empty());
      continue;
    }
    Played motif(std::move(*schedule));
    if (motif.ranks() > 100) continue;
    FakeRanks ranks(motif, 1, 1000);
    ranks.play();
  }
}

}  // namespace
}  // namespace photon::netsim
