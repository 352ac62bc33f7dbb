// How long a rank waits for a launcher that holds its end of the channel and says nothing.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/time_source.hpp"
#include "base/unique_fd.hpp"
#include "boot/launch_boot.hpp"

namespace photon::test {
namespace {

// Each look at it finds it a second later.
class SecondsByLooks final : private base::TimeSource::Given {
 public:
  base::TimeSource source() noexcept { return base::TimeSource(*this); }
  std::int64_t looks_count() const noexcept { return looks_count_; }

 private:
  std::int64_t now_ns() noexcept override { return ++looks_count_ * 1'000'000'000; }
  void ring_at(int, std::int64_t) noexcept override {}
  void pause() noexcept override {}

  std::int64_t looks_count_ = 0;
};

TEST(LaunchPatience, ends_after_half_a_minute_and_says_so) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  const base::UniqueFd launcher(ends[0]);
  SecondsByLooks time;
  const auto opened = boot::LaunchBoot::open(std::to_string(ends[1]), time.source());
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().what.find("the launcher does not answer"), std::string::npos)
      << opened.error().what;
  EXPECT_GE(time.looks_count(), 30);
  EXPECT_LE(time.looks_count(), 35);
}

}  // namespace
}  // namespace photon::test
