#include "base/readable.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

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

TEST(Readable, memory_that_cannot_be_written_is_not_writable) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* const pages = static_cast<std::byte*>(
      ::mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  EXPECT_TRUE(is_writable({pages, 4 * page}));
  ASSERT_EQ(::mprotect(pages + 2 * page, page, PROT_READ), 0);
  EXPECT_FALSE(is_writable({pages, 4 * page}));
  EXPECT_TRUE(is_readable({pages, 4 * page}));
  EXPECT_TRUE(is_writable({pages, 2 * page}));
  EXPECT_TRUE(is_writable({pages + 2 * page, 0}));
  for (const std::size_t size : {1, 7, 8, 9, 100}) {
    EXPECT_TRUE(is_writable({pages + 2 * page - size, size})) << size;
    EXPECT_FALSE(is_writable({pages + 2 * page - size + 1, size})) << size << ", its last byte";
    EXPECT_TRUE(is_writable({pages + 3 * page, size})) << size;
    EXPECT_FALSE(is_writable({pages + 3 * page - 1, size})) << size << ", its first byte";
  }
  ASSERT_EQ(::munmap(pages + 2 * page, page), 0);
  EXPECT_FALSE(is_writable({pages, 4 * page}));
  ::munmap(pages, 4 * page);
}

// Two pages are asked for at a time, so each one has to be missed wherever it lies.
TEST(Readable, any_page_that_is_missing_is_found_from_any_begin_to_any_end) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* const pages = static_cast<std::byte*>(
      ::mmap(nullptr, 6 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  const std::size_t begins[] = {0, 1, 4, page - 9, page - 8, page - 3, page - 1};
  for (std::size_t missing = 0; missing < 6; ++missing) {
    ASSERT_EQ(::mprotect(pages + missing * page, page, PROT_NONE), 0);
    for (const std::size_t begin : begins) {
      for (std::size_t end_page = 0; end_page < 5; ++end_page) {
        for (const std::size_t rest : {1, 4, 8, 9, 100}) {
          const std::size_t end = (end_page + 1) * page + rest;
          const bool is_there = missing > (end - 1) / page || missing < begin / page;
          EXPECT_EQ(is_readable({pages + begin, end - begin}), is_there)
              << missing << ": " << begin << " to " << end;
          EXPECT_EQ(is_writable({pages + begin, end - begin}), is_there)
              << missing << ": " << begin << " to " << end;
        }
      }
    }
    ASSERT_EQ(::mprotect(pages + missing * page, page, PROT_READ | PROT_WRITE), 0);
  }
  ::munmap(pages, 6 * page);
}

TEST(Readable, asking_whether_memory_can_be_written_leaves_it_as_it_is) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<std::byte> memory(3 * page);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 7 + 1);
  const std::vector<std::byte> before = memory;
  for (const std::size_t at : {0, 1, 5})
    for (const std::size_t size : {std::size_t{3}, std::size_t{8}, page, 2 * page + 3})
      EXPECT_TRUE(is_writable(std::span(memory).subspan(at, size)));
  EXPECT_EQ(memory, before);
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
