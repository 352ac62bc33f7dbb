#include "wire/bulk_place.hpp"

#include <gtest/gtest.h>

namespace photon::wire {
namespace {

TEST(BulkPlace, a_chunk_that_would_cross_the_end_starts_at_the_beginning) {
  EXPECT_EQ(bulk_begin(0, 8192, 8192), 0u);
  EXPECT_EQ(bulk_begin(64, 8128, 8192), 64u);
  EXPECT_EQ(bulk_begin(64, 8129, 8192), 8192u);
  EXPECT_EQ(bulk_begin(8192 + 64, 8129, 8192), 16384u);
  EXPECT_EQ(bulk_begin(8192, 0, 8192), 8192u);
  EXPECT_EQ(bulk_end(64, 1), 128u);
  EXPECT_EQ(bulk_end(64, 64), 128u);
  EXPECT_EQ(bulk_end(64, 0), 64u);
}

}  // namespace
}  // namespace photon::wire
