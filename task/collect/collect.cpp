#include "task/collect/collect.hpp"

#include <new>
#include <vector>

namespace photon::task {

namespace {

struct Parts {
  CollectShared shared;
  std::vector<std::unique_ptr<Collect>> of;  // each PE
};

bool on_part(Pe& pe, Message& message) noexcept {
  try {
    collect_of(pe).reductions.take(message);
  } catch (const std::bad_alloc&) {
    Machine::die("PE %u has no memory for a part of a reduction: reduce less at a time",
                 pe.number());
  }
  return false;
}

bool on_wave(Pe& pe, Message& message) noexcept {
  try {
    collect_of(pe).quiescence.take(message);
  } catch (const std::bad_alloc&) {
    Machine::die("PE %u has no memory to count for quiescence: keep less at a time", pe.number());
  }
  return false;
}

// Timers are no part of a PE that anybody waits for.
void leave_timers(Pe& pe) noexcept {
  const std::size_t armed = pe.calls().timers().size() - collect_of(pe).quiescence.timers();
  if (armed != 0) inform(pe, "%zu timers were armed at the end, and do not run", armed);
}

}  // namespace

std::shared_ptr<void> make_collect(Crew& crew) {
  Shared& shared = crew.shared();
  auto parts = std::make_shared<Parts>();
  for (std::uint32_t rank = 0; rank < shared.pes; ++rank) {
    parts->of.push_back(std::make_unique<Collect>(crew.pe(rank), parts->shared));
    crew.pe(rank).set_part(Part::collect, parts->of.back().get());
  }
  shared.on(Kind::part) = on_part;
  shared.on(Kind::wave) = on_wave;
  shared.on_leave[static_cast<std::size_t>(Part::collect)] = leave_timers;
  return parts;
}

}  // namespace photon::task
