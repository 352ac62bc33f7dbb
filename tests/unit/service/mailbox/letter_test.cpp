// Letters as words: what is written is read, and whatever else comes is refused.
#include "service/mailbox/letter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "wire/status.hpp"

namespace photon::service::mailbox {
namespace {

using HeaderWords = std::vector<std::uint64_t>;

// In memory of its own size, so that a sanitizer sees who reads beyond it.
std::vector<std::byte> in_bytes(const HeaderWords& words) {
  std::vector<std::byte> bytes(words.size() * sizeof(std::uint64_t));
  if (!bytes.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

std::vector<std::byte> header_of(const Encoded& encoded, std::size_t count) {
  return in_bytes({encoded.words.begin(), encoded.words.begin() + static_cast<long>(count)});
}

void expect_same(const Letter& found, const Letter& written) {
  EXPECT_EQ(found.address, written.address);
  EXPECT_EQ(found.asks, written.asks);
  EXPECT_EQ(found.has_body, written.has_body);
  EXPECT_EQ(found.mail.offset, written.mail.offset);
  EXPECT_EQ(found.mail.size_bytes, written.mail.size_bytes);
  EXPECT_EQ(found.mail.epoch, written.mail.epoch);
  EXPECT_EQ(found.mail.incarnation, written.mail.incarnation);
  EXPECT_EQ(found.mail.appends, written.mail.appends);
}

std::vector<std::byte> drawn_bytes(std::mt19937_64& random, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& one : bytes) one = static_cast<std::byte>(random());
  return bytes;
}

Letter drawn_letter(std::mt19937_64& random) {
  const auto number = [&] {
    const std::uint64_t edges[] = {0, 1, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX, random()};
    return edges[random() % std::size(edges)];
  };
  Letter letter;
  letter.address = number();
  letter.mail.offset = number();
  letter.mail.epoch = number();  // also PH_ANY_EPOCH
  letter.mail.incarnation = static_cast<std::uint32_t>(number());
  letter.mail.appends = random() % 2 == 0;
  letter.asks = random() % 2 == 0;
  return letter;
}

TEST(Letter, is_read_as_it_was_written_in_the_line) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) {
    Letter letter = drawn_letter(random);
    Encoded encoded = encode(letter);
    const auto bytes = drawn_bytes(random, random() % (encoded.room_bytes() + 1));
    letter.mail.size_bytes = bytes.size();
    const auto header = header_of(encoded, add_bytes(encoded, bytes));
    ASSERT_EQ(op_of(header), Op::mail);
    const auto found = decode_mail(header, {}, 0);
    ASSERT_TRUE(found) << bytes.size();
    expect_same(found->letter, letter);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), found->bytes.begin(), found->bytes.end()));
  }
}

TEST(Letter, is_read_as_it_was_written_in_the_payload_and_as_a_body) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 5000; ++i) {
    Letter letter = drawn_letter(random);
    letter.has_body = i % 2 == 0;
    const auto payload = drawn_bytes(random, letter.has_body ? 0 : 1 + random() % 1024);
    letter.mail.size_bytes = letter.has_body ? 1 + random() % (1 << 20) : payload.size();
    const Encoded encoded = encode(letter);
    const auto header = header_of(encoded, encoded.count);
    ASSERT_EQ(op_of(header), Op::mail);
    const auto found = decode_mail(header, payload, letter.has_body ? letter.mail.size_bytes : 0);
    ASSERT_TRUE(found);
    expect_same(found->letter, letter);
    EXPECT_EQ(found->bytes.size(), payload.size());
    if (!letter.has_body) {
      EXPECT_EQ(found->bytes.data(), payload.data());
    }
  }
}

