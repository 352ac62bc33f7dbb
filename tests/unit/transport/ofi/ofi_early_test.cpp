// Messages that have overtaken others.
#include "transport/ofi/ofi_early.hpp"

#include "ofi_ranks.hpp"

namespace photon::transport::ofi::test {
namespace {

TEST(OfiEarly, are_given_by_their_number_once) {
  Early early;
  const std::vector<std::byte> body(3, std::byte{5});
  ASSERT_TRUE(early.keep({.sequence = 7}, body, 2));
  ASSERT_TRUE(early.keep({.sequence = 9}, {}, 2));
  EXPECT_FALSE(early.keep({.sequence = 8}, {}, 2)) << "no more than two";
  EXPECT_FALSE(early.next(8));
  const auto seventh = early.next(7);
  ASSERT_TRUE(seventh);
  EXPECT_EQ(seventh->head.sequence, 7u);
  EXPECT_EQ(seventh->body, body);
  EXPECT_FALSE(early.next(7));
  EXPECT_FALSE(early.keep({.sequence = 9}, {}, 5)) << "a second one";
  EXPECT_TRUE(early.keep({.sequence = 10}, {}, 5));
}

class OfiUnordered : public OfiTest {};

// The word of each line, as they came.
std::vector<std::uint64_t> words_of(Link& link, std::size_t count) {
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < count; ++i) words.push_back(link.rx_lines[i].words[2].get());
  return words;
}

TEST_F(OfiUnordered, records_stand_in_their_order) {
  OfiRanks ranks(2, {.keeps_order = false});
  ASSERT_TRUE(ranks.join(0, 1));
  for (std::uint64_t word = 1; word <= 20; ++word) ASSERT_TRUE(ranks[0].say(1, word));
  ranks.settle();
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t word = 1; word <= 20; ++word) wanted.push_back(word);
  EXPECT_EQ(words_of(ranks[1].to(0), 20), wanted);
  EXPECT_TRUE(ranks[1].news.gone.empty());
}

// Its bye comes first, and is heard last.
TEST_F(OfiUnordered, a_bye_does_not_overtake) {
  OfiRanks ranks(2, {.keeps_order = false});
  ASSERT_TRUE(ranks.join(0, 1));
  for (std::uint64_t word = 1; word <= 5; ++word) ASSERT_TRUE(ranks[0].say(1, word));
  ranks[0].transport.reset();
  ASSERT_TRUE(ranks.eventually([&] { return ranks[1].news.gone.count(0) != 0; }));
  EXPECT_EQ(words_of(ranks[1].to(0), 5), (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
  EXPECT_NE(ranks[1].news.gone[0].what.find("has ended"), std::string::npos);
}

}  // namespace
}  // namespace photon::transport::ofi::test
