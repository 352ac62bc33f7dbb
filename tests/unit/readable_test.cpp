#include "base/readable.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace photon::base {
namespace {

TEST(Readable, memory_with_a_hole_is_not) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* const pages = static_cast<std::byte*>(
      ::mmap(nullptr, 4 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  EXPECT_TRUE(is_readable({pages, 4 * page}));
  ASSERT_EQ(::mprotect(pages + 2 * page, page, PROT_NONE), 0);
  EXPECT_FALSE(is_readable({pages, 4 * page}));
  EXPECT_TRUE(is_readable({pages, 2 * page}));
  EXPECT_FALSE(is_readable({pages + 1, 2 * page})) << "its last byte";
  EXPECT_TRUE(is_readable({pages + 3 * page, page}));
  EXPECT_TRUE(is_readable({pages + 2 * page, 0}));
  ::munmap(pages, 4 * page);
}

TEST(Readable, memory_that_was_unmapped_is_not_mapped) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* const pages = static_cast<std::byte*>(
      ::mmap(nullptr, 4 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  EXPECT_TRUE(is_mapped({pages + 1, 4 * page - 2}));
  ASSERT_EQ(::munmap(pages + 2 * page, page), 0);
  EXPECT_FALSE(is_mapped({pages, 4 * page}));
  EXPECT_FALSE(is_mapped({pages + 1, 2 * page})) << "its last byte";
  EXPECT_TRUE(is_mapped({pages, 2 * page}));
  EXPECT_TRUE(is_mapped({pages + 2 * page, 0}));
  ::munmap(pages, 4 * page);
}

}  // namespace
}  // namespace photon::base