TEST(Letter, is_read_as_it_was_written_as_a_withdrawal) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 5000; ++i) {
    Letter letter = drawn_letter(random);
    letter.mail.appends = false;
    letter.mail.withdraws = true;
    letter.mail.size_bytes = random() % 3;
    const Encoded encoded = encode(letter);
    const auto header = header_of(encoded, encoded.count);
    const auto found = decode_mail(header, {}, 0);
    ASSERT_EQ(found.has_value(), (letter.mail.size_bytes | letter.mail.offset) != 0);
    if (!found) continue;
    expect_same(found->letter, letter);
    EXPECT_TRUE(found->letter.mail.withdraws);
    EXPECT_EQ(found->letter.carried_bytes() + found->bytes.size(), 0u);
  }
}

TEST(Letter, that_withdraws_and_brings_something_is_malformed) {
  constexpr std::uint64_t kWithdraws = 16 << 8;
  EXPECT_TRUE(decode_mail(in_bytes({1 | kWithdraws, 7, 0, 8}), {}, 0));
  EXPECT_FALSE(decode_mail(in_bytes({1 | kWithdraws | 2 << 8, 7, 0, 8}), {}, 0)) << "an append";
  EXPECT_FALSE(decode_mail(in_bytes({1 | kWithdraws, 7, 0, 8}), {}, 100)) << "a body";
  EXPECT_FALSE(decode_mail(in_bytes({1 | kWithdraws, 7, 0, 8}), std::vector<std::byte>(8), 0));
  EXPECT_FALSE(decode_mail(in_bytes({1 | kWithdraws | 8 << 16, 7, 0, 8, 8}), {}, 0));
  EXPECT_FALSE(decode_mail(in_bytes({1 | kWithdraws | 8 << 8, 7, 0, 8, 8, 8}), {}, 0))
      << "an offer";
}

TEST(Letter, has_room_for_32_bytes_and_for_24_beside_an_epoch) {
  Letter letter;
  for (const std::uint64_t epoch : {PH_ANY_EPOCH, std::uint64_t{0}}) {
    letter.mail.epoch = epoch;
    Encoded encoded = encode(letter);
    EXPECT_EQ(encoded.room_bytes(), epoch == 0 ? 24u : 32u);
    EXPECT_EQ(add_bytes(encoded, std::vector<std::byte>(encoded.room_bytes())), kWords);
  }
}

// Every flag, every count of bytes in the line and every length of a header: of each the one length
// that is right, and no other.
TEST(Letter, of_any_other_length_is_malformed) {
  for (std::uint64_t flags = 0; flags < 256; ++flags)
    for (const std::uint64_t in_line : {0, 1, 7, 8, 9, 23, 24, 25, 31, 32, 33, 40, 256, 0xffff})
      for (std::size_t count = 1; count <= kWords; ++count) {
        HeaderWords words(count);
        words[0] = 1 | flags << 8 | in_line << 16;
        const std::size_t right = ((flags & 1) != 0 ? 4 : 3) + (in_line + 7) / 8;
        const auto found = decode_mail(in_bytes(words), {}, 0);
        ASSERT_EQ(found.has_value(), flags < 8 && count == right)
            << flags << " " << in_line << " " << count;
        if (found) {
          ASSERT_EQ(found->bytes.size(), in_line);
        }
      }
}

TEST(Letter, with_bytes_in_two_ways_is_malformed) {
  const std::vector<std::byte> payload(5);
  for (int ways = 0; ways < 8; ++ways) {
    const std::uint64_t in_line = (ways & 1) != 0 ? 8 : 0;
    HeaderWords words = {1 | in_line << 16, 7, 0};
    if (in_line != 0) words.push_back(0);
    const auto along = std::span(payload).first((ways & 2) != 0 ? payload.size() : 0);
    const auto found = decode_mail(in_bytes(words), along, (ways & 4) != 0 ? 100 : 0);
    EXPECT_EQ(found.has_value(), std::popcount(static_cast<unsigned>(ways)) <= 1) << ways;
  }
}

