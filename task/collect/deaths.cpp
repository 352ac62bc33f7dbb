#include "task/collect/deaths.hpp"

namespace photon::task {

std::uint32_t Deaths::lowest() const noexcept {
  std::uint32_t process = 0;
  while (dead_.has(process)) ++process;
  return process;
}

bool Deaths::is_lost(std::uint32_t process) const noexcept {
  ph_contact_state state = PH_PEER_UNKNOWN;
  if (ph_peer_state(pe_.machine().lane(), process, &state) != PH_OK) return false;
  return state == PH_PEER_DEAD || state == PH_PEER_DEPARTED;
}

bool Deaths::look() noexcept {
  bool has_more = false;
  const std::uint32_t own = pe_.shared().process;
  for (std::uint32_t process = 0; process < dead_.processes(); ++process) {
    if (process == own || dead_.has(process) || !is_lost(process)) continue;
    std::uint64_t before = 0;
    do {
      before = pe_.machine().arrived_of(process);
      static_cast<void>(pe_.machine().progress());
    } while (pe_.machine().arrived_of(process) != before);
    dead_.add(process);
    has_more = true;
  }
  return has_more;
}

void Deaths::heed(const ProcessSet& told) noexcept {
  const std::uint32_t own = pe_.shared().process;
  for (std::uint32_t process = 0; process < dead_.processes(); ++process) {
    if (process == own || dead_.has(process) || !told.has(process)) continue;
    ph_contact_state state = PH_PEER_UNKNOWN;
    if (ph_peer_state(pe_.machine().lane(), process, &state) != PH_OK) continue;
    if (state != PH_PEER_UNKNOWN) continue;       // its lane hears of it by itself
    static_cast<void>(pe_.machine().progress());  // if it has met us, the lane hears of that first
    const ph_status status = ph_contact(pe_.machine().lane(), process);
    if (task::is_lost(status)) dead_.add(process);
  }
}

std::uint64_t Deaths::created() const noexcept {
  const Machine& machine = pe_.machine();
  std::uint64_t sum = pe_.balance().created;
  for (std::uint32_t process = 0; process < dead_.processes(); ++process)
    sum += dead_.has(process) ? machine.arrived_of(process) : machine.sent_to(process);
  return sum;
}

std::uint64_t Deaths::processed() const noexcept {
  const Machine& machine = pe_.machine();
  std::uint64_t sum = pe_.balance().processed + machine.refused();
  for (std::uint32_t process = 0; process < dead_.processes(); ++process)
    if (!dead_.has(process)) sum += machine.returned_of(process);
  return sum;
}

}  // namespace photon::task
