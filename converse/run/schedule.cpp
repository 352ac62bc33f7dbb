#include "converse/run/schedule.hpp"

#include <algorithm>

namespace photon::converse {

void start_schedule(Pe& pe) { pe.parts.schedule = new Schedule; }

void heed_exits(Pe& pe) noexcept {
  const Schedule& schedule = schedule_of(pe);
  Run* const run = schedule.innermost;
  if (run == nullptr) return;
  const bool is_full = run->most != 0 && --run->most == 0;
  if (is_full || run->exits != schedule.exits) [[unlikely]]
    static_cast<void>(ph_task_stop(pe.task));  // none is under way: the message was run by hand
}

namespace {

// A task of the library itself is none of the `count`, so the rest of them is run behind it.
std::uint64_t run_counted(Pe& pe, const char* call, std::int64_t count, const Run& run) noexcept {
  const Schedule& schedule = schedule_of(pe);
  std::uint64_t counted = 0;
  for (bool is_over = false; !is_over;) {
    const std::int64_t left = count <= 0 ? count : count - static_cast<std::int64_t>(counted);
    std::uint64_t ran = 0;
    pe.own_tasks = 0;
    require(pe, call, ph_task_run(pe.task, left, &ran));
    counted += ran - pe.own_tasks;
    is_over = count <= 0 || run.exits != schedule.exits || ran < static_cast<std::uint64_t>(left) ||
              counted >= static_cast<std::uint64_t>(count);
  }
  return counted;
}

std::uint64_t run_as(Pe& pe, const char* call, std::int64_t count, std::uint64_t most) noexcept {
  Schedule& schedule = schedule_of(pe);
  const std::uint64_t own_tasks = pe.own_tasks;  // of the run around this one
  Run run{schedule.innermost, schedule.exits, most};
  schedule.innermost = &run;
  const std::uint64_t counted = run_counted(pe, call, count, run);
  schedule.innermost = run.outer;
  pe.own_tasks = own_tasks;
  if (run.outer != nullptr && run.outer->exits != schedule.exits)
    static_cast<void>(ph_task_stop(pe.task));
  return counted;
}

}  // namespace

std::uint64_t run_messages(Pe& pe, const char* call, std::int64_t count) noexcept {
  return run_as(pe, call, count, 0);
}

namespace {

// At most so many of those that are there.
std::uint64_t run_those_here(Pe& pe, const char* call, std::uint64_t most) noexcept {
  return run_as(pe, call, 0, most);
}

}  // namespace

}  // namespace photon::converse

int CsdScheduler(int count) {
  photon::converse::Pe& pe = photon::converse::here(__func__);
  const std::uint64_t ran = photon::converse::run_messages(pe, __func__, count);
  return count > 0 ? static_cast<int>(static_cast<std::uint64_t>(count) - ran) : count;
}

void CsdScheduleForever(void) {
  photon::converse::run_messages(photon::converse::here(__func__), __func__, -1);
}

int CsdScheduleCount(int count) {
  photon::converse::Pe& pe = photon::converse::here(__func__);
  if (count <= 0) return count;
  const std::uint64_t ran = photon::converse::run_messages(pe, __func__, count);
  return static_cast<int>(static_cast<std::uint64_t>(count) - ran);
}

void CsdSchedulePoll(void) {
  photon::converse::run_messages(photon::converse::here(__func__), __func__, 0);
}

void CsdExitScheduler(void) {
  photon::converse::Pe& pe = photon::converse::here(__func__);
  photon::converse::Schedule& schedule = photon::converse::schedule_of(pe);
  ++schedule.exits;
  if (schedule.innermost != nullptr) static_cast<void>(ph_task_stop(pe.task));
}

int CmiDeliverMsgs(int count) {
  photon::converse::Pe& pe = photon::converse::here(__func__);
  const auto most = static_cast<std::uint64_t>(std::max(count, 0));
  const std::uint64_t ran = photon::converse::run_those_here(pe, __func__, most);
  return count > 0 ? static_cast<int>(most - std::min(ran, most)) : 0;
}
