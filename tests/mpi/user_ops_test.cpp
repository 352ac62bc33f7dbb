// Operations of the program in accumulates, preloaded: program user_ops.
#include <gtest/gtest.h>

#include "mpi_job.hpp"

namespace photon::test {
namespace {

class MpiUserOps : public MpiTest {
 protected:
  static void expect_ok(int ranks, const std::string& cases, const std::string& sides = "",
                        const std::string& setting = "") {
    MpiJob job{GetParam(), "user_ops", ranks, cases};
    job.sides = sides;
    job.setting = setting;
    MpiTest::expect_ok(job);
  }
};

TEST_P(MpiUserOps, KeepTheOrderOfOneOrigin) { expect_ok(3, "order"); }
TEST_P(MpiUserOps, MeetOnOneWord) { expect_ok(4, "together"); }
TEST_P(MpiUserOps, OfDerivedTypes) { expect_ok(2, "derived"); }
TEST_P(MpiUserOps, AtTheTarget) { expect_ok(3, "at_target"); }
TEST_P(MpiUserOps, AreRefused) {
  expect_ok(1, "errors");
  expect_ok(3, "errors handles many");
}
TEST_P(MpiUserOps, InServedMemory) {
  expect_ok(3, "order together derived at_target", "", kNoCopies);
}
TEST_P(MpiUserOps, BetweenHosts) {
  expect_ok(2, "order together derived at_target errors handles many", "ab");
}
TEST_P(MpiUserOps, BetweenHostsOfTwoAndOne) { expect_ok(3, "order together", "aab"); }

INSTANTIATE_TEST_SUITE_P(Flavours, MpiUserOps, mpi_flavours(), flavour_name);

}  // namespace
}  // namespace photon::test
