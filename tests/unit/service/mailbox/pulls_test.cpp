#include "service/mailbox/pulls.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

// Pulls of one window; the port hands the ends back to them.
struct Pulling : Service {
  bool on_message(const Message&) override { return true; }
  void on_local(Rank from, std::uint64_t token, ph_status status) override {
    const auto pull = pulls.on_local(from, token, status);
    over.emplace_back(pull ? static_cast<int>(pull->number) : -1, pull ? pull->status : status);
  }
  Pulling() { port.serve(*this); }

  ph_status begin(std::uint64_t number, std::uint64_t epoch = 0, Rank from = 1) {
    Pull pull;
    pull.from = from;
    pull.number = number;
    pull.letter.mail.size_bytes = source.size();
    pull.letter.source = {reinterpret_cast<std::uint64_t>(source.data()), 1};
    pull.window = &window;
    pull.outcome = {Fate::lands, PH_OK, epoch, place.data()};
    return pulls.begin(pull);
  }
  static std::vector<std::uint64_t> numbers(const Pulls::List& list) {
    std::vector<std::uint64_t> all;
    for (const auto& [at, pull] : list) all.push_back(pull.number);
    return all;
  }
  using Numbers = std::vector<std::uint64_t>;

  MailPort port;
  Pulls pulls{port};
  Bytes source = some(64);
  Bytes place = Bytes(64);
  Window window{1, Policy{}, {}};
  std::vector<std::pair<int, ph_status>> over;
};

TEST(Pulls, a_pull_brings_the_bytes_to_its_place) {
  Pulling one;
  ASSERT_EQ(one.begin(3), PH_OK);
  EXPECT_EQ(one.pulls.size(), 1u);
  one.port.end_get();
  EXPECT_EQ(one.over, (std::vector<std::pair<int, ph_status>>{{3, PH_OK}}));
  EXPECT_EQ(one.place, one.source);
  EXPECT_EQ(one.pulls.size(), 0u);
}

TEST(Pulls, those_that_the_quota_holds_up_follow_in_their_order) {
  Pulling one;
  one.port.refuse(0, 6);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(one.begin(i), PH_OK);
  EXPECT_EQ(one.port.gets(), 0u);
  Pull failed;
  EXPECT_EQ(one.pulls.start_next(failed), PH_AGAIN);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(one.pulls.start_next(failed), PH_OK);
  EXPECT_EQ(one.pulls.start_next(failed), PH_AGAIN);
  for (int i = 0; i < 3; ++i) one.port.end_get();
  EXPECT_EQ(one.over, (std::vector<std::pair<int, ph_status>>{{0, PH_OK}, {1, PH_OK}, {2, PH_OK}}));
}

TEST(Pulls, one_that_cannot_be_started_is_handed_back) {
  Pulling one;
  one.port.refuse(0);
  ASSERT_EQ(one.begin(5), PH_OK);
  one.port.lose(1);
  EXPECT_EQ(one.begin(6), PH_ERR_PEER);
  Pull failed;
  EXPECT_EQ(one.pulls.start_next(failed), PH_ERR_PEER);
  EXPECT_EQ(failed.number, 5u);
  EXPECT_EQ(one.pulls.size(), 0u);
}

TEST(Pulls, of_one_epoch_are_recalled_and_their_ends_are_nobodys) {
  Pulling one;
  ASSERT_EQ(one.begin(0, 4), PH_OK);
  ASSERT_EQ(one.begin(1, 5), PH_OK);
  ASSERT_EQ(one.begin(2, 4), PH_OK);
  EXPECT_EQ(Pulling::numbers(one.pulls.recall(one.window, 4)), (Pulling::Numbers{0, 2}));
  EXPECT_EQ(one.pulls.size(), 1u);
  for (int i = 0; i < 3; ++i) one.port.end_get();
  EXPECT_EQ(one.over,
            (std::vector<std::pair<int, ph_status>>{{-1, PH_OK}, {1, PH_OK}, {-1, PH_OK}}));
}

TEST(Pulls, a_stray_stays_until_its_end) {
  Pulling one;
  one.port.gets_are_stuck = true;
  ASSERT_EQ(one.begin(7), PH_OK);
  const auto recalled = one.pulls.recall(one.window, 0);
  ASSERT_EQ(Pulling::numbers(recalled), Pulling::Numbers{7});
  EXPECT_TRUE(recalled.begin()->second.is_read()) << "its buffer is still written to";
  EXPECT_EQ(one.pulls.size(), 1u);
  EXPECT_TRUE(one.pulls.recall(one.window, 0).empty()) << "once";
  EXPECT_TRUE(one.pulls.give_up_all().empty());
  one.port.end_get();
  EXPECT_EQ(one.over, (std::vector<std::pair<int, ph_status>>{{7, PH_OK}}));
}

// One that covers more segments than are read at a time leaves room for others.
TEST(Pulls, of_many_segments_has_so_many_gets_at_a_time) {
  Pulling one;
  one.source = some(40);
  std::vector<std::byte> memory(80);
  std::vector<ph_block> blocks;
  for (std::size_t i = 0; i < 40; ++i) blocks.push_back({memory.data() + 2 * i, 1});
  const Layout layout(blocks);
  Pull pull;
  pull.from = 1;
  pull.letter.mail.size_bytes = 40;
  pull.letter.source = {reinterpret_cast<std::uint64_t>(one.source.data()), 1};
  pull.window = &one.window;
  pull.outcome.fate = Fate::scatters;
  pull.outcome.layout = &layout;
  ASSERT_EQ(one.pulls.begin(pull), PH_OK);
  EXPECT_EQ(one.port.gets(), Pull::kMostGets);
  Pull failed;
  for (std::size_t ended = 0; ended < 40; ++ended) {
    EXPECT_EQ(one.port.gets(), std::min(Pull::kMostGets, 40 - ended));
    one.port.end_get();
    while (one.pulls.start_next(failed) == PH_OK) continue;
  }
  EXPECT_EQ(one.pulls.size(), 0u);
  ASSERT_EQ(one.over.size(), 40u);
  EXPECT_EQ(one.over[38].first, -1);
  EXPECT_EQ(one.over[39].first, 0);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(memory[2 * i], one.source[i]);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(memory[2 * i + 1], std::byte{0});
}

// A rank that is stopped leaves the rest of the quota to others.
TEST(Pulls, of_one_rank_only_so_many_are_read_at_a_time) {
  Pulling one;
  for (std::uint64_t i = 0; i < 70; ++i) ASSERT_EQ(one.begin(i), PH_OK);
  EXPECT_EQ(one.port.gets(), 64u);
  ASSERT_EQ(one.begin(99, 0, 2), PH_OK);
  EXPECT_EQ(one.port.gets(), 65u);
  Pull failed;
  EXPECT_EQ(one.pulls.start_next(failed), PH_AGAIN);
  one.port.end_get();
  EXPECT_EQ(one.pulls.start_next(failed), PH_OK);
  EXPECT_EQ(one.port.gets(), 65u);
}

TEST(Pulls, of_a_lost_rank_those_that_wait_are_over_at_once) {
  Pulling one;
  ASSERT_EQ(one.begin(0), PH_OK);
  one.port.refuse(0, 2);
  ASSERT_EQ(one.begin(1), PH_OK);
  ASSERT_EQ(one.begin(2, 0, 2), PH_OK);
  EXPECT_EQ(Pulling::numbers(one.pulls.lose(1)), Pulling::Numbers{1});
  EXPECT_EQ(one.pulls.size(), 2u);
}

}  // namespace
}  // namespace photon::service::mailbox::test
