// Many short jobs of more PEs than cores, one behind the other: each starts, meets and ends.
// scripts/soak.d/converse_starts does the same some thousand times.
#include <gtest/gtest.h>

#include "job.hpp"
#include "rounds.hpp"

namespace photon::test {
namespace {

TEST(ConverseStarts, of_more_pes_than_cores_all_end) {
  const ConverseShape shapes[] = {{2, 4, ""}, {1, 8, ""}, {4, 2, ""}, {8, 1, ""}};
  const auto count = static_cast<int>(rounds(200));
  for (int start = 0; start < count; ++start) {
    const ConverseShape& shape = shapes[start % 4];
    expect_converse_ok("brief_c", "brief", shape);
    ASSERT_FALSE(HasFailure()) << "start " << start << " of " << shape_name(shape);
  }
}

}  // namespace
}  // namespace photon::test
