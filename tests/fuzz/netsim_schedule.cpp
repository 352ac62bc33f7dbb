// Whatever stands in a schedule's file: the reader of the motif `schedule`.
//
// Input: the text.
//
// A finding is an abort() here or a report of AddressSanitizer: what was taken keeps the schedule's
// invariant, what was not is said in a sentence.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "netsim/motif/schedule.hpp"

namespace {

using photon::netsim::Schedule;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const Schedule& schedule) {
  require(schedule.ranks >= 1 && schedule.ranks <= photon::netsim::kMostScheduleRanks);
  std::size_t waits = 0;
  for (const Schedule::Operation& one : schedule.operations) {
    require(one.rank < schedule.ranks);
    waits += one.waits;
    if (one.kind == Schedule::Kind::compute) continue;
    require(one.peer < schedule.ranks && one.peer != one.rank && one.bytes != 0);
  }
  require(waits == schedule.edges.size());
  for (const Schedule::Edge& edge : schedule.edges) {
    require(edge.before < edge.after && edge.after < schedule.operations.size());
    require(schedule.operations[edge.before].rank == schedule.operations[edge.after].rank);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), size_bytes);
  const auto schedule = photon::netsim::read_schedule(text);
  if (schedule) {
    check(*schedule);
  } else {
    require(!schedule.error().empty() && schedule.error().find('\n') == std::string::npos);
  }
  return 0;
}
