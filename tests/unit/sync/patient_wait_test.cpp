// The pace of looks at a word that nobody rings.
#include "sync/patient_wait.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace photon::sync {
namespace {

using Microseconds = std::chrono::microseconds;

TEST(PatientWait, is_awake_at_first_and_then_sleeps_ever_longer_up_to_a_millisecond) {
  unsigned looks = 0;
  while (PatientWait::nap_after(looks) == Microseconds(0)) ASSERT_LT(++looks, 10'000u);
  EXPECT_GE(looks, 100u) << "a call of the other one's takes no longer";
  Microseconds before(0), all(0);
  for (const unsigned end = looks + 100; looks < end; ++looks) {
    const Microseconds nap = PatientWait::nap_after(looks);
    EXPECT_GE(nap, before);
    EXPECT_LE(nap, all / 8 + Microseconds(50)) << "who ends the wait is held up for long";
    before = nap;
    all += nap;
  }
  EXPECT_EQ(before, Microseconds(1000));
  EXPECT_EQ(PatientWait::nap_after(~0U), before) << "however long it takes";
}

TEST(PatientWait, takes_at_least_its_nap) {
  const auto began = std::chrono::steady_clock::now();
  PatientWait()(~0U);
  EXPECT_GE(std::chrono::steady_clock::now() - began, PatientWait::nap_after(~0U));
}

}  // namespace
}  // namespace photon::sync
