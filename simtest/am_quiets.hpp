// Checks the quiesces of active messages, of each lane by itself: one that ends with PH_OK at any
// rank has waited for every message that any rank had sent before its own call, and for all that
// handlers have sent because of those; one that cannot end says whom it lacks.
//
//   rank: idle -- begin() --> under way -- ended(PH_OK) --> idle
//                                       -- an error --> broken, for good
//
// All ranks take part: who has begun fewer than another one has to go on until it has as many.
// Owner: the runner. Threads: one.
#pragma once

#include <photon/photon.h>

#include <string>
#include <vector>

#include "simtest/am_model.hpp"

namespace photon::simtest {

class AmQuiets {
 public:
  struct Quiet {
    std::uint32_t begun = 0;
    bool is_under_way = false;
    bool is_requested = false;  // by ph_am_quiesce_begin()
    ph_request request = PH_REQUEST_NONE;
    bool is_broken = false;
    bool is_gone = false;  // the rank has left the lane, or died
  };

  AmQuiets(Oracle& oracle, const AmModel& model, const Program& program)
      : oracle_(oracle),
        model_(model),
        ranks_(program.ranks),
        lanes_(program.lanes_count()),
        all_(std::size_t{ranks_} * lanes_) {}

  Quiet& of(const Endpoint& at) noexcept { return all_[at.rank * lanes_ + at.lane]; }
  void begin(const Endpoint& at);
  // PH_AGAIN: nothing was begun after all.
  void not_begun(const Endpoint& at);
  // `error`: of ph_last_error().
  void ended(const Endpoint& at, ph_status status, const ph_error& error);
  void gone(const Endpoint& end);

  // Whether it has to call, for others wait for it.
  bool is_wanted(const Endpoint& at) noexcept;
  bool is_settled() noexcept;
  void report_pending();

 private:
  void check_error(const Endpoint& at, ph_status status, const ph_error& error);

  Oracle& oracle_;
  const AmModel& model_;
  const std::uint32_t ranks_;
  const std::uint32_t lanes_;
  std::vector<Quiet> all_;  // by rank and lane
};

}  // namespace photon::simtest
