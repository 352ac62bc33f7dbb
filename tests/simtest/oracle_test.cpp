// That the oracle finds what is wrong: it is fed calls and completions of a job that never ran.
#include <gtest/gtest.h>

#include <string>

#include "tests/simtest/fed_oracle.hpp"

namespace photon::simtest {
namespace {

TEST(Oracle, a_put_that_keeps_its_promises_is_no_finding) {
  FedOracle fed;
  Operation& op = fed.post(0, put_to(1));
  fed.arrive(op);
  fed.local(op);
  fed.remote(op);
  EXPECT_EQ(fed.finding(), "");
  EXPECT_TRUE(fed.oracle.is_settled());
}

TEST(Oracle, an_id_before_its_bytes_is_found) {
  FedOracle fed;
  Operation& op = fed.post(0, put_to(1));
  fed.remote(op);
  EXPECT_EQ(fed.finding(), "bytes");
}

TEST(Oracle, a_second_registration_under_another_key_is_found) {
  FedOracle fed;
  fed.oracle.enrolled(1, Area::extra, {1, kLentBytes, 77});
  fed.oracle.enrolled(1, Area::extra, {1, kLentBytes, 77});
  EXPECT_EQ(fed.finding(), "");
  EXPECT_EQ(fed.oracle.memory(1).lease(Area::extra).holds, 2u);
  fed.oracle.enrolled(1, Area::extra, {1, kLentBytes, 78});
  EXPECT_EQ(fed.finding(), "region");
}

TEST(RankMemory, the_smallest_registration_around_a_range_is_expected) {
  FedOracle fed;
  RankMemory& memory = fed.oracle.memory(0);
  memory.window_region.key = 1;
  memory.inner_region.key = 2;
  memory.library_region.key = 3;
  EXPECT_EQ(memory.key_around(Area::window, 0, 64), 1u);
  EXPECT_EQ(memory.key_around(Area::contended, kInnerOffset, kInnerBytes), 2u);
  EXPECT_EQ(memory.key_around(Area::contended, kInnerOffset, kInnerBytes + 1), 1u);
  EXPECT_EQ(memory.key_around(Area::library, kLibraryBytes - 1, 2), 0u);
  EXPECT_EQ(memory.key_around(Area::extra, 0, 1), 0u);
  fed.oracle.enrolled(0, Area::extra, {1, kLentBytes, 4});
  EXPECT_EQ(memory.key_around(Area::extra, 0, kLentBytes), 4u);
}

}  // namespace
}  // namespace photon::simtest
