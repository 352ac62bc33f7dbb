#include "base/readable.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace photon::base {

namespace {

using AskedWord = std::uint64_t;

// The kernel fetches the new mask before it finds that there is no such way to set one (as Abseil's
// AddressIsReadable does).
bool is_word_readable(std::uintptr_t address) noexcept {
  constexpr int kNoSuchWay = ~0;
  return ::syscall(SYS_rt_sigprocmask, kNoSuchWay, address, nullptr, sizeof(AskedWord)) == 0 ||
         errno != EFAULT;
}

// The kernel fetches the offset, finds no such file, and stores the offset all the same.
bool is_word_writable(std::uintptr_t address) noexcept {
  return ::syscall(SYS_sendfile, -1, -1, address, 0) >= 0 || errno != EFAULT;
}

// The kernel adds 0 to an aligned word of 4 bytes, as one step, and wakes nobody: neighbours that
// others write stay as they are.
bool is_half_writable(std::uintptr_t address) noexcept {
  std::uint32_t nobody = 0;
  constexpr int kAddNothing = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0);
  return ::syscall(SYS_futex, &nobody, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0L, 0L, address,
                   kAddNothing) >= 0 ||
         errno != EFAULT;
}

// Less than a word: its first and its last byte, in aligned words, of which none lies on two pages.
template <class Ask>
bool is_each_end(std::span<const std::byte> memory, std::uintptr_t word_bytes, Ask ask) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t first = begin & ~(word_bytes - 1);
  const std::uintptr_t last = (begin + memory.size() - 1) & ~(word_bytes - 1);
  return ask(first) && (first == last || ask(last));
}

// Two pages with each question: a word at the boundary between them lies on both. `memory` has a
// word at least.
template <class Ask>
bool is_each_page(std::span<const std::byte> memory, Ask ask) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t last = begin + memory.size() - sizeof(AskedWord);
  for (std::uintptr_t at = begin; at < last + sizeof(AskedWord); at += 2 * page - at % page) {
    const std::uintptr_t boundary = at - at % page + page;
    if (!ask(std::min(last, std::max(at, boundary - sizeof(AskedWord) / 2)))) return false;
  }
  return true;
}

}  // namespace

bool is_readable(std::span<const std::byte> memory) noexcept {
  if (memory.empty()) return true;
  if (memory.size() >= sizeof(AskedWord)) return is_each_page(memory, is_word_readable);
  return is_each_end(memory, sizeof(AskedWord), is_word_readable);
}

bool is_writable(std::span<std::byte> memory) noexcept {
  if (memory.empty()) return true;
  if (memory.size() >= sizeof(AskedWord)) return is_each_page(memory, is_word_writable);
  return is_each_end(memory, sizeof(std::uint32_t), is_half_writable);
}

bool is_mapped(std::span<const std::byte> memory) noexcept {
  constexpr std::size_t kPages = 1024;
  unsigned char there[kPages];
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  std::uintptr_t at = begin - begin % page;
  for (const std::uintptr_t end = begin + memory.size(); at < end;) {
    const std::size_t bytes = std::min<std::size_t>(end - at, kPages * page);
    if (::mincore(reinterpret_cast<void*>(at), bytes, there) != 0 && errno == ENOMEM) return false;
    at += bytes;
  }
  return true;
}

}  // namespace photon::base
