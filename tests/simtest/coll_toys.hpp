// Small schedules written out step by step, and mistakes planted in those of the library.
// Owner: the test. Threads: one.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "simtest/coll_cases.hpp"
#include "simtest/coll_verify.hpp"

namespace photon::simtest::coll {

// Phases of each rank, whatever the call.
class Toy : public Schedule {
 public:
  Toy(std::vector<std::vector<schedule::Phase>> ranks, std::uint64_t temp)
      : ranks_(std::move(ranks)), temp_(temp) {}

  bool knows(const schedule::Call&) const override { return true; }
  std::uint64_t phases_of(const schedule::Call& call) const override {
    return ranks_[call.rank].size();
  }
  void phase_at(const schedule::Call& call, std::uint64_t index,
                schedule::Phase& phase) const override {
    phase = ranks_[call.rank][index];
  }
  std::uint64_t temp_of(const schedule::Call&) const override { return temp_; }

 private:
  std::vector<std::vector<schedule::Phase>> ranks_;
  std::uint64_t temp_;
};

// The library's, but for one phase of one member, which `mistake` changes.
class Planted : public Schedule {
 public:
  using Mistake = std::function<void(schedule::Phase&)>;

  Planted(std::uint32_t rank, std::uint64_t index, Mistake mistake)
      : rank_(rank), index_(index), mistake_(std::move(mistake)) {}

  void phase_at(const schedule::Call& call, std::uint64_t index,
                schedule::Phase& phase) const override {
    schedule::phase_at(call, index, phase);
    if (call.rank == rank_ && index == index_) mistake_(phase);
  }

 private:
  std::uint32_t rank_;
  std::uint64_t index_;
  Mistake mistake_;
};

inline schedule::Range in_range(std::uint64_t first, std::uint64_t count) {
  return {schedule::Space::in, first, count};
}
inline schedule::Range out_range(std::uint64_t first, std::uint64_t count) {
  return {schedule::Space::out, first, count};
}
inline schedule::Range temp_range(std::uint64_t first, std::uint64_t count) {
  return {schedule::Space::temp, first, count};
}

inline schedule::Step toy_send(std::uint32_t peer, std::uint32_t tag, const schedule::Range& from) {
  schedule::Step step;
  step.action = schedule::Action::send;
  step.peer = peer;
  step.tag = tag;
  step.from = from;
  step.block = schedule::kNoBlock;
  return step;
}
inline schedule::Step toy_receive(std::uint32_t peer, std::uint32_t tag,
                                  const schedule::Range& to) {
  schedule::Step step;
  step.action = schedule::Action::receive;
  step.peer = peer;
  step.tag = tag;
  step.to = to;
  step.block = schedule::kNoBlock;
  return step;
}
inline schedule::Step toy_copy(const schedule::Range& from, const schedule::Range& to) {
  schedule::Step step;
  step.from = from;
  step.to = to;
  return step;
}
inline schedule::Step toy_fold(const schedule::Range& from, const schedule::Range& to) {
  schedule::Step step = toy_copy(from, to);
  step.action = schedule::Action::fold;
  return step;
}
inline schedule::Step toy_fold_before(const schedule::Range& from, const schedule::Range& to) {
  schedule::Step step = toy_fold(from, to);
  step.from_first = true;
  return step;
}

inline schedule::Phase toy_phase(const std::vector<schedule::Step>& steps,
                                 bool after_sends = false) {
  schedule::Phase phase;
  for (const schedule::Step& step : steps) phase.add(step);
  phase.after_sends = after_sends;
  return phase;
}

}  // namespace photon::simtest::coll
