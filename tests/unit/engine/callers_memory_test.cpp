// Memory of callers that is looked at before it is copied.
#include "engine/callers_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace photon::engine {
namespace {

class CallersMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    void* const pages =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    all_ = {static_cast<std::byte*>(pages), kBytes};
  }
  void TearDown() override { ::munmap(all_.data(), kBytes); }
  std::span<std::byte> at(std::size_t begin, std::size_t size_bytes) const {
    return all_.subspan(begin, size_bytes);
  }
  void protect(std::size_t begin, std::size_t size_bytes, int protection) const {
    ASSERT_EQ(::mprotect(all_.data() + begin, size_bytes, protection), 0);
  }
  void unmap(std::size_t begin, std::size_t size_bytes) const {
    ASSERT_EQ(::munmap(all_.data() + begin, size_bytes), 0);
  }

  static constexpr std::size_t kBytes = 1 << 20;
  std::span<std::byte> all_;
  CallersMemory memory_;
};

TEST_F(CallersMemoryTest, what_follows_within_a_call_is_looked_at_together) {
  unmap(kBytes / 2, 4096);
  EXPECT_TRUE(memory_.can_read(at(0, 4096), 8192));
  EXPECT_FALSE(memory_.can_read(at(kBytes / 2 - 8192, 4096), 100'000)) << "what follows is gone";
  EXPECT_TRUE(memory_.can_read(at(kBytes / 2 - 8192, 4096), 4096));
}

TEST_F(CallersMemoryTest, what_was_seen_is_not_asked_for_again_until_callers_have_run) {
  EXPECT_TRUE(memory_.can_write(at(0, 4096), 65536));
  protect(8192, 4096, PROT_READ);
  EXPECT_TRUE(memory_.can_write(at(8192, 4096), 65536 - 8192)) << "it was seen in this call";
  EXPECT_TRUE(memory_.can_read(at(8192, 4096), 4096));
  EXPECT_FALSE(memory_.can_write(at(8192, 4096), 4096)) << "seen to be readable only";
  memory_.forget();
  EXPECT_FALSE(memory_.can_write(at(8192, 4096), 4096));
}

TEST_F(CallersMemoryTest, of_much_a_hole_anywhere_and_the_protection_of_both_ends_is_seen) {
  EXPECT_TRUE(CallersMemory::is_writable(all_));
  EXPECT_TRUE(CallersMemory::is_readable(all_));
  protect(kBytes - 4096, 4096, PROT_READ);
  EXPECT_FALSE(CallersMemory::is_writable(all_));
  EXPECT_TRUE(CallersMemory::is_readable(all_));
  protect(0, 4096, PROT_NONE);
  EXPECT_FALSE(CallersMemory::is_readable(all_));
  protect(0, kBytes, PROT_READ | PROT_WRITE);
  unmap(5 * 4096, 4096);
  EXPECT_FALSE(CallersMemory::is_readable(all_));
  EXPECT_FALSE(CallersMemory::is_writable(all_));
}

}  // namespace
}  // namespace photon::engine
