// What only the interface of echo checks, and all of it between a rank and itself.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <string>
#include <vector>

namespace photon {
namespace {

class EchoApi : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK); }
  void TearDown() override { ph_context_destroy(context_); }
  ph_context* context_ = nullptr;
};

TEST_F(EchoApi, is_refused_without_a_context_and_after_its_end) {
  ph_echo_result result{};
  const std::byte byte{};
  EXPECT_EQ(ph_echo(nullptr, 0, 1), PH_ERR_STATE);
  EXPECT_EQ(ph_echo_tell(nullptr, 0, 1), PH_ERR_STATE);
  EXPECT_EQ(ph_echo_body(nullptr, 0, {&byte, 1}, 1), PH_ERR_STATE);
  EXPECT_EQ(ph_echo_answer(nullptr, &result), PH_ERR_STATE);
  EXPECT_EQ(ph_echo_wait(nullptr, &result, 0), PH_ERR_STATE);
  EXPECT_EQ(ph_echo_listen(nullptr, nullptr, nullptr), PH_ERR_STATE);
  ASSERT_EQ(ph_echo(context_, 0, 1), PH_OK);
  ASSERT_EQ(ph_finalize(context_), PH_OK) << "an answer that nobody takes keeps nobody";
  EXPECT_EQ(ph_echo(context_, 0, 1), PH_ERR_STATE);
  EXPECT_EQ(ph_echo_answer(context_, &result), PH_ERR_STATE);
}

TEST_F(EchoApi, has_a_limit_of_answers_that_nobody_takes) {
  std::uint64_t asked = 0;
  ph_echo_result result{};
  for (int again = 0; asked <= PH_ECHO_MOST_ASKED && again < 1000;) {
    if (ph_echo(context_, 0, asked) == PH_OK) {
      ++asked;
      again = 0;
      continue;
    }
    ++again;
    std::size_t count = 0;
    EXPECT_EQ(ph_probe(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, nullptr, 0, &count), PH_OK);
  }
  EXPECT_EQ(asked, std::uint64_t{PH_ECHO_MOST_ASKED});
  for (std::uint64_t i = 0; i < asked; ++i) {
    ASSERT_EQ(ph_echo_wait(context_, &result, 10'000'000), PH_OK);
    ASSERT_EQ(result.value, i);
  }
  ASSERT_EQ(ph_finalize(context_), PH_OK);
}

TEST_F(EchoApi, drops_what_is_told_to_nobody) {
  ASSERT_EQ(ph_echo_tell(context_, 0, 5), PH_OK);
  int heard = 0;
  const auto hear = [](void* user, ph_rank, std::uint64_t) { ++*static_cast<int*>(user); };
  ph_echo_result result{};
  ASSERT_EQ(ph_echo_answer(context_, &result), PH_AGAIN);
  ASSERT_EQ(ph_echo_listen(context_, hear, &heard), PH_OK);
  ASSERT_EQ(ph_echo_tell(context_, 0, 6), PH_OK);
  ASSERT_EQ(ph_echo_answer(context_, &result), PH_AGAIN);
  EXPECT_EQ(heard, 1);
  ASSERT_EQ(ph_finalize(context_), PH_OK);
}

TEST_F(EchoApi, keeps_the_words_of_the_call_that_runs_a_handler) {
  static const auto words = [](ph_context* context) {
    ph_error error{};
    ph_last_error(context, &error);
    return std::string(error.text);
  };
  const auto fail = [](void* user, ph_rank, std::uint64_t) {
    auto* const context = static_cast<ph_context*>(user);
    EXPECT_EQ(ph_echo(context, 5, 1), PH_ERR_RANK);
    EXPECT_NE(words(context).find("no rank 5"), std::string::npos) << words(context);
  };
  ASSERT_EQ(ph_echo_listen(context_, fail, context_), PH_OK);
  ASSERT_EQ(ph_echo(context_, 7, 1), PH_ERR_RANK);
  ASSERT_EQ(ph_echo_tell(context_, 0, 6), PH_OK);
  ph_echo_result result{};
  ASSERT_EQ(ph_echo_wait(context_, &result, 1000), PH_TIMEOUT);
  EXPECT_NE(words(context_).find("no rank 7"), std::string::npos) << words(context_);
  ASSERT_EQ(ph_finalize(context_), PH_OK);
}

TEST_F(EchoApi, adds_up_in_order) {
  const std::vector<unsigned char> one{1, 2, 3}, other{2, 1, 3};
  EXPECT_NE(ph_echo_sum({one.data(), 3}), ph_echo_sum({other.data(), 3}));
  EXPECT_EQ(ph_echo_sum({one.data(), 0}), ph_echo_sum({other.data(), 0}));
  ASSERT_EQ(ph_finalize(context_), PH_OK);
}

}  // namespace
}  // namespace photon
