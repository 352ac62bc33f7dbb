// The walk over the items of an aggregate: nothing outside it is ever shown, whatever a peer wrote.
#include "service/am/aggregate_items.hpp"

#include <random>

#include "am_sending.hpp"

namespace photon::service::am::sending_test {
namespace {

Bytes words(std::initializer_list<std::uint64_t> all) {
  return photon::test::words_of(std::vector<std::uint64_t>(all));
}

TEST(AmItems, each_item_comes_with_its_parts) {
  Bytes bytes = words({encode_item({kHasImmediate, 65535, 3, 9}), 77, 0x1122334455667788, 0x99,
                       0xaabbcc, encode_item({0, 1, 0, 0}), encode_item({0, 2, 8, 0}), 5});
  Items items(bytes);
  auto item = items.next();
  ASSERT_TRUE(item);
  EXPECT_EQ(item->id, 65535u);
  EXPECT_EQ(item->parts.immediate, 77u);
  EXPECT_EQ(item->parts.payload.data(), bytes.data() + 16);
  EXPECT_EQ(item->parts.payload.size(), 9u);
  EXPECT_EQ(item->parts.header.data(), bytes.data() + 32);
  EXPECT_EQ(item->parts.header.size(), 3u);
  item = items.next();
  ASSERT_TRUE(item);
  EXPECT_EQ(item->id, 1u);
  EXPECT_TRUE(item->parts.payload.empty());
  EXPECT_TRUE(item->parts.header.empty());
  item = items.next();
  ASSERT_TRUE(item);
  EXPECT_EQ(item->parts.header.size(), 8u);
  EXPECT_FALSE(items.next());
  EXPECT_FALSE(items.is_malformed());
  EXPECT_EQ(items_in(bytes), 3u);
}

TEST(AmItems, what_cannot_be_is_malformed) {
  const std::uint64_t good = encode_item({0, 1, 0, 0});
  EXPECT_EQ(items_in({}), 0u) << "none at all";
  EXPECT_EQ(items_in(words({good})), 1u);
  for (std::uint64_t bit = 1; bit < 16; ++bit)
    EXPECT_EQ(items_in(words({good | std::uint64_t{1} << bit})), 0u) << "bit " << bit;
  EXPECT_EQ(items_in(words({good | kHasImmediate})), 0u) << "its immediate is behind the end";
  EXPECT_EQ(items_in(words({good, encode_item({0, 1, 0, 1})})), 0u) << "its payload is";
  EXPECT_EQ(items_in(words({encode_item({0, 1, 9, 0}), 0})), 0u) << "its header is";
  EXPECT_EQ(items_in(words({encode_item({0, 1, 1, 8}), 0})), 0u);
  const Bytes long_one(sizeof(std::uint64_t) * 1000);
  Bytes over = long_one;
  const std::uint64_t word = encode_item({0, 1, 4097, 0});
  std::memcpy(over.data(), &word, sizeof word);
  EXPECT_EQ(items_in(over), 0u) << "a header over 4096 bytes";
  Bytes cut = words({good, good});
  cut.resize(12);
  EXPECT_EQ(items_in(cut), 0u) << "a word that is cut";
}

TEST(AmItems, after_a_malformed_one_nothing_comes) {
  const Bytes bytes = words({encode_item({0, 1, 0, 0}), 2, encode_item({0, 1, 0, 0})});
  Items items(bytes);
  EXPECT_TRUE(items.next());
  EXPECT_FALSE(items.next());
  EXPECT_FALSE(items.next());
  EXPECT_TRUE(items.is_malformed());
}

TEST(AmItems, garbage_is_walked_within_its_bounds) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes(random() % 200);
    for (std::byte& one : bytes)
      one = static_cast<std::byte>(random() % 4 == 0 ? random() : random() % 3);
    Items items(bytes);
    while (const auto item = items.next()) {
      for (const auto part : {item->parts.payload, item->parts.header}) {
        if (part.empty()) continue;
        ASSERT_GE(part.data(), bytes.data());
        ASSERT_LE(part.data() + part.size(), bytes.data() + bytes.size());
      }
    }
  }
}

TEST(AmItems, every_word_survives_being_written_and_read) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 10'000; ++i) {
    const ItemWord word{
        static_cast<std::uint8_t>(random() & 1), static_cast<std::uint16_t>(random()),
        static_cast<std::uint16_t>(random() % 4097), static_cast<std::uint16_t>(random())};
    const auto read = decode_item(encode_item(word));
    ASSERT_TRUE(read);
    EXPECT_EQ(encode_item(*read), encode_item(word));
    EXPECT_EQ(read->bytes() % 8, 0u);
  }
}

}  // namespace
}  // namespace photon::service::am::sending_test
