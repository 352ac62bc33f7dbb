// Memory of peers that is mapped: put into a program that is complete without it, from draws of
// their own. Their owners take it back and allocate anew more often than in other programs.
#include "simtest/program_generator.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kMapsInOneOf = 3;  // programs
constexpr std::uint64_t kPointers = 8;     // named; a rank has fewer

}  // namespace

// Half of the calls name the whole region.
Step Generator::map_call() {
  Step step;
  step.verb = Verb::map;
  step.area = Area::arena;
  step.peer = static_cast<ph_rank>(maps_.up_to(program_.ranks - 1));
  if (maps_.up_to(1) != 0) step.offset = maps_.up_to(kLentBytes - 1);
  step.size_bytes = kLentBytes - step.offset;
  if (step.offset != 0) step.size_bytes = 1 + maps_.up_to(step.size_bytes - 1);
  const std::uint64_t wrong = maps_.up_to(39);
  if (wrong < 4) step.fault = Fault::stale_key;
  if (wrong == 4) step.fault = Fault::out_of_range;
  if (wrong == 5) step.size_bytes = 0;
  if (wrong == 6) step.peer = program_.ranks;
  const bool has_lane = wrong == 7 || wrong == 8;
  if (has_lane) step.lane = static_cast<std::uint32_t>(maps_.up_to(program_.lanes.size()));
  return step;
}

Step Generator::mapping_step() {
  constexpr std::array<Verb, 14> kVerbs = {
      Verb::map,  Verb::map,  Verb::map,   Verb::map,    Verb::store,  Verb::store,  Verb::store,
      Verb::load, Verb::load, Verb::unmap, Verb::enroll, Verb::enroll, Verb::enroll, Verb::retire};
  const Verb verb = kVerbs[maps_.up_to(kVerbs.size() - 1)];
  if (verb == Verb::map) return map_call();
  Step step;
  step.verb = verb;
  step.area = Area::arena;
  if (verb == Verb::enroll || verb == Verb::retire) return step;
  step.order = maps_.up_to(kPointers - 1);
  if (verb == Verb::unmap) {
    step.requested = maps_.up_to(2) == 0;
    if (maps_.up_to(19) == 0)
      step.lane = static_cast<std::uint32_t>(maps_.up_to(program_.lanes.size()));
    return step;
  }
  step.offset = maps_.up_to(kLentBytes - 1);
  step.size_bytes = 1 + maps_.up_to(maps_.up_to(1) == 0 ? 15 : kLentBytes - 1);
  return step;
}

// The steps never follow the one by which a rank leaves.
void Generator::add_maps(Maps choice) {
  const bool is_drawn = maps_.up_to(kMapsInOneOf - 1) == 0;
  if (choice == Maps::none || (choice == Maps::drawn && !is_drawn)) return;
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    auto& steps = program_.steps[rank];
    const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
    for (std::uint64_t left = maps_.up_to(steps.size() / 3 + 8); left > 0; --left) {
      const Step step = mapping_step();
      const std::uint64_t at = maps_.up_to(steps.size() - (leaves ? 1 : 0));
      steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), step);
    }
  }
}

}  // namespace photon::simtest
