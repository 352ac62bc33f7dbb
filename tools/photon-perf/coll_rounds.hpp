// The loop around a collective operation, the same for ours and for every limit. All members of a
// team run it in step.
//
//   same    operations one behind the other, so many a sample; nobody touches a buffer in between
//   fresh   one a sample: inputs are rewritten, outputs were read, a meeting by shared flags, then
//           the operation, which alone is timed
//
// A sample is the time from when the last member began until the last one had ended.
// Owner: none (functions); a SpanBook lives within one run.
#pragma once

#include <algorithm>

#include "clock.hpp"
#include "coll_data.hpp"
#include "statistics.hpp"
#include "team.hpp"

namespace photon::perf {

// Where ranks share a processor, who spins keeps it from one that has not ended yet.
inline void coll_meet(Team& team) {
  if (team.count() == 2) return team.barrier();
  team.barrier_while([] { sched_yield(); });
}

// Samples of all members, brought together now and then, outside what is timed.
class SpanBook {
 public:
  // From each span `left_out_ns` is taken off, and the rest is divided by `each` operations.
  SpanBook(Team& team, std::uint64_t each, double left_out_ns) noexcept
      : team_(&team), each_(each), left_out_ns_(left_out_ns) {}

  void add(CollSpan span) {
    mine_[filled_++] = span;
    if (filled_ == kCollSpans) bring_together();
  }
  Outcome close() {
    bring_together();
    return std::move(outcome_);
  }

 private:
  void bring_together();

  Team* team_;
  std::uint64_t each_;
  double left_out_ns_;
  std::size_t filled_ = 0;
  CollSpan mine_[kCollSpans];
  Outcome outcome_;
};

struct CollSamples {
  std::uint64_t count;
  std::uint64_t each;
};

inline constexpr std::uint64_t kCollSamples = 16;  // of a run, at least

constexpr CollSamples coll_samples(std::uint64_t operations, bool is_fresh) noexcept {
  if (is_fresh) return {operations, 1};
  const auto each = std::clamp<std::uint64_t>(operations / kCollSamples, 1, kBatch);
  return {(operations + each - 1) / each, each};
}

// `operate(number)`, numbers from 1: until this member's part of the operation is over.
template <class Operate>
Outcome coll_rounds(Team& team, CollData& data, std::uint64_t operations, Operate operate) {
  const auto samples = coll_samples(operations, data.is_fresh());
  SpanBook book(team, samples.each, clock_cost_ns());
  std::uint64_t number = 0;
  if (!data.is_fresh()) data.renew();
  for (std::uint64_t sample = 0; sample < samples.count; ++sample) {
    if (data.is_fresh()) data.renew();
    coll_meet(team);
    CollSpan span{now_ns(), 0};
    for (std::uint64_t i = 0; i < samples.each; ++i) operate(++number);
    span.end_ns = now_ns();
    if (team.count() > 2) coll_meet(team);
    if (data.is_fresh()) data.check();
    book.add(span);
  }
  if (!data.is_fresh()) data.check();
  return book.close();
}

}  // namespace photon::perf
