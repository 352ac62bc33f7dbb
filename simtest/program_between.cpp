// What a rank does between two operations.
#include "simtest/program_generator.hpp"

namespace photon::simtest {

Step Generator::query(Verb verb) {
  Step step;
  step.verb = verb;
  const ph_rank peer = any_rank();
  step.query_peer = chance(25) ? peer : PH_ANY_RANK;
  step.kinds = static_cast<std::uint32_t>(one_of<4>({PH_LOCAL, PH_REMOTE, PH_EITHER, PH_EITHER}));
  step.capacity = static_cast<std::uint32_t>(1 + random_.up_to(kMostFound - 1));
  return step;
}

Step Generator::pause(ph_rank rank) {
  Step step;
  step.verb = Verb::pause;
  step.time_ns = random_.up_to(chance(80) ? 500 : 5000);
  if (rank == shape_.slow && chance(30)) step.time_ns = random_.up_to(200'000);
  return step;
}

// A probe whose handler posts, or calls what may be called there.
Step Generator::handling() {
  Step step = query(Verb::probe_each);
  step.peer = draw_peer();
  constexpr std::array<Verb, 8> kVerbs = {Verb::notify,  Verb::notify, Verb::put_u64, Verb::put_u64,
                                          Verb::get_u64, Verb::probe,  Verb::wait,    Verb::flush};
  step.verb_in_handler = kVerbs[random_.up_to(kVerbs.size() - 1)];
  const bool fences = chance(50);
  if (step.verb_in_handler == Verb::flush && fences) step.verb_in_handler = Verb::fence;
  step.time_ns = 1000 * random_.up_to(5);
  if (step.verb_in_handler == Verb::notify) step.flags = PH_NO_LCE;
  if (step.verb_in_handler == Verb::put_u64 || step.verb_in_handler == Verb::get_u64)
    step.size_bytes = random_.up_to(128);
  if (step.verb_in_handler == Verb::get_u64) {
    step.area = Area::library;
    step.offset = random_.up_to(kLibraryBytes - step.size_bytes);
  } else {
    own_range(step);
  }
  return step;
}

Step Generator::about_request() {
  constexpr std::array<Verb, 4> kVerbs = {Verb::test, Verb::test, Verb::await, Verb::cancel};
  Step step = query(kVerbs[random_.up_to(kVerbs.size() - 1)]);
  step.offset = random_.up_to(15);
  step.time_ns = 1000 * random_.up_to(chance(20) ? 100 : 5);
  return step;
}

// Of an area as it is already certain to be.
std::uint64_t Generator::known_bytes(ph_rank rank, Area area) const {
  if (is_lent(area)) return kLentBytes;
  if (area == Area::library) return kLibraryBytes;
  return area == Area::contended ? kContendedBytes : next_free_[rank];
}

// Any range of one's own memory, or one that leaves its region: it begins inside, for what lies
// around the memory is not the program's to know.
Step Generator::find_region(ph_rank rank) {
  constexpr std::array<Area, 5> kAreas = {Area::window, Area::contended, Area::extra, Area::arena,
                                          Area::library};
  Step step;
  step.verb = Verb::find_region;
  step.area = kAreas[random_.up_to(kAreas.size() - 1)];
  step.size_bytes = 1 + random_.up_to(chance(50) ? 64 : kLentBytes);
  step.offset = random_.up_to(known_bytes(rank, step.area) - 1);
  return step;
}

void Generator::add_order(ph_rank rank) {
  Step step;
  step.peer = draw_peer();
  step.verb = chance(60) ? Verb::fence : Verb::flush;
  if (step.verb == Verb::flush && chance(30)) step.peer = PH_ANY_RANK;
  step.time_ns = chance(20) ? 2000 : 50'000'000;
  // What it orders: writes to the same place, before and after.
  const bool between = step.peer != PH_ANY_RANK && chance(2 * shape_.overlap_percent);
  if (between) add(rank, contended(step.peer));
  add(rank, step);
  if (between) add(rank, contended(step.peer));
}

void Generator::add_others(ph_rank rank) {
  while (chance(shape_.probe_percent)) {
    Step step = query(Verb::probe);
    if (chance(10)) {
      step = handling();
    } else if (chance(15)) {
      step.verb = Verb::wait;
      step.time_ns = 1000 * random_.up_to(chance(20) ? 100 : 5);
    }
    add(rank, step);
    if (chance(20)) break;
  }
  if (chance(shape_.request_percent)) add(rank, about_request());
  if (chance(20)) add(rank, pause(rank));
  if (has_wakes_ && chance(3)) {
    Step step;
    step.verb = Verb::wake;
    add(rank, step);
  }
  if (chance(shape_.order_percent)) add_order(rank);
  if (chance(shape_.lent_percent)) {
    Step step;
    step.verb = chance(50) ? Verb::enroll : Verb::retire;
    step.area = chance(50) ? Area::arena : Area::extra;
    add(rank, step);
  }
  if (chance(3)) add(rank, find_region(rank));
}

}  // namespace photon::simtest
