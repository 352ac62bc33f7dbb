// Where and when a run was measured: what a figure means nothing without once it left its terminal.
// Owner: none (values).
#pragma once

#include <cstdint>
#include <string>

namespace photon::perf {

class Job;
class Processors;

struct RunFacts {
  std::string date;       // of the start, UTC, as in 2026-01-31T23:59:59Z
  std::string version;    // of the library
  std::string processor;  // its model; empty: the system does not say
  std::string system;     // kernel and its release
  std::uint32_t cores;    // that the ranks may use
  std::uint32_t ranks;
};

RunFacts facts_of(const Job& job, const Processors& processors);

}  // namespace photon::perf
