#include "converse/run/schedule.hpp"

#include <algorithm>

#include "converse/thread/threads.hpp"

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

// A thread lets the PE itself go on, which waits in CthSuspend(), as soon as that may.
std::uint64_t run_counted(Pe& pe, const char* call, std::int64_t count, Run& run) {
  const Schedule& schedule = schedule_of(pe);
  const auto most = static_cast<std::uint64_t>(count);
  std::uint64_t counted = 0;
  while (run.exits == schedule.exits) {  // they may have been told to end while it made way
    const std::int64_t left = count <= 0 ? count : static_cast<std::int64_t>(most - counted);
    std::uint64_t ran = 0;
    counted += run_part(pe, call, run, left, ran);
    if (run.exits != schedule.exits) break;
    const bool has_made_way = threads_here(call).make_way();
    if (count == 0 || (count > 0 && counted >= most)) break;
    if (!has_made_way && (count < 0 || ran < static_cast<std::uint64_t>(left))) break;
  }
  return counted;
}

std::uint64_t run_as(Pe& pe, const char* call, std::int64_t count, std::uint64_t most) {
  Run run{nullptr, schedule_of(pe).exits, most};
  const std::uint64_t counted = run_counted(pe, call, count, run);
  heed_ends(pe);
  return counted;
}

}  // namespace

std::uint64_t run_messages(Pe& pe, const char* call, std::int64_t count) {
  return run_as(pe, call, count, 0);
}

namespace {

// At most so many of those that are there.
std::uint64_t run_those_here(Pe& pe, const char* call, std::uint64_t most) {
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
