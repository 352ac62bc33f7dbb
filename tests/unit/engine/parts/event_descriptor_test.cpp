// One descriptor for several: when it is readable, and which of them are.
#include "engine/parts/event_descriptor.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace photon::engine {
namespace {

bool is_readable(const EventDescriptor& events, int timeout_ms = 0) {
  pollfd one{events.fd(), POLLIN, 0};
  return ::poll(&one, 1, timeout_ms) == 1;
}

void signal(const base::UniqueFd& fd) {
  const std::uint64_t one = 1;
  ASSERT_EQ(::write(fd.get(), &one, sizeof one), 8);
}

EventDescriptor::Fds fds_of(int first, int last) {
  EventDescriptor::Fds fds;
  fds.fill(-1);
  fds.front() = first;
  fds.back() = last;
  return fds;
}

constexpr int kLongMs = 20'000;

TEST(EventDescriptor, is_readable_until_it_is_quieted_and_when_the_doorbell_is_rung) {
  auto events = EventDescriptor::create();
  ASSERT_TRUE(events);
  EXPECT_TRUE(is_readable(**events));
  (*events)->quiet(-1);
  EXPECT_FALSE(is_readable(**events));
  for (int i = 0; i < 3; ++i) (*events)->ring();
  EXPECT_TRUE(is_readable(**events));
  (*events)->quiet(-1);
  EXPECT_FALSE(is_readable(**events)) << "however often it was rung";
}

TEST(EventDescriptor, tells_of_the_descriptors_it_watches_and_of_no_other) {
  auto events = EventDescriptor::create();
  ASSERT_TRUE(events);
  const base::UniqueFd one(::eventfd(0, EFD_CLOEXEC));
  const base::UniqueFd other(::eventfd(0, EFD_CLOEXEC));
  (*events)->quiet(-1);
  ASSERT_TRUE((*events)->watch(fds_of(one.get(), other.get())));
  EXPECT_FALSE(is_readable(**events));
  EXPECT_EQ((*events)->ready(), 0u);
  signal(other);
  EXPECT_TRUE(is_readable(**events));
  EXPECT_EQ((*events)->ready(), 1U << (EventDescriptor::kWatched - 1));
  signal(one);
  EXPECT_EQ((*events)->ready(), 1U << (EventDescriptor::kWatched - 1) | 1U);
  ASSERT_TRUE((*events)->watch(fds_of(one.get(), -1)));
  EXPECT_EQ((*events)->ready(), 1u);
  ASSERT_TRUE((*events)->watch(fds_of(-1, other.get())));
  EXPECT_EQ((*events)->ready(), 1U << (EventDescriptor::kWatched - 1));
  EXPECT_EQ((*events)->watch(fds_of(1 << 30, -1)).error().status, PH_ERR_SYSTEM);
}

TEST(EventDescriptor, becomes_readable_when_its_time_is_over_and_that_can_be_taken_back) {
  auto events = EventDescriptor::create();
  ASSERT_TRUE(events);
  (*events)->quiet(1000);
  EXPECT_TRUE(is_readable(**events, kLongMs));
  (*events)->quiet(-1);
  EXPECT_FALSE(is_readable(**events, 5));
  (*events)->quiet(0);
  EXPECT_TRUE(is_readable(**events, kLongMs));
}

}  // namespace
}  // namespace photon::engine
