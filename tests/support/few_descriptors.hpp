// A lack of descriptors that a test makes: while it lives, this process can open so many more.
// Owner: the test. Threads: one, for all of them have the same limit.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace photon::test {

class FewDescriptors {
 public:
  explicit FewDescriptors(std::size_t left_count) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    // Each is the lowest that is free, so below the limit nothing else is.
    std::vector<int> left;
    for (std::size_t i = 0; i <= left_count; ++i) left.push_back(::dup(STDERR_FILENO));
    limit_ = static_cast<rlim_t>(left.back());
    for (const int one : left) ::close(one);
    const rlimit few{.rlim_cur = limit_, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewDescriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

  rlim_t limit() const { return limit_; }

 private:
  rlimit before_{};
  rlim_t limit_ = 0;
};

// Text that names the limit in force and what to do about it.
inline void expect_names_limit(const std::string& text, rlim_t limit_count) {
  const std::string limit = std::to_string(limit_count) + " descriptors (RLIMIT_NOFILE)";
  for (const std::string& part : {limit, std::string("ulimit -n")})
    EXPECT_NE(text.find(part), std::string::npos) << text << " does not say: " << part;
}

}  // namespace photon::test
