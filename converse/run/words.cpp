// Words and clocks of a program.
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <string>

#include "converse/run/process.hpp"

namespace photon::converse {

namespace {

// All of it in as few writes as the system allows, behind what stdio has.
void write_all(std::FILE* stream, const std::string& text) noexcept {
  std::fflush(stream);
  std::size_t at = 0;
  while (at != text.size()) {
    const ssize_t size = ::write(::fileno(stream), text.data() + at, text.size() - at);
    if (size < 0 && errno != EINTR) return;  // nobody reads it
    if (size > 0) at += static_cast<std::size_t>(size);
  }
}

std::string text_of(const char* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size < 0) return {};
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, arguments);
  text.pop_back();
  return text;
}

double seconds_of(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

std::chrono::steady_clock::time_point start_of_clock() noexcept {
  static const auto start = std::chrono::steady_clock::now();
  return start;
}

}  // namespace photon::converse

int CmiPrintf(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const std::string text = photon::converse::text_of(format, arguments);
  va_end(arguments);
  photon::converse::write_all(stdout, text);
  return static_cast<int>(text.size());
}

void CmiError(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const std::string text = photon::converse::text_of(format, arguments);
  va_end(arguments);
  photon::converse::write_all(stderr, text);
}

int CmiScanf(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int items = std::vscanf(format, arguments);
  va_end(arguments);
  return items;
}

void CmiAbort(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const std::string text = photon::converse::text_of(format, arguments);
  va_end(arguments);
  std::fflush(stdout);
  photon::converse::refuse(__func__, "%s", text.c_str());
}

void CmiAssertFailed(const char* what, const char* file, int line) {
  std::fflush(stdout);
  photon::converse::refuse("CmiAssert", "%s:%d: %s does not hold", file, line, what);
}

double CmiWallTimer(void) {
  const auto start = photon::converse::start_of_clock();  // before the clock is read
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start;
  return since.count();
}

double CmiTimer(void) { return CmiWallTimer(); }
double CmiCpuTimer(void) { return photon::converse::seconds_of(CLOCK_THREAD_CPUTIME_ID); }

// ConverseInit() has started the clocks.
void CmiTimerInit(char** /*argv*/) {}

CmiUInt8 CmiMemoryUsed(void) {
  unsigned long long size = 0;
  unsigned long long resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  const int items = std::fscanf(file, "%llu %llu", &size, &resident);
  std::fclose(file);
  return items == 2 ? resident * static_cast<CmiUInt8>(::sysconf(_SC_PAGESIZE)) : 0;
}