TEST(Letter, that_names_any_epoch_is_malformed) {
  EXPECT_TRUE(decode_mail(in_bytes({1 | 1 << 8, 7, 0, PH_ANY_EPOCH - 1}), {}, 0));
  EXPECT_FALSE(decode_mail(in_bytes({1 | 1 << 8, 7, 0, PH_ANY_EPOCH}), {}, 0));
}

TEST(Letter, is_known_by_its_first_word_alone) {
  for (std::size_t size = 0; size <= 72; ++size) {
    std::vector<std::byte> header(size);
    if (size != 0) header[0] = std::byte{4};
    EXPECT_EQ(op_of(header).has_value(), size % 8 == 0 && size >= 8 && size <= 56) << size;
  }
  for (std::uint64_t op = 0; op < 256; ++op) {
    const auto found = op_of(in_bytes({op | ~std::uint64_t{255}}));
    EXPECT_EQ(found.has_value(), op >= 1 && op <= 8) << op;
    if (found) {
      EXPECT_EQ(static_cast<std::uint64_t>(*found), op);
    }
  }
}

TEST(Letter, replies_have_a_number_of_56_bits) {
  for (const Op op : {Op::kept, Op::verdict, Op::credit, Op::recall})
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{77}, UINT64_MAX >> 8}) {
      HeaderWords words = {first_word(op, number)};
      if (op == Op::verdict) words.push_back(static_cast<std::uint64_t>(PH_ERR_RANGE));
      const auto header = in_bytes(words);
      ASSERT_EQ(op_of(header), op);
      const auto reply = decode_reply(op, header);
      ASSERT_TRUE(reply);
      EXPECT_EQ(reply->op, op);
      EXPECT_EQ(reply->number, number);
      if (op == Op::verdict) {
        EXPECT_EQ(wire::to_status(reply->status), PH_ERR_RANGE);
      }
    }
}

TEST(Letter, replies_of_another_length_are_malformed) {
  for (const Op op : {Op::kept, Op::verdict, Op::credit, Op::recall})
    for (std::size_t count = 1; count <= kWords; ++count) {
      HeaderWords words(count);
      words[0] = first_word(op, 5);
      const bool is_right = op == Op::verdict ? count == 2 || count == 3 : count == 1;
      EXPECT_EQ(decode_reply(op, in_bytes(words)).has_value(), is_right)
          << static_cast<int>(op) << " " << count;
    }
}

TEST(Letter, a_verdict_says_an_epoch_only_of_what_has_landed) {
  const auto found = [](ph_status status, std::uint64_t epoch) {
    const HeaderWords words = {first_word(Op::verdict, 5),
                               static_cast<std::uint64_t>(std::int64_t{status}), epoch};
    return decode_reply(Op::verdict, in_bytes(words));
  };
  ASSERT_TRUE(found(PH_OK, 9));
  EXPECT_EQ(found(PH_OK, 9)->epoch, 9u);
  EXPECT_FALSE(found(PH_OK, PH_ANY_EPOCH));
  EXPECT_FALSE(found(PH_ERR_EPOCH, 9));
  const auto without = decode_reply(Op::verdict, in_bytes({first_word(Op::verdict, 5), PH_OK}));
  ASSERT_TRUE(without);
  EXPECT_EQ(without->epoch, PH_ANY_EPOCH);
}

TEST(Letter, a_verdict_without_an_end_is_malformed) {
  const auto is_verdict = [](std::int64_t status) {
    const HeaderWords words = {first_word(Op::verdict), static_cast<std::uint64_t>(status)};
    return decode_reply(Op::verdict, in_bytes(words)).has_value();
  };
  for (std::int64_t status = PH_OK; status >= wire::kLastError; --status)
    EXPECT_TRUE(is_verdict(status)) << status;
  for (const std::int64_t status : {std::int64_t{PH_AGAIN}, std::int64_t{wire::kLastError} - 1,
                                    std::int64_t{1} << 32, INT64_MIN, INT64_MAX})
    EXPECT_FALSE(is_verdict(status)) << status;
}

}  // namespace
}  // namespace photon::service::mailbox
