// Buffers that were granted to this rank ahead of its messages.
#include "service/mailbox/ahead.hpp"

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

constexpr std::size_t kGrantBytes = 5000;

bool is_stored(const std::vector<std::uint64_t>& words) { return (words.at(0) >> 8 & 32) != 0; }

// It is granted buffers of 5,000 bytes by rank 1.
struct Granted5000 : Sending {
  Granted5000() {
    port.shares_memory = true;
    source = some(kGrantBytes);
  }
  bool grant(std::uint64_t number, Bytes& memory, std::uint64_t flags = 0,
             std::uint64_t threshold = kGrantBytes) {
    return deliver(
        {1,
         words_of({8 | flags << 8, kBox, number, reinterpret_cast<std::uint64_t>(memory.data()),
                   500 + number, memory.size(), threshold}),
         {},
         {},
         0,
         0});
  }
  // The words of the one message that was said.
  std::vector<std::uint64_t> said() {
    Said one;
    EXPECT_TRUE(port.take(one));
    EXPECT_EQ(port.waiting(), 0u);
    return words_in(one.header);
  }
  ph_status put_large(std::uint64_t offset = 0, std::uint64_t epoch = PH_ANY_EPOCH) {
    ph_mailbox_put_args large = args(kGrantBytes, 0);
    large.offset = offset;
    large.epoch = epoch;
    return sender().put(1, large, false);
  }
};

TEST(MailboxAhead, a_message_is_stored_in_the_first_buffer_and_the_letter_says_so) {
  Granted5000 one;
  Bytes first(kGrantBytes), second(kGrantBytes);
  ASSERT_TRUE(one.grant(1, first));
  ASSERT_TRUE(one.grant(2, second));
  ASSERT_EQ(one.put_large(), PH_OK);
  EXPECT_EQ(first, one.source);
  const auto words = one.said();
  ASSERT_EQ(words.size(), 7u);
  EXPECT_TRUE(is_stored(words));
  EXPECT_EQ(words[6], 1u);
  EXPECT_EQ(one.told(), Sending::Statuses{}) << "the source is needed until the verdict";
  ASSERT_EQ(one.put_large(), PH_OK);
  EXPECT_EQ(second, one.source) << "the first one is used up";
  ASSERT_TRUE(one.reply(1, Op::verdict, 0));
  ASSERT_TRUE(one.reply(1, Op::verdict, 1));
  EXPECT_EQ(one.told(), (Sending::Statuses{PH_OK, PH_OK}));
  EXPECT_EQ(one.port.exposures(), 0u);
}

TEST(MailboxAhead, a_stale_key_ends_its_grant_and_the_next_one_is_tried) {
  Granted5000 one;
  Bytes first(kGrantBytes), second(kGrantBytes);
  ASSERT_TRUE(one.grant(1, first));
  ASSERT_TRUE(one.grant(2, second));
  one.port.stale.insert(501);
  ASSERT_EQ(one.put_large(), PH_OK);
  EXPECT_EQ(first, Bytes(kGrantBytes));
  EXPECT_EQ(second, one.source);
  EXPECT_EQ(one.said()[6], 2u);
}

TEST(MailboxAhead, what_names_an_epoch_or_is_small_or_does_not_fit_is_not_stored) {
  Granted5000 one;
  Bytes memory(kGrantBytes);
  ASSERT_TRUE(one.grant(1, memory));
  ASSERT_EQ(one.put_large(1), PH_OK);
  EXPECT_FALSE(is_stored(one.said())) << "it leaves the buffer";
  ASSERT_TRUE(one.reply(1, Op::verdict, 0, PH_ERR_RANGE));
  ASSERT_TRUE(one.reply(1, Op::credit, 1));
  EXPECT_EQ(one.put_large(0, 3), PH_OK);
  Said said;
  while (one.port.take(said)) EXPECT_FALSE(is_stored(words_in(said.header)));
  EXPECT_EQ(memory, Bytes(kGrantBytes));
}

// What was counted there must stay, whatever becomes of the second one.
TEST(MailboxAhead, no_byte_is_stored_twice_under_a_grant) {
  Granted5000 one;
  Bytes memory(3 * kGrantBytes);
  ASSERT_TRUE(one.grant(1, memory, 0, 3 * kGrantBytes));
  ASSERT_EQ(one.put_large(), PH_OK);
  EXPECT_TRUE(is_stored(one.said()));
  const Bytes first = one.source;
  one.source = some(kGrantBytes, 5);
  ASSERT_EQ(one.put_large(), PH_OK);
  Said said;
  while (one.port.take(said)) EXPECT_FALSE(is_stored(words_in(said.header)));
  EXPECT_TRUE(std::equal(first.begin(), first.end(), memory.begin()));
}

// Nothing is stored in front of a message that its receiver may still copy to the same place.
TEST(MailboxAhead, behind_a_message_that_went_another_way_nothing_is_stored_until_that_is_over) {
  Granted5000 one;
  Bytes memory(kGrantBytes);
  ASSERT_EQ(one.put(8), PH_OK);
  ASSERT_TRUE(one.grant(1, memory));
  static_cast<void>(one.said());
  ASSERT_EQ(one.put_large(), PH_OK);
  EXPECT_EQ(memory, Bytes(kGrantBytes));
  Said said;
  while (one.port.take(said)) EXPECT_FALSE(is_stored(words_in(said.header)));
  ASSERT_TRUE(one.reply(1, Op::credit, 2));
  ASSERT_EQ(one.put_large(), PH_OK);
  EXPECT_EQ(memory, one.source);
  EXPECT_TRUE(is_stored(one.said()));
}

TEST(MailboxAhead, grants_that_cannot_be_cut_their_owner_off) {
  const auto is_malformed = [](std::vector<std::uint64_t> words) {
    Granted5000 one;
    return !one.deliver({1, words_of(words), {}, {}, 0, 0}) && one.is_cut_off(1);
  };
  const std::vector<std::uint64_t> good = {8, kBox, 1, 4096, 7, 64, 64};
  EXPECT_FALSE(is_malformed(good));
  const auto with = [&](std::size_t at, std::uint64_t word) {
    auto words = good;
    words[at] = word;
    return words;
  };
  EXPECT_TRUE(is_malformed(with(0, 8 | 4 << 8))) << "an unknown flag";
  EXPECT_TRUE(is_malformed(with(2, 0))) << "no number";
  EXPECT_TRUE(is_malformed(with(3, UINT64_MAX))) << "a place that wraps";
  EXPECT_TRUE(is_malformed(with(5, 0)));
  EXPECT_TRUE(is_malformed(with(6, 0)));
  auto shorter = good;
  shorter.pop_back();
  EXPECT_TRUE(is_malformed(shorter));
}

TEST(MailboxAhead, a_flood_of_grants_leaves_memory_bounded) {
  Granted5000 one;
  Bytes memory(64);
  for (std::uint64_t i = 1; i <= 200'000; ++i)
    ASSERT_TRUE(
        one.deliver({1,
                     words_of({8, i, i, reinterpret_cast<std::uint64_t>(memory.data()), i, 64, 64}),
                     {},
                     {},
                     0,
                     0}));
  EXPECT_LE(one.sender().granted(1), 65'536u);
}

}  // namespace
}  // namespace photon::service::mailbox::test
