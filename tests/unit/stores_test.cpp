#include "engine/parts/stores.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace photon::engine {
namespace {

TEST(LineWatch, tells_of_a_change_when_it_was_seen_twice) {
  LineWatch watch;
  EXPECT_FALSE(watch.saw(100));
  EXPECT_TRUE(watch.saw(110));  // the first that is known
  EXPECT_EQ(watch.usual(), 110u);
  EXPECT_FALSE(watch.saw(150));
  EXPECT_FALSE(watch.saw(500));
  EXPECT_TRUE(watch.is_due()) << "it looks again at once";
  EXPECT_TRUE(watch.saw(450));
  EXPECT_FALSE(watch.saw(480));
  EXPECT_FALSE(watch.saw(90));
  EXPECT_TRUE(watch.saw(100));
}

TEST(LineWatch, is_not_misled_by_naps) {
  LineWatch watch;
  watch.saw(100);
  watch.saw(100);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(watch.saw(100));
    EXPECT_FALSE(watch.saw(1'000'000 * static_cast<std::uint64_t>(i % 3 + 1)));
  }
}

TEST(LineWatch, looks_now_and_then) {
  LineWatch watch;
  EXPECT_TRUE(watch.is_due());
  watch.saw(100);
  EXPECT_TRUE(watch.is_due());
  watch.saw(100);
  unsigned count = 1;
  while (!watch.is_due()) ++count;
  EXPECT_EQ(count, LineWatch::kInterval);
  watch.put_off();
  EXPECT_FALSE(watch.is_due());
}

class StoresTest : public testing::TestWithParam<base::ShmCopies> {
 protected:
  // A ring that nobody reads: it has room for 64 lines, of which none is used.
  std::vector<transport::Line> lines_ = std::vector<transport::Line>(64);
  transport::Credits credits_;
  service::LineProducer tx_{lines_.data(), &credits_, 6, 1, transport::LineOrder::in_a_row};
};

INSTANTIATE_TEST_SUITE_P(Settings, StoresTest,
                         testing::Values(base::ShmCopies::automatic, base::ShmCopies::plain,
                                         base::ShmCopies::streamed, base::ShmCopies::staged));

TEST_P(StoresTest, choose_what_the_setting_says_and_what_is_allowed) {
  Stores stores(GetParam());
  bool was[3] = {};
  for (unsigned round = 0; round < 200; ++round) {
    EXPECT_EQ(stores.for_mapped(2047, true, tx_), Way::plain);
    EXPECT_EQ(stores.for_ring(2047, 2047, tx_), Way::plain);
    EXPECT_NE(stores.for_mapped(2048, false, tx_), Way::ring);
    EXPECT_NE(stores.for_ring(70'001, 4096, tx_), Way::ring);
    was[static_cast<std::size_t>(stores.for_mapped(2048, true, tx_))] = true;
  }
  const bool is_automatic = GetParam() == base::ShmCopies::automatic;
  EXPECT_EQ(was[0], is_automatic || GetParam() == base::ShmCopies::plain);
  EXPECT_EQ(was[1], is_automatic || GetParam() == base::ShmCopies::streamed);
  EXPECT_EQ(was[2], is_automatic || GetParam() == base::ShmCopies::staged);
}

TEST_P(StoresTest, say_what_they_would_use) {
  const Stores stores(GetParam());
  const bool is_streamed = GetParam() == base::ShmCopies::streamed;
  const bool is_staged = GetParam() == base::ShmCopies::staged;
  EXPECT_EQ(stores.best_for_ring(4096), is_streamed ? Way::streamed : Way::plain);
  EXPECT_EQ(stores.best_for_mapped(4096), is_staged     ? Way::ring
                                          : is_streamed ? Way::streamed
                                                        : Way::plain);
  EXPECT_EQ(stores.best_for_mapped(2047), Way::plain);
  EXPECT_EQ(stores.best_for_ring(2047), Way::plain);
}

TEST(Stores, say_in_the_words_of_a_path_what_is_used) {
  const auto words_of = [](base::ShmCopies setting, const char* before) {
    ph_path path{};
    std::snprintf(path.reason, sizeof path.reason, "%s", before);
    Stores(setting).describe(path);
    return std::string(path.reason);
  };
  EXPECT_EQ(words_of(base::ShmCopies::automatic, "shm"),
            "shm; puts to mapped memory stored; into the bulk ring stored");
  EXPECT_EQ(words_of(base::ShmCopies::staged, ""),
            "; puts to mapped memory staged; into the bulk ring stored");
  EXPECT_EQ(words_of(base::ShmCopies::streamed, ""),
            "; puts to mapped memory streamed; into the bulk ring streamed");
  const std::string full(sizeof(ph_path::reason) - 10, 'x');
  EXPECT_EQ(words_of(base::ShmCopies::plain, full.c_str()), full + "; puts to");
}

TEST(Stores, give_an_answer_again_that_was_put_off) {
  std::vector<transport::Line> lines(64);
  transport::Credits credits;
  service::LineProducer tx(lines.data(), &credits, 6, 1, transport::LineOrder::in_a_row);
  Stores stores(base::ShmCopies::automatic);
  stores.put_off(Way::ring, 4096);
  EXPECT_EQ(stores.for_mapped(4096, true, tx), Way::ring);
  stores.put_off(Way::ring, 4096);
  EXPECT_NE(stores.for_mapped(4096, false, tx), Way::ring) << "it is not allowed any more";
  stores.put_off(Way::ring, 4096);
  EXPECT_EQ(stores.for_mapped(8192, true, tx), Way::plain) << "it was about another size";
  stores.put_off(Way::ring, 4096);
  stores.take_pending();
  EXPECT_EQ(stores.for_mapped(4096, true, tx), Way::plain) << "the first copies are";
}

TEST(Stores, copy_every_byte_whatever_the_way) {
  std::vector<std::byte> from(100'000), to(100'000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256);
  for (const Way way : {Way::plain, Way::streamed, Way::ring})
    for (const std::size_t size : {0, 100, 2047, 2048, 4096, 70'001}) {
      std::fill(to.begin(), to.end(), std::byte{0xee});
      Stores::copy(way, to.data() + 3, from.data() + 5, size);
      ASSERT_EQ(std::memcmp(to.data() + 3, from.data() + 5, size), 0);
      ASSERT_EQ(to[2], std::byte{0xee});
      ASSERT_EQ(to[3 + size], std::byte{0xee});
    }
}

TEST(Stores, are_plain_where_no_other_core_reads) {
  std::vector<transport::Line> lines(64);
  transport::Credits credits;
  service::LineProducer tx(lines.data(), &credits, 6, 1, transport::LineOrder::in_a_row);
  Stores stores;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(stores.for_mapped(1 << 20, true, tx), Way::plain);
}

}  // namespace
}  // namespace photon::engine
