// One sleep for several transports.
#include "transport/poll_sleepers.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "stub_transport.hpp"

namespace photon::transport {
namespace {

constexpr std::int64_t kTenMinutesUs = 600'000'000;

TEST(PollSleepers, it_ends_by_a_descriptor_of_either_and_only_its_owner_is_told) {
  StubTransport one, other;
  Transport* const both[] = {&one, &other};
  for (StubTransport* woken : {&one, &other}) {
    ASSERT_EQ(::eventfd_write(woken->event.get(), 1), 0);
    poll_sleepers(both, kTenMinutesUs);
    eventfd_t ignored = 0;
    ASSERT_EQ(::eventfd_read(woken->event.get(), &ignored), 0);
    EXPECT_EQ(woken->slept_with, std::vector<unsigned>{1U << 1});  // its second descriptor
  }
}

TEST(PollSleepers, what_comes_while_it_lasts_ends_it) {
  StubTransport one, other;
  Transport* const both[] = {&one, &other};
  std::thread waker([&] { ASSERT_EQ(::eventfd_write(other.event.get(), 1), 0); });
  poll_sleepers(both, -1);
  waker.join();
  EXPECT_TRUE(one.slept_with.empty());
  EXPECT_EQ(other.slept_with.size(), 1u);
}

TEST(PollSleepers, it_is_no_longer_than_the_most_impatient_allows) {
  StubTransport patient, impatient;
  impatient.on.limit_us = 1000;
  Transport* const both[] = {&patient, &impatient};
  poll_sleepers(both, -1);
  poll_sleepers(both, kTenMinutesUs);
  impatient.on.limit_us = kTenMinutesUs;
  poll_sleepers(both, 1000);
  EXPECT_TRUE(patient.slept_with.empty());
  EXPECT_TRUE(impatient.slept_with.empty());
}

}  // namespace
}  // namespace photon::transport
