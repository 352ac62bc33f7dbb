#include "call_failed.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>

namespace photonrun {
namespace {

std::string words_after(int number) {
  errno = number;
  const CallFailed failed("clone");
  EXPECT_EQ(failed.code().value(), number);
  return failed.what();
}

TEST(CallFailed, names_the_call_and_what_to_do) {
  const std::array<std::pair<int, const char*>, 6> kAdvice{{{EPERM, "docs/containers.md"},
                                                            {EACCES, "sandbox"},
                                                            {ENOSYS, "sandbox"},
                                                            {EAGAIN, "ulimit -u"},
                                                            {EMFILE, "ulimit -n"},
                                                            {ENOMEM, "ulimit -v"}}};
  for (const auto& [number, advice] : kAdvice) {
    const std::string said = words_after(number);
    EXPECT_EQ(said.rfind("clone: ", 0), 0u) << said;
    EXPECT_NE(said.find(advice), std::string::npos) << said;
  }
  EXPECT_EQ(words_after(EIO).find(';'), std::string::npos) << "there is nothing to do about it";
}

TEST(CallFailed, is_not_thrown_where_random_bytes_are_to_be_had) {
  std::array<std::byte, 32> one{}, other{};
  fill_random(one);
  fill_random(other);
  EXPECT_NE(one, other);
}

}  // namespace
}  // namespace photonrun
