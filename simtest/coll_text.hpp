// A schedule as text, for other programs: docs/schedule-text.md fixes the form.
// Owner: none; pure functions. Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simtest/coll_verify.hpp"

namespace photon::simtest::coll {

// The steps of one member with what each depends on, phase by phase.
class StepText {
 public:
  StepText(const Schedule& schedule, const schedule::Call& call, std::uint64_t element_bytes)
      : schedule_(schedule), call_(call), element_bytes_(element_bytes) {}

  std::string header(bool in_place) const;  // of the whole schedule; who may be in place is so
  // "rank R" and its phase's lines; false: there was no phase left.
  std::string rank() const;
  bool next_phase(std::string& text);

 private:
  using Labels = std::vector<std::uint64_t>;

  void write_step(std::string& text, const schedule::Step& step, const Labels& after) const;

  const Schedule& schedule_;
  schedule::Call call_;
  std::uint64_t element_bytes_;
  std::uint64_t index_ = 0;
  std::uint64_t label_ = 0;
  Labels gate_;   // what has to be over before the next phase begins
  Labels sends_;  // since the last phase that waited for sends
};

}  // namespace photon::simtest::coll
