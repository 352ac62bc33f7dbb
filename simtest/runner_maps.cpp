// Memory of peers that a rank of a program maps.
#include "simtest/runner_job.hpp"

namespace photon::simtest {

// Nothing is mapped of a rank to which the link is lost: docs/simulation.md, Mapped memory.
void Runner::map(ph_rank rank, const Step& step) {
  if (maps_.is_full(rank)) return;
  MapModel::Call call;
  void* local = nullptr;
  bool is_called = false;
  const ph_status status = insist(rank, "map", [&] {
    is_called = !oracle_.is_lost(rank, step.peer);
    if (!is_called) return PH_OK;
    call = maps_.call_of(here(rank), step);
    return ph_map(context(rank), step.peer, &call.region, &local);
  });
  if (!is_called) return;
  check_named(rank, step.peer, status);
  maps_.mapped(here(rank), step, call, status, local);
}

void Runner::unmap(ph_rank rank, const Step& step) {
  void* const local = maps_.pick(rank, step.order);
  const ph_status status = ph_unmap(context(rank), local);
  if (seats_[rank].lane != 0)
    return static_cast<void>(expect(rank, "unmap by a lane", status, PH_ERR_ARGUMENT));
  oracle_.note(rank, text_of(step) + " = " + std::to_string(status));
  if (!expect(rank, "unmap", status)) return;
  if (local != nullptr) static_cast<void>(maps_.unmapped(rank, local));
  void* const stale = maps_.stale(rank);
  if (step.requested && stale != nullptr)
    expect(rank, "unmap of what is mapped no more", ph_unmap(context(rank), stale),
           PH_ERR_NOT_FOUND);
}

}  // namespace photon::simtest
