#include "converse/run/watch.hpp"

#include <photon/task_program.h>

namespace photon::converse {

namespace {

constexpr const char* kScheduler = "scheduler";
constexpr std::uint64_t kPeriodUs = 1'000'000;

void look(ph_task_pe* task, void* user) {
  Pe& pe = *static_cast<Pe*>(user);
  for (std::uint32_t process = 0; process < pe.place.processes; ++process) {
    ph_contact_state state = PH_PEER_UNKNOWN;
    require(pe, kScheduler, ph_task_process_state(task, process, &state));
    if (state == PH_PEER_DEAD)
      refuse(kScheduler, "process %u has ended, and none of its PEs has called CmiExit()", process);
  }
}

}  // namespace

void start_watch(Pe& pe) noexcept {
  if (pe.place.rank == 0 && pe.place.processes > 1)
    require(pe, "ConverseInit", ph_task_every(pe.task, kPeriodUs, look, &pe, nullptr));
}

}  // namespace photon::converse
