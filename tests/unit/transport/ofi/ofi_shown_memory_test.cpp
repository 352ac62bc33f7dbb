#include "transport/ofi/ofi_shown_memory.hpp"

#include <gtest/gtest.h>

#include "fake_fabric.hpp"

namespace photon::transport::ofi {
namespace {

using photon::test::FakeFabric;

TEST(ShownMemory, is_shown_once_in_fragments_and_taken_along_when_it_moves) {
  FakeFabric fabric({.wants_memory_shown = true}, {.sends_count = 1});
  auto made = ShownMemory::make(fabric, 8192, "for a test");
  ASSERT_TRUE(made);
  const ShownMemory memory = std::move(*made);
  EXPECT_NE(memory.handle(), 0u);
  EXPECT_EQ(memory.bytes().size(), 8192u);
  EXPECT_TRUE(made->bytes().empty());
  const Buffer second = memory.fragment(1, 4096);
  EXPECT_EQ(second.bytes.data(), memory.bytes().data() + 4096);
  EXPECT_EQ(second.bytes.size(), 4096u);
  EXPECT_EQ(second.handle, memory.handle());
}

TEST(ShownMemory, more_than_there_is_says_what_it_was_for) {
  FakeFabric fabric({}, {.sends_count = 1});
  const auto made = ShownMemory::make(fabric, std::size_t{1} << 60, "for a test");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().status, PH_ERR_MEMORY);
  EXPECT_NE(made.error().what.find("for a test"), std::string::npos) << made.error().what;
}

}  // namespace
}  // namespace photon::transport::ofi
