#include "base/status.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace photon::base {
namespace {

TEST(Status, every_code_has_its_own_text) {
  std::set<std::string> texts;
  for (int code = PH_ERR_NO_BUFFER; code <= PH_TIMEOUT; ++code) {
    const std::string text = status_text(code);
    EXPECT_NE(text, "unknown status") << code;
    EXPECT_TRUE(texts.insert(text).second) << text;
  }
}

TEST(Status, other_numbers_are_unknown) {
  EXPECT_STREQ(status_text(PH_TIMEOUT + 1), "unknown status");
  EXPECT_STREQ(status_text(PH_ERR_NO_BUFFER - 1), "unknown status");
}

}  // namespace
}  // namespace photon::base
