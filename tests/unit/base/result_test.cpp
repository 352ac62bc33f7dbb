#include "base/result.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace photon::base {
namespace {

TEST(Result, holds_a_value_when_the_call_succeeded) {
  Result<int> result = 7;
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, 7);
}

TEST(Result, holds_the_error_when_the_call_failed) {
  const Result<int> result = Error{.status = PH_ERR_KEY, .what = "no such key"};
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().status, PH_ERR_KEY);
  EXPECT_EQ(result.error().what, "no such key");
  EXPECT_EQ(result.error().rank, PH_ANY_RANK);
}

TEST(Result, of_void_succeeds_by_default) {
  EXPECT_TRUE(Result<>{});
  const Result<> failed = Error{.status = PH_ERR_STATE, .what = "finalized"};
  EXPECT_FALSE(failed);
}

TEST(Result, carries_types_that_can_only_be_moved) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  ASSERT_TRUE(result);
  const std::unique_ptr<int> taken = std::move(*result);
  EXPECT_EQ(*taken, 3);
}

TEST(Result, system_error_keeps_errno_and_says_it_in_words) {
  errno = ENOENT;
  const Error error = system_error("open /nowhere");
  EXPECT_EQ(error.status, PH_ERR_SYSTEM);
  EXPECT_EQ(error.native_errno, ENOENT);
  EXPECT_EQ(error.what, "open /nowhere: No such file or directory");
}

TEST(Result, system_error_says_what_to_do_when_descriptors_have_run_out) {
  errno = EMFILE;
  const Error error = system_error("socket");
  EXPECT_EQ(error.native_errno, EMFILE);
  EXPECT_NE(error.what.find("RLIMIT_NOFILE"), std::string::npos) << error.what;
}

TEST(Result, system_error_survives_an_unknown_number) {
  errno = 99999;
  EXPECT_EQ(system_error("x").what, "x: unknown error");
}

}  // namespace
}  // namespace photon::base
