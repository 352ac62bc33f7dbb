// What a user should read on stderr, by level. Invariant: one line is one write(2), so that lines
// of several ranks never mix. Owner: the Context; any thread may write.
#pragma once

#include <photon/types.h>

#include <cstdint>

namespace photon::base {

enum class LogLevel : std::uint8_t { error, warn, info, debug };

const char* log_level_name(LogLevel level) noexcept;

class Log {
 public:
  Log() = default;
  // rank: PH_ANY_RANK while it is not known. fd: not owned.
  explicit Log(LogLevel level, ph_rank rank = PH_ANY_RANK, int fd = 2) noexcept
      : level_(level), rank_(rank), fd_(fd) {}

  bool enabled(LogLevel level) const noexcept { return level <= level_; }

  // Writes one line, cut at 1023 bytes, whatever the level: ask enabled() first, or use PHOTON_LOG.
  [[gnu::format(printf, 3, 4)]] void write(LogLevel level, const char* format, ...) const noexcept;

 private:
  LogLevel level_ = LogLevel::warn;
  ph_rank rank_ = PH_ANY_RANK;
  int fd_ = 2;
};

}  // namespace photon::base

// The logging site: arguments are evaluated only if the line will be written.
// PHOTON_LOG(log, warn, "peer %u is gone", rank);
#define PHOTON_LOG(log, at, ...)                              \
  do {                                                        \
    if ((log).enabled(::photon::base::LogLevel::at))          \
      (log).write(::photon::base::LogLevel::at, __VA_ARGS__); \
  } while (false)
