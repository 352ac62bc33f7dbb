#include "service/mailbox/asking.hpp"

#include <cstring>

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

std::span<const std::byte> header_of(const Encoded& encoded, std::size_t count) {
  return std::as_bytes(std::span(encoded.words).first(count));
}

TEST(Asking, a_question_comes_out_as_it_went_in) {
  for (const std::uint64_t epoch : {PH_ANY_EPOCH, std::uint64_t{0}, std::uint64_t{77}})
    for (const bool is_last : {false, true}) {
      const Ask ask{7, 99, {24, 4096, epoch, 5, is_last}};
      const Encoded encoded = encode(ask);
      const auto found = decode_ask(header_of(encoded, encoded.count));
      ASSERT_TRUE(found);
      EXPECT_EQ(found->address, 7u);
      EXPECT_EQ(found->token, 99u);
      EXPECT_EQ(found->what.offset, 24u);
      EXPECT_EQ(found->what.size_bytes, 4096u);
      EXPECT_EQ(found->what.epoch, epoch);
      EXPECT_EQ(found->what.incarnation, 5u);
      EXPECT_EQ(found->what.is_last, is_last);
    }
}

TEST(Asking, questions_that_cannot_be_are_malformed) {
  const auto ask = [](const std::vector<std::uint64_t>& words) {
    return decode_ask(std::as_bytes(std::span(words))).has_value();
  };
  EXPECT_TRUE(ask({5, 7, 0, 8, 1}));
  EXPECT_FALSE(ask({5, 7, 0, 8})) << "no token";
  EXPECT_FALSE(ask({5, 7, 0, 8, 1, 2})) << "an epoch that is not named";
  EXPECT_FALSE(ask({5 | 1 << 8, 7, 0, 8, 1})) << "one that is, and is not there";
  EXPECT_FALSE(ask({5 | 1 << 8, 7, 0, 8, 1, PH_ANY_EPOCH}));
  EXPECT_FALSE(ask({5 | 4 << 8, 7, 0, 8, 1})) << "an unknown flag";
  EXPECT_FALSE(ask({5 | 1 << 24, 7, 0, 8, 1}));
  EXPECT_TRUE(ask({5, 7, 0, kMostPart, 1}));
  EXPECT_FALSE(ask({5, 7, 0, kMostPart + 1, 1}));
}

TEST(Asking, an_answer_comes_out_as_it_went_in) {
  for (const std::size_t size : {0, 1, 8, 24}) {
    const Bytes bytes = some(size);
    Encoded encoded = encode(Answer{99, PH_OK, 4, 5});
    const std::size_t count = add_bytes(encoded, bytes);
    const auto found = decode_answer(header_of(encoded, count), {}, 0);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->answer.token, 99u);
    EXPECT_EQ(found->answer.status, PH_OK);
    EXPECT_EQ(found->answer.epoch, 4u);
    EXPECT_EQ(found->answer.incarnation, 5u);
    EXPECT_EQ(Bytes(found->bytes.begin(), found->bytes.end()), bytes);
  }
}

TEST(Asking, answers_that_cannot_be_are_malformed) {
  const auto answer = [](const std::vector<std::uint64_t>& words, std::size_t payload = 0,
                         std::uint64_t body = 0) {
    return decode_answer(std::as_bytes(std::span(words)), some(payload), body).has_value();
  };
  const auto error = static_cast<std::uint64_t>(std::int64_t{PH_ERR_RANGE});
  EXPECT_TRUE(answer({6, 1, 0, 0}));
  EXPECT_TRUE(answer({6, 1, error, 0}));
  EXPECT_TRUE(answer({6, 1, 0, 0}, 100));
  EXPECT_TRUE(answer({6, 1, 0, 0}, 0, 5000));
  EXPECT_FALSE(answer({6}));
  EXPECT_FALSE(answer({6, 1, 0})) << "no epoch";
  EXPECT_FALSE(answer({6, 1, 0, 0, 0})) << "bytes that nobody named";
  EXPECT_FALSE(answer({6 | 8 << 16, 1, 0, 0}));
  EXPECT_FALSE(answer({6 | 1 << 8, 1, 0, 0})) << "a flag";
  EXPECT_FALSE(answer({6, 1, 1, 0})) << "PH_AGAIN is no end";
  EXPECT_FALSE(answer({6 | 8 << 16, 1, 0, 0, 5}, 8)) << "bytes in two ways";
  EXPECT_FALSE(answer({6, 1, error, 0}, 8)) << "bytes with an error";
  EXPECT_FALSE(answer({6, 1, error, 0}, 0, 5000));
}

}  // namespace
}  // namespace photon::service::mailbox::test
