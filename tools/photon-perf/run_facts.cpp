#include "run_facts.hpp"

#include <fmt/core.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>

#include "job.hpp"
#include "pinning.hpp"

namespace photon::perf {
namespace {

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string version_text() {
  const std::uint32_t version = ph_version();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

// x86 names the model here, Arm does not.
std::string processor_text() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::string system_text() {
  utsname names{};
  if (uname(&names) != 0) return {};
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

}  // namespace

RunFacts facts_of(const Job& job, const Processors& processors) {
  return {date_now(),    version_text(),     processor_text(),
          system_text(), processors.count(), job.size()};
}

}  // namespace photon::perf
