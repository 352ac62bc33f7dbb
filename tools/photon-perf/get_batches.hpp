// Gets one after the other, the same for ours and for every limit: index 0 calls it.
//
// Sources that are fresh are rewritten by their owner before each get. The caller waits for that
// and starts its clock behind it, in every get; what reading the clock takes is left out.
// Owner: none (a function).
#pragma once

#include "clock.hpp"
#include "contents.hpp"
#include "statistics.hpp"

namespace photon::perf {

// `get(number)`, from 1: until the bytes were read. `await_source(number)`: until the owner has
// written what get `number` will find.
template <class Get, class Await>
Outcome get_batches(const Contents& contents, Batches batches, Get get, Await await_source) {
  Outcome outcome;
  const double clock_ns = contents.is_fresh() ? clock_cost_ns() : 0;
  std::uint64_t number = 0;
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    std::uint64_t elapsed_ns = 0;
    auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) {
      ++number;
      if (contents.is_fresh()) {
        await_source(number);
        start_ns = now_ns();
      }
      get(number);
      if (contents.is_fresh()) elapsed_ns += now_ns() - start_ns;
    }
    if (!contents.is_fresh()) elapsed_ns = now_ns() - start_ns;
    const auto each_ns = static_cast<double>(elapsed_ns) / static_cast<double>(batches.each);
    outcome.batches_ns.push_back(std::max(each_ns - clock_ns, 1.0));
  }
  return outcome;
}

}  // namespace photon::perf
