#include "converse/run/dispatch.hpp"

#include <algorithm>

#include "converse/run/process.hpp"
#include "converse/run/schedule.hpp"

namespace photon::converse {

namespace {

void run_taken(Pe& pe, ph_task_message* message) {
  if (ph_task_size(message) < sizeof(Header)) [[unlikely]]
    refuse("scheduler", "PE %u has sent a message of %llu bytes, less than a header",
           ph_task_source(message), static_cast<unsigned long long>(ph_task_size(message)));
  take_message(pe, message_of(message));
  heed_exits(pe);
}

// A PE of this process that has not left.
bool find_staying(Pe& pe, std::uint32_t& to) noexcept {
  const std::scoped_lock lock(pe.process->lock);
  const std::vector<bool>& has_left = pe.process->has_left;
  const auto staying = std::ranges::find(has_left, false);
  if (staying == has_left.end()) return false;
  to = pe.place.pe - pe.place.rank + static_cast<std::uint32_t>(staying - has_left.begin());
  return true;
}

void take(ph_task_pe* task, ph_task_message* message, void* user) {
  Pe& pe = *static_cast<Pe*>(user);
  if (pe.is_leaving) [[unlikely]]
    return static_cast<void>(ph_task_free(task, message));
  run_taken(pe, message);
}

void take_queued(ph_task_pe* task, ph_task_message* message, void* user) {
  --schedule_of(*static_cast<Pe*>(user)).queued;
  take(task, message, user);
}

void take_for_node(ph_task_pe* task, ph_task_message* message, void* user) {
  Pe& pe = *static_cast<Pe*>(user);
  if (!pe.is_leaving) [[likely]]
    return run_taken(pe, message);
  std::uint32_t to = 0;
  if (!find_staying(pe, to)) return static_cast<void>(ph_task_free(task, message));
  require(pe, "scheduler", ph_task_send(task, to, message));
}

// The index of a header that nobody has set.
void take_unset(void* /*message*/) {
  refuse("scheduler", "a message whose handler was never set: call CmiSetHandler() before it goes");
}

}  // namespace

void enroll_dispatch(Pe& pe) noexcept {
  CmiRegisterHandler(take_unset);
  pe.dispatch = enroll(pe, take);
  pe.node_dispatch = enroll(pe, take_for_node);
  pe.queue_dispatch = enroll(pe, take_queued);
}

}  // namespace photon::converse
