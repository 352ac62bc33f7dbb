#include "task/buffer/awaited.hpp"

#include <algorithm>

namespace photon::task {

void Awaited::add(std::uint32_t process) noexcept {
  if (all_[process].answers++ == 0) awaited_.push_back(process);
}

void Awaited::remove(std::uint32_t process) noexcept {
  if (--all_[process].answers != 0) return;
  *std::ranges::find(awaited_, process) = awaited_.back();
  awaited_.pop_back();
}

std::uint32_t Awaited::next() noexcept {
  last_ = (last_ + 1) % awaited_.size();
  return awaited_[last_];
}

Awaited::Found Awaited::ask(Machine& machine, std::uint32_t process) noexcept {
  ph_contact_state state = PH_PEER_UNKNOWN;
  static_cast<void>(ph_peer_state(machine.lane(), process, &state));
  if (state != PH_PEER_DEAD && state != PH_PEER_DEPARTED) return {PH_OK, false};
  const ph_status status = state == PH_PEER_DEAD ? PH_ERR_PEER : PH_ERR_DEPARTED;
  One& one = all_[process];
  const std::uint64_t arrived = machine.flow(process).arrived;
  if (one.is_marked && one.arrived == arrived) return {status, true};
  one.is_marked = true;
  one.arrived = arrived;
  return {status, false};
}

}  // namespace photon::task
