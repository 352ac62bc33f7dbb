#include "transport/network/free_entries.hpp"

#include <gtest/gtest.h>

namespace photon::transport::network {
namespace {

TEST(FreeEntries, hold_no_registration) {
  const auto entries = free_entries(64);
  ASSERT_TRUE(entries);
  sync::RegionView view;
  for (std::uint64_t key = 1; key < 64; ++key) EXPECT_FALSE((*entries)[key].read(key, view));
}

}  // namespace
}  // namespace photon::transport::network
