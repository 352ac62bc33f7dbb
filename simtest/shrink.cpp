#include "simtest/shrink.hpp"

#include <algorithm>

namespace photon::simtest {

namespace {

// The program without the steps [begin, end), counted over all ranks.
Program without(const Program& program, std::size_t begin, std::size_t end) {
  Program smaller = program;
  std::size_t first = 0;  // of the rank
  for (auto& steps : smaller.steps) {
    const std::size_t next = first + steps.size();
    const std::size_t from = std::clamp(begin, first, next) - first;
    const std::size_t to = std::clamp(end, first, next) - first;
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(from),
                steps.begin() + static_cast<std::ptrdiff_t>(to));
    first = next;
  }
  return smaller;
}

}  // namespace

std::size_t steps_count(const Program& program) {
  std::size_t count = 0;
  for (const auto& steps : program.steps) count += steps.size();
  return count;
}

Program shrink(Program program, const Fails& fails, unsigned most_runs) {
  unsigned runs = 0;
  for (std::size_t chunk = (steps_count(program) + 1) / 2; chunk > 0;) {
    bool shrunk = false;
    for (std::size_t begin = 0; begin < steps_count(program);) {
      if (++runs > most_runs) return program;
      Program smaller = without(program, begin, begin + chunk);
      if (fails(smaller)) {
        program = std::move(smaller);
        shrunk = true;
      } else {
        begin += chunk;
      }
    }
    if (chunk == 1 && !shrunk) break;
    chunk = chunk == 1 ? 1 : (chunk + 1) / 2;
  }
  return program;
}

}  // namespace photon::simtest
