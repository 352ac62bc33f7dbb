// Accumulates of several origins that meet, preloaded: programs atomic and
// repeats.
#include <gtest/gtest.h>

#include "mpi_job.hpp"

namespace photon::test {
namespace {

class MpiAtomic : public MpiTest {};

TEST_P(MpiAtomic, ContiguousAndDerivedMeetOnOneWord) {
  expect_ok("atomic", 3, "contiguous_and_derived");
}
TEST_P(MpiAtomic, BulkAndSmallMeetOnOneWord) { expect_ok("atomic", 3, "bulk_and_small"); }
TEST_P(MpiAtomic, ThreadAndOriginMeetOnOneWord) { expect_ok("atomic", 2, "thread_and_origin"); }
TEST_P(MpiAtomic, TicketsAndSwaps) { expect_ok("atomic", 3, "tickets swaps"); }
TEST_P(MpiAtomic, OtherElements) { expect_ok("atomic", 3, "other_elements unsigned_elements"); }
TEST_P(MpiAtomic, RepeatedTargetsOfUserOperations) {
  expect_ok("repeats", 2, "in_order at_target");
}
TEST_P(MpiAtomic, OrderOfCalls) { expect_ok("atomic", 2, "order_of_calls"); }

INSTANTIATE_TEST_SUITE_P(Flavours, MpiAtomic, mpi_flavours(), flavour_name);

}  // namespace
}  // namespace photon::test
