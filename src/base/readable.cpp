#include "base/readable.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/unique_fd.hpp"

namespace photon::base {

namespace {

using Word = std::uint64_t;

// The kernel fetches the new mask before it finds that there is no such way to set one (as Abseil's
// AddressIsReadable does).
bool is_word_readable(std::uintptr_t address) noexcept {
  constexpr int kNoSuchWay = ~0;
  return ::syscall(SYS_rt_sigprocmask, kNoSuchWay, address, nullptr, sizeof(Word)) == 0 ||
         errno != EFAULT;
}

// The kernel fetches the offset, finds no such file, and stores the offset all the same.
bool is_word_writable(std::uintptr_t address) noexcept {
  return ::syscall(SYS_sendfile, -1, -1, address, 0) >= 0 || errno != EFAULT;
}

// Less than a word: in and out of a pipe. True also where no pipe can be had.
bool is_exchanged(const std::byte* from, std::byte* to, std::size_t size_bytes) noexcept {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return true;
  const UniqueFd out(ends[0]);
  const UniqueFd in(ends[1]);
  return ::write(in.get(), from, size_bytes) == static_cast<ssize_t>(size_bytes) &&
         ::read(out.get(), to, size_bytes) == static_cast<ssize_t>(size_bytes);
}

// Two pages with each question: a word at the boundary between them lies on both. `memory` has a
// word at least.
template <class Ask>
bool is_each_page(std::span<const std::byte> memory, Ask ask) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t last = begin + memory.size() - sizeof(Word);
  for (std::uintptr_t at = begin; at < last + sizeof(Word); at += 2 * page - at % page) {
    const std::uintptr_t boundary = at - at % page + page;
    if (!ask(std::min(last, std::max(at, boundary - sizeof(Word) / 2)))) return false;
  }
  return true;
}

}  // namespace

bool is_readable(std::span<const std::byte> memory) noexcept {
  if (memory.empty()) return true;
  if (memory.size() >= sizeof(Word)) return is_each_page(memory, is_word_readable);
  std::byte copy[sizeof(Word)];
  return is_exchanged(memory.data(), copy, memory.size());
}

bool is_writable(std::span<std::byte> memory) noexcept {
  if (memory.empty()) return true;
  if (memory.size() >= sizeof(Word)) return is_each_page(memory, is_word_writable);
  return is_exchanged(memory.data(), memory.data(), memory.size());
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
