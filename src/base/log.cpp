#include "base/log.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>

namespace photon::base {

const char* log_level_name(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::error: return "error";
    case LogLevel::warn: return "warn";
    case LogLevel::info: return "info";
    case LogLevel::debug: return "debug";
  }
  return "?";
}

void Log::write(LogLevel level, const char* format, ...) const noexcept {
  const int saved_errno = errno;
  constexpr std::size_t kLineBytes = 1024;
  char line[kLineBytes];
  const auto end_of = [](std::size_t start_bytes, int printed_bytes) {
    const auto added_bytes = static_cast<std::size_t>(std::max(printed_bytes, 0));
    return std::min(start_bytes + added_bytes, kLineBytes - 1);
  };
  const char* name = log_level_name(level);
  const int prefix_bytes = rank_ == PH_ANY_RANK
                               ? std::snprintf(line, kLineBytes, "photon: %s: ", name)
                               : std::snprintf(line, kLineBytes, "photon[%u]: %s: ", rank_, name);
  std::size_t size_bytes = end_of(0, prefix_bytes);
  std::va_list arguments;
  va_start(arguments, format);
  const int text_bytes =
      std::vsnprintf(line + size_bytes, kLineBytes - size_bytes, format, arguments);
  va_end(arguments);
  size_bytes = end_of(size_bytes, text_bytes);
  line[size_bytes++] = '\n';
  // A log line that cannot be written has nowhere to be reported.
  [[maybe_unused]] const ssize_t written_bytes = ::write(fd_, line, size_bytes);
  errno = saved_errno;
}

}  // namespace photon::base
