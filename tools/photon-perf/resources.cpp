#include "resources.hpp"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "failure.hpp"

namespace photon::perf {

std::uint64_t cpu_time_ns() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ns_of = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_usec) * 1'000U;
  };
  return ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  if (!(file >> total_pages >> resident_pages)) {
    throw Failure("cannot read /proc/self/statm: is /proc mounted?");
  }
  return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t private_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  std::uint64_t shared_pages = 0;
  if (!(file >> total_pages >> resident_pages >> shared_pages)) {
    throw Failure("cannot read /proc/self/statm: is /proc mounted?");
  }
  return (resident_pages - shared_pages) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t peak_resident_bytes() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::uint64_t parent_age_ns() {
  std::ifstream file("/proc/" + std::to_string(getppid()) + "/stat");
  std::string line;
  std::getline(file, line);
  // Fields are counted from behind the name in parentheses, which may hold any character.
  constexpr int kBetween = 19;  // of state and starttime, which is the 22nd
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  std::string skipped;
  for (int i = 0; i < kBetween; ++i) fields >> skipped;
  std::uint64_t start_ticks = 0;
  if (!(fields >> start_ticks)) throw Failure("cannot read /proc/PID/stat: is /proc mounted?");
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);  // what starttime counts
  const auto now_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
                      static_cast<std::uint64_t>(now.tv_nsec);
  return now_ns - start_ticks * 1'000'000'000U / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
}

}  // namespace photon::perf
