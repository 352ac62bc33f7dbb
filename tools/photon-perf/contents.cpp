#include "contents.hpp"

#include <fmt/core.h>

#include <cstring>

#include "failure.hpp"

namespace photon::perf {
namespace {

constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);

// Word j of message `number` of side `index` is this plus j, so that a line of another message or
// another side changes the sum.
constexpr std::uint64_t first_word(std::uint64_t number, std::uint32_t index) noexcept {
  return (2 * number + index) * 0x9e3779b97f4a7c15U;
}

typedef std::uint64_t Four __attribute__((vector_size(4 * kNumberBytes)));

// Words that count up from `word`, by vectors of four; the number of words written.
[[gnu::target("avx2")]] std::size_t count_up_wide(std::byte* to, std::size_t words,
                                                  std::uint64_t word) noexcept {
  Four four{word, word + 1, word + 2, word + 3};
  std::size_t done = 0;
  for (; done + 4 <= words; done += 4, four += 4) {
    std::memcpy(to + done * kNumberBytes, &four, sizeof four);
  }
  return done;
}

void count_up(std::byte* to, std::size_t words, std::uint64_t word) noexcept {
  constexpr std::size_t kFew = 16;
  std::size_t done = 0;
  if (words >= kFew && __builtin_cpu_supports("avx2")) done = count_up_wide(to, words, word);
  for (; done < words; ++done) {
    const std::uint64_t value = word + done;
    std::memcpy(to + done * kNumberBytes, &value, kNumberBytes);
  }
}

}  // namespace

void expect_checksum(const Buffers& buffers, std::uint64_t sum, std::uint64_t messages) {
  if (sum == buffers.peer_checksum * messages) return;
  throw Failure(fmt::format("{} messages of {} bytes arrived with a wrong checksum", messages,
                            buffers.size_bytes));
}

void Contents::rewrite(std::byte* source, std::uint64_t number) const noexcept {
  const auto words = buffers_->size_bytes / kNumberBytes;
  const auto first = first_word(number, index_);
  count_up(source, words, first);
  const std::uint64_t last = first + words;
  std::memcpy(source + words * kNumberBytes, &last, buffers_->size_bytes % kNumberBytes);
}

void Contents::expect(std::uint64_t sum, std::uint64_t number) const {
  const std::uint64_t words = buffers_->size_bytes / kNumberBytes;
  const auto first = first_word(number, 1 - index_);
  std::uint64_t tail = 0;
  const std::uint64_t last = first + words;
  std::memcpy(&tail, &last, buffers_->size_bytes % kNumberBytes);
  // The sum of 0 to words - 1, of which one factor is even.
  const auto steps = words % 2 == 0 ? words / 2 * (words - 1) : (words - 1) / 2 * words;
  if (sum == words * first + steps + tail) return;
  throw Failure(fmt::format("message {} of {} bytes arrived with bytes that are not its own",
                            number, buffers_->size_bytes));
}

}  // namespace photon::perf
