#include "transport/shm/shm_process_token.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.hpp"
#include "system/random.hpp"

namespace photon::transport::shm {

namespace {

std::string read_small_file(const char* path) {
  const base::UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  if (!fd) return {};
  char buffer[2048];
  const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
  return got > 0 ? std::string(buffer, static_cast<std::size_t>(got)) : std::string();
}

// Field 22 of /proc/self/stat; the name in parentheses (field 2) may itself contain spaces.
std::optional<std::uint64_t> start_time() {
  const std::string stat = read_small_file("/proc/self/stat");
  std::size_t at = stat.rfind(')');
  if (at == std::string::npos) return std::nullopt;
  for (int field = 2; field < 22; ++field) {
    at = stat.find(' ', at + 1);
    if (at == std::string::npos) return std::nullopt;
  }
  std::uint64_t ticks = 0;
  const auto [end, failure] =
      std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), ticks);
  if (failure != std::errc{}) return std::nullopt;
  return ticks;
}

// FNV-1a, 64 bits.
std::uint64_t hash(std::uint64_t seed, std::string_view text) noexcept {
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return seed;
}

ProcessToken random_token() {
  ProcessToken token;
  if (!system::fill_random(std::as_writable_bytes(std::span(&token, 1)))) {
    // Not random, but no other context of this host has it: the address of a local, and our pid.
    token = {reinterpret_cast<std::uintptr_t>(&token), static_cast<std::uint64_t>(::getpid())};
  }
  return token;
}

}  // namespace

ProcessToken process_token() {
  struct stat space = {};
  const std::string boot_id = read_small_file("/proc/sys/kernel/random/boot_id");
  const auto started = start_time();
  if (boot_id.empty() || !started || ::stat("/proc/self/ns/pid", &space) != 0)
    return random_token();
  // Pid and start time stand in the token themselves: within one namespace nothing can collide.
  const std::string where = boot_id + std::to_string(space.st_ino);
  const auto pid = static_cast<std::uint64_t>(::getpid());
  return {hash(0xcbf29ce484222325ULL, where) ^ *started, hash(*started, where) << 32 ^ pid};
}

}  // namespace photon::transport::shm
