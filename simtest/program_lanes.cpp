// Lanes: a program that is complete without them sends some of its operations by lanes, and each
// rank opens and closes them when it likes. From draws of their own.
#include "simtest/program_generator.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kLanesInOneOf = 3;  // programs
constexpr std::uint64_t kMostLanes = 3;
// Who waits in one lane serves no other meanwhile, so it must not wait for long.
constexpr std::uint64_t kLongestFlushNs = 1'000'000;

// Whether a step is a call that has a lane.
bool has_lane(Verb verb) noexcept {
  switch (verb) {
    case Verb::pause:
    case Verb::leave:
    case Verb::die:
    case Verb::cut: return false;
    default: return true;
  }
}

void insert_at(std::vector<Step>& steps, std::uint64_t at, const Step& step) {
  steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), step);
}

}  // namespace

void Generator::add_lanes(Lanes choice) {
  const bool is_drawn = lanes_.up_to(kLanesInOneOf - 1) == 0;
  if (choice == Lanes::none || (choice == Lanes::drawn && !is_drawn)) return;
  constexpr std::array<std::uint32_t, 5> kNumbers = {1, 2, 7, 40'000, 0xffff'ffff};
  constexpr std::array<std::uint64_t, 3> kPercent = {30, 70, 100};
  constexpr std::array<std::uint64_t, 3> kClosed = {0, 30, 70};
  const std::uint64_t count = 1 + lanes_.up_to(kMostLanes - 1);
  const std::uint64_t first = lanes_.up_to(kNumbers.size() - 1);
  for (std::uint64_t i = 0; i < count; ++i)
    program_.lanes.push_back(kNumbers[(first + i) % kNumbers.size()]);
  const std::uint64_t percent = kPercent[lanes_.up_to(kPercent.size() - 1)];
  const std::uint64_t close_percent = kClosed[lanes_.up_to(kClosed.size() - 1)];
  option("max_lanes", program_.lanes_count() + lanes_.up_to(1));
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    send_by_lanes(rank, percent);
    for (std::uint32_t lane = 1; lane < program_.lanes_count(); ++lane)
      open_and_close(rank, lane, close_percent);
  }
}

// What is still under way when a lane is closed may be told of late, with the first bytes of an id
// alone, so ids must name their operations there.
void Generator::send_by_lanes(ph_rank rank, std::uint64_t percent) {
  for (Step& step : program_.steps[rank]) {
    if (acting_verb(step) == Verb::flush) step.time_ns = std::min(step.time_ns, kLongestFlushNs);
    if (!has_lane(step.verb) || lanes_.up_to(99) >= percent) continue;
    step.lane = 1 + static_cast<std::uint32_t>(lanes_.up_to(program_.lanes.size() - 1));
    step.local_id_bytes = std::max(step.local_id_bytes, kNumberedId);
    step.remote_id_bytes = std::max(step.remote_id_bytes, kNumberedId);
  }
}

// Half of them are opened before anything else. A bye stays the last step.
void Generator::open_and_close(ph_rank rank, std::uint32_t lane, std::uint64_t close_percent) {
  auto& steps = program_.steps[rank];
  const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
  const std::uint64_t end = steps.size() - (leaves ? 1 : 0);
  const std::uint64_t opened = lanes_.up_to(1) == 0 ? 0 : lanes_.up_to(end / 2);
  const std::uint64_t closed = opened + lanes_.up_to(end - opened);
  Step step;
  step.lane = lane;
  if (lanes_.up_to(3) == 0) {
    step.verb = Verb::lane_misuse;
    step.order = lanes_.next();
    insert_at(steps, lanes_.up_to(end), step);
  }
  step.verb = Verb::lane_close;
  if (lanes_.up_to(99) < close_percent) insert_at(steps, closed, step);
  step.verb = Verb::lane_open;
  insert_at(steps, opened, step);
}

}  // namespace photon::simtest
