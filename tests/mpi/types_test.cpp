// Datatypes of one-sided MPI, preloaded: programs types and types_large.
#include <gtest/gtest.h>

#include "mpi_job.hpp"

namespace photon::test {
namespace {

class MpiType : public MpiTest {};

TEST_P(MpiType, FreedRightAfter) { expect_ok("types", 2, "freed_right_after"); }
TEST_P(MpiType, BottomAbsolute) { expect_ok("types", 2, "bottom_absolute"); }
TEST_P(MpiType, NegativeLowerBound) { expect_ok("types", 2, "negative_lower_bound"); }
TEST_P(MpiType, PairHoles) { expect_ok("types", 2, "pair_holes"); }
TEST_P(MpiType, ZeroSize) { expect_ok("types", 2, "zero_size"); }
TEST_P(MpiType, NestedContiguous) { expect_ok("types", 2, "nested_contiguous"); }
TEST_P(MpiType, LargeOnesAtBothSides) {
  expect_ok("types_large", 2, "put get accumulate get_accumulate");
}

INSTANTIATE_TEST_SUITE_P(Flavours, MpiType, mpi_flavours(), flavour_name);

}  // namespace
}  // namespace photon::test
