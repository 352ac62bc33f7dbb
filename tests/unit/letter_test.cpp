#include "service/mailbox/letter.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace photon::service::mailbox {
namespace {

std::span<const std::byte> header_of(const Encoded& encoded, std::size_t words) {
  return std::as_bytes(std::span(encoded.words).first(words));
}

TEST(Letter, what_is_packed_is_unpacked) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 10'000; ++i) {
    Letter letter;
    letter.address = random();
    letter.mail.offset = random();
    letter.mail.incarnation = static_cast<std::uint32_t>(random());
    letter.mail.appends = random() % 2 != 0;
    letter.asks = random() % 2 != 0;
    if (random() % 2 != 0) letter.mail.epoch = random() >> 1;
    Encoded encoded = encode(letter);
    std::vector<std::byte> bytes(random() % (encoded.room_bytes() + 1));
    for (std::byte& byte : bytes) byte = std::byte(random());
    const std::size_t words = add_bytes(encoded, bytes);
    ASSERT_LE(words, kWords);
    const auto header = header_of(encoded, words);
    ASSERT_EQ(op_of(header), Op::mail);
    const auto found = decode_mail(header, {}, 0);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->letter.address, letter.address);
    EXPECT_EQ(found->letter.asks, letter.asks);
    EXPECT_EQ(found->letter.mail.offset, letter.mail.offset);
    EXPECT_EQ(found->letter.mail.epoch, letter.mail.epoch);
    EXPECT_EQ(found->letter.mail.incarnation, letter.mail.incarnation);
    EXPECT_EQ(found->letter.mail.appends, letter.mail.appends);
    EXPECT_EQ(found->letter.mail.size_bytes, bytes.size());
    EXPECT_EQ(std::vector(found->bytes.begin(), found->bytes.end()), bytes);
  }
}

TEST(Letter, bytes_come_in_one_way) {
  Letter letter;
  const std::vector<std::byte> bytes(8);
  Encoded bare = encode(letter);
  const auto header = header_of(bare, bare.count);
  EXPECT_EQ(decode_mail(header, bytes, 0)->letter.mail.size_bytes, 8u);
  EXPECT_EQ(decode_mail(header, {}, 5000)->letter.mail.size_bytes, 5000u);
  EXPECT_TRUE(decode_mail(header, {}, 5000)->letter.has_body);
  EXPECT_FALSE(decode_mail(header, bytes, 5000).has_value());
  Encoded filled = encode(letter);
  const auto with_bytes = header_of(filled, add_bytes(filled, bytes));
  EXPECT_FALSE(decode_mail(with_bytes, bytes, 0).has_value());
  EXPECT_FALSE(decode_mail(with_bytes, {}, 5000).has_value());
}

TEST(Letter, what_cannot_be_is_malformed) {
  Letter letter;
  letter.mail.epoch = 7;
  Encoded encoded = encode(letter);
  const std::size_t words = add_bytes(encoded, std::vector<std::byte>(9));
  for (std::size_t size = 0; size <= sizeof(Words); ++size) {
    const auto cut = header_of(encoded, kWords).first(size);
    const bool is_whole = size == words * sizeof(std::uint64_t);
    EXPECT_EQ(op_of(cut).has_value() && decode_mail(cut, {}, 0).has_value(), is_whole) << size;
  }
  const auto with = [&](std::size_t word, std::uint64_t bits) {
    Encoded forged = encoded;
    forged.words[word] |= bits;
    return decode_mail(header_of(forged, words), {}, 0).has_value();
  };
  EXPECT_TRUE(with(1, 0));
  EXPECT_FALSE(with(0, std::uint64_t{8} << 8)) << "an unknown flag";
  EXPECT_FALSE(with(0, std::uint64_t{0xff00} << 16)) << "more bytes than there are";
  EXPECT_FALSE(with(3, ~std::uint64_t{0})) << "an epoch that is none";
  for (const std::uint64_t op : {0u, 5u, 255u}) {
    const Words forged{op};
    EXPECT_FALSE(op_of(std::as_bytes(std::span(forged).first(1))).has_value()) << op;
  }
}

TEST(Letter, replies_have_their_length_and_a_verdict_is_an_end) {
  const auto reply = [](Op op, std::vector<std::uint64_t> words) {
    return decode_reply(op, std::as_bytes(std::span(words)));
  };
  EXPECT_EQ(reply(Op::credit, {first_word(Op::credit, 12)})->number, 12u);
  EXPECT_EQ(reply(Op::kept, {first_word(Op::kept, 3)})->number, 3u);
  EXPECT_FALSE(reply(Op::credit, {first_word(Op::credit, 12), 0}).has_value());
  const auto refused = static_cast<std::uint64_t>(std::int64_t{PH_ERR_EPOCH});
  EXPECT_EQ(reply(Op::verdict, {first_word(Op::verdict, 3), refused})->status, refused);
  EXPECT_TRUE(reply(Op::verdict, {first_word(Op::verdict, 3), PH_OK}).has_value());
  EXPECT_FALSE(reply(Op::verdict, {first_word(Op::verdict, 3)}).has_value());
  EXPECT_FALSE(reply(Op::verdict, {first_word(Op::verdict, 3), PH_AGAIN}).has_value());
  EXPECT_FALSE(reply(Op::verdict, {first_word(Op::verdict, 3), refused - 100}).has_value());
}

}  // namespace
}  // namespace photon::service::mailbox
