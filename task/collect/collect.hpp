// What a PE has for reductions and quiescence, and what its process has for them.
// Invariant: as long as PEs run, each of them has its Collect as Part::collect.
// Owner: the crew (task/start/parts.cpp). Threads: a Collect its PE's; what is shared all PEs.
#pragma once

#include <memory>

#include "task/collect/locks.hpp"
#include "task/collect/quiescence.hpp"
#include "task/collect/reductions.hpp"
#include "task/run/crew.hpp"

namespace photon::task {

struct CollectShared {
  Locks locks;
  CallNumbers calls;  // of reductions over processes
};

struct Collect {
  Collect(Pe& pe, CollectShared& of_process)
      : shared(of_process), reductions(pe, of_process.calls), quiescence(pe) {}

  CollectShared& shared;
  Reductions reductions;
  Quiescence quiescence;
};

inline Collect& collect_of(const Pe& pe) noexcept {
  return *static_cast<Collect*>(pe.part(Part::collect));
}

// Those of all PEs of a process, which they have from now on. Throws bad_alloc.
std::shared_ptr<void> make_collect(Crew& crew);

}  // namespace photon::task
