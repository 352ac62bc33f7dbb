#include "boot/watch.hpp"

#include <sys/eventfd.h>

#include "boot_ranks.hpp"

namespace photon::test {
namespace {

TEST(Watch, tells_which_descriptors_are_ready) {
  boot::Watch watch = std::move(*boot::Watch::create());
  const base::UniqueFd quiet(::eventfd(0, EFD_CLOEXEC));
  const base::UniqueFd loud(::eventfd(1, EFD_CLOEXEC));
  ASSERT_TRUE(watch.add(quiet.get(), EPOLLIN, 5));
  EXPECT_FALSE(is_readable(watch.fd()));
  ASSERT_TRUE(watch.add(loud.get(), EPOLLIN, 6));
  EXPECT_TRUE(is_readable(watch.fd()));
  ASSERT_EQ(watch.ready().size(), 1u);
  EXPECT_EQ(watch.ready()[0].tag, 6u);
}

TEST(Watch, forgets_what_was_removed_and_follows_changes) {
  boot::Watch watch = std::move(*boot::Watch::create());
  const base::UniqueFd event(::eventfd(0, EFD_CLOEXEC));
  ASSERT_TRUE(watch.add(event.get(), EPOLLIN, 1));
  ASSERT_TRUE(watch.change(event.get(), EPOLLIN | EPOLLOUT, 2));
  ASSERT_EQ(watch.ready().size(), 1u);
  EXPECT_EQ(watch.ready()[0].events, std::uint32_t{EPOLLOUT});
  watch.remove(event.get());
  EXPECT_TRUE(watch.ready().empty());
}

TEST(Watch, says_why_a_descriptor_cannot_be_watched) {
  boot::Watch watch = std::move(*boot::Watch::create());
  EXPECT_EQ(watch.add(-1, EPOLLIN, 1).error().native_errno, EBADF);
}

}  // namespace
}  // namespace photon::test
