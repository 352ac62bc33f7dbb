#include "resources.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

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

}  // namespace photon::perf
