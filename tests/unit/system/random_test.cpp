#include "system/random.hpp"

#include <gtest/gtest.h>

#include <array>

namespace photon::system {
namespace {

TEST(Random, fills_all_of_it_and_never_the_same) {
  std::array<std::byte, 256> one{};
  std::array<std::byte, 256> other{};
  ASSERT_TRUE(fill_random(one) && fill_random(other));
  EXPECT_NE(one, other);
  for (std::size_t part = 0; part < one.size(); part += 32) {
    bool any = false;
    for (std::size_t i = part; i < part + 32; ++i) any |= one[i] != std::byte{0};
    EXPECT_TRUE(any) << "nothing was written from " << part;
  }
  EXPECT_TRUE(fill_random({}));
}

}  // namespace
}  // namespace photon::system
