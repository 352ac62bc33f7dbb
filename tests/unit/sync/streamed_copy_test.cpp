#include "sync/streamed_copy.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "sync/policy.hpp"

namespace photon::sync {
namespace {

std::vector<std::byte> pattern(std::size_t size_bytes, unsigned seed) {
  std::vector<std::byte> bytes(size_bytes);
  for (std::size_t i = 0; i < size_bytes; ++i)
    bytes[i] = static_cast<std::byte>(seed + i * 7 + (i >> 8));
  return bytes;
}

TEST(StreamedCopy, copies_every_size_from_and_to_any_alignment_and_nothing_else) {
  constexpr std::size_t kRoom = 1024;
  const auto from = pattern(kRoom, 1);
  for (std::size_t to_offset = 64; to_offset < 128; to_offset += 9)
    for (std::size_t from_offset = 0; from_offset < 64; from_offset += 7)
      for (std::size_t size = 0; size <= 400; ++size) {
        auto to = pattern(kRoom, 99);
        auto expected = to;
        std::memcpy(expected.data() + to_offset, from.data() + from_offset, size);
        copy_streamed(to.data() + to_offset, from.data() + from_offset, size);
        ASSERT_EQ(to, expected) << size << " bytes from " << from_offset << " to " << to_offset;
      }
}

TEST(StreamedCopy, copies_memory_that_overlaps_as_memmove_does) {
  for (const std::size_t shift : {1, 64, 100, 4000}) {
    auto up = pattern(8192, 3), up_expected = up;
    std::memmove(up_expected.data() + shift, up_expected.data(), 4096);
    copy_streamed(up.data() + shift, up.data(), 4096);
    EXPECT_EQ(up, up_expected) << shift;
    auto down = pattern(8192, 4), down_expected = down;
    std::memmove(down_expected.data(), down_expected.data() + shift, 4096);
    copy_streamed(down.data(), down.data() + shift, 4096);
    EXPECT_EQ(down, down_expected) << shift;
  }
}

// Memory whose last byte is the last of a page, in front of one that nobody may touch.
class Fenced {
 public:
  Fenced() : base_(::mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, kFlags, -1, 0)) {
    ::mprotect(end(), kPage, PROT_NONE);
  }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() { ::munmap(base_, 3 * kPage); }
  std::byte* end() const { return static_cast<std::byte*>(base_) + 2 * kPage; }

  static constexpr std::size_t kPage = 4096;

 private:
  static constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* const base_;
};

TEST(StreamedCopy, touches_nothing_behind_its_ends) {
  const Fenced from, to;
  for (std::size_t size = 1; size < 2 * Fenced::kPage; size += size < 300 ? 1 : 61) {
    const auto bytes = pattern(size, static_cast<unsigned>(size));
    std::memcpy(from.end() - size, bytes.data(), size);
    copy_streamed(to.end() - size, from.end() - size, size);
    ASSERT_EQ(std::memcmp(to.end() - size, bytes.data(), size), 0) << size;
  }
}

// Writes a block, then a flag with release, as a put does; the other side reads the block when it
// has seen the flag. Returns how often bytes of the round before were read. There are fewer rounds
// beside other processes, where each change of turns costs a time slice, but a hundred at least.
template <class Copy>
unsigned stale_reads(unsigned rounds, Copy copy) {
  constexpr std::size_t kBlock = 8192;
  const auto memory = std::make_unique<std::byte[]>(kBlock + 64);
  auto* const block = reinterpret_cast<std::byte*>(
      (reinterpret_cast<std::uintptr_t>(memory.get()) + 63) & ~std::uintptr_t{63});
  std::memset(block, 0, kBlock);
  struct alignas(128) Flag {
    std::atomic<unsigned> word{0};
  } written, read;
  unsigned stale = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  const unsigned no_more = rounds + 1;
  std::thread reader([&] {
    for (unsigned round = 1; round <= rounds; ++round) {
      unsigned seen = 0;
      for (unsigned spins = 0; (seen = written.word.load(std::memory_order_acquire)) < round;)
        HardwarePolicy::pause(spins++ > 10'000 ? 8 : 0);
      if (seen == no_more) return;
      bool is_stale = false;
      for (std::size_t i = kBlock; i >= 64; i -= 64)
        is_stale = is_stale || block[i - 1] != static_cast<std::byte>(round);
      stale += is_stale ? 1 : 0;
      read.word.store(round, std::memory_order_release);
    }
  });
  std::vector<std::byte> source(kBlock);
  const auto goes_on = [&](unsigned round) {
    return round <= rounds && (round <= 100 || std::chrono::steady_clock::now() < until);
  };
  for (unsigned round = 1; goes_on(round); ++round) {
    std::memset(source.data(), static_cast<int>(round), kBlock);
    copy(block, source.data(), kBlock);
    written.word.store(round, std::memory_order_release);
    for (unsigned spins = 0; read.word.load(std::memory_order_acquire) != round;)
      HardwarePolicy::pause(spins++ > 10'000 ? 8 : 0);
  }
  written.word.store(no_more, std::memory_order_release);
  reader.join();
  return stale;
}

TEST(StreamedCopy, is_seen_whole_by_who_sees_what_is_stored_after_it) {
  EXPECT_EQ(stale_reads(3000, copy_streamed), 0u);
}

// The test above would say nothing on a machine that cannot show the fault.
TEST(StreamedCopy, without_its_fence_is_found_by_that_test) {
  const unsigned stale = stale_reads(3000, copy_streamed_unfenced);
  if (stale == 0) GTEST_SKIP() << "this machine has kept non-temporal stores in order";
  EXPECT_GT(stale, 0u);
}

TEST(CoreTicks, go_forward) {
  const auto before = core_ticks();
  EXPECT_GE(core_ticks(), before);
}

}  // namespace
}  // namespace photon::sync
