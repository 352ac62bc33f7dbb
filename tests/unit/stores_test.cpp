#include "engine/stores.hpp"

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

class StoresTest : public testing::TestWithParam<base::ShmStores> {
 protected:
  // A ring that nobody reads: it has room for 64 lines, of which none is used.
  std::vector<transport::Line> lines_ = std::vector<transport::Line>(64);
  transport::Credits credits_;
  service::LineProducer tx_{lines_.data(), &credits_, 6, 1, transport::LineOrder::in_a_row};
};

INSTANTIATE_TEST_SUITE_P(Settings, StoresTest,
                         testing::Values(base::ShmStores::automatic, base::ShmStores::plain,
                                         base::ShmStores::streamed));

TEST_P(StoresTest, copy_every_byte_whatever_they_choose) {
  Stores stores(GetParam());
  std::vector<std::byte> from(100'000), to(100'000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256);
  for (unsigned round = 0; round < 200; ++round)
    for (const std::size_t size : {100, 2047, 2048, 4096, 70'001}) {
      std::fill(to.begin(), to.end(), std::byte{0xee});
      const auto into = round % 2 == 0 ? Stores::Into::mapped : Stores::Into::ring;
      const Store used = stores.copy(into, {to.data() + 3, from.data() + 5, size, size}, tx_);
      ASSERT_EQ(std::memcmp(to.data() + 3, from.data() + 5, size), 0);
      ASSERT_EQ(to[2], std::byte{0xee});
      ASSERT_EQ(to[3 + size], std::byte{0xee});
      const bool is_plain = size < StoreChoice::kLeastBytes;
      if (is_plain || GetParam() != base::ShmStores::automatic) {
        const bool is_streamed = !is_plain && GetParam() == base::ShmStores::streamed;
        EXPECT_EQ(used, is_streamed ? Store::streamed : Store::plain);
      }
    }
}

TEST_P(StoresTest, say_what_they_would_use) {
  const Stores stores(GetParam());
  EXPECT_EQ(stores.best(Stores::Into::ring, 4096),
            GetParam() == base::ShmStores::streamed ? Store::streamed : Store::plain);
  EXPECT_EQ(stores.setting(), GetParam());
}

TEST(Stores, are_plain_where_no_other_core_reads) {
  EXPECT_EQ(Stores().setting(), base::ShmStores::plain);
}

}  // namespace
}  // namespace photon::engine
