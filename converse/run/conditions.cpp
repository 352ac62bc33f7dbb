#include "converse/run/conditions.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <new>
#include <vector>

#include "converse/base/runs.hpp"

namespace photon::converse {

namespace {

constexpr std::uint64_t kSecondUs = 1'000'000;
constexpr std::uint64_t kMinuteUs = 60 * kSecondUs;
constexpr std::uint64_t kHourUs = 60 * kMinuteUs;
constexpr double kMostUs = 9e18;  // fits a timer

struct Period {
  int condition;
  std::uint64_t period_us;
};
constexpr std::array<Period, 12> kPeriods{{
    {CcdPERIODIC, 5'000},
    {CcdPERIODIC_10ms, 10'000},
    {CcdPERIODIC_100ms, 100'000},
    {CcdPERIODIC_1second, kSecondUs},
    {CcdPERIODIC_5s, 5 * kSecondUs},
    {CcdPERIODIC_10s, 10 * kSecondUs},
    {CcdPERIODIC_1minute, kMinuteUs},
    {CcdPERIODIC_2minute, 2 * kMinuteUs},
    {CcdPERIODIC_5minute, 5 * kMinuteUs},
    {CcdPERIODIC_10minute, 10 * kMinuteUs},
    {CcdPERIODIC_1hour, kHourUs},
    {CcdPERIODIC_12hour, 12 * kHourUs},
}};
constexpr std::uint64_t kDayUs = 24 * kHourUs;

struct Wanted {
  CcdVoidFn function;
  void* user;
  std::uint64_t number;  // of the request, on this PE
  bool is_kept;
};

// The program knows a request by this name, which is never 0 and is used again after 2^31 others.
constexpr int name_of(std::uint64_t number) noexcept {
  return static_cast<int>((number - 1) % INT_MAX) + 1;
}
static_assert(name_of(1) == 1 && name_of(INT_MAX) == INT_MAX);
static_assert(name_of(std::uint64_t{INT_MAX} + 1) == 1);

struct Conditions;

// The functions of one condition, and what libphoton_task calls for it.
struct Watch {
  Pe* pe = nullptr;
  int condition = 0;
  std::vector<Wanted> wanted;
  std::uint64_t call = 0;  // 0: libphoton_task is not asked
  std::uint64_t loop = 0;  // the same, of one that keeps the PE from sleeping
};

struct Conditions {
  std::array<Watch, CcdUSERMAX + 1> watches;
  std::uint64_t requests = 0;
};

struct Later {
  Pe* pe;
  CcdVoidFn function;
  void* user;
};

Conditions& conditions_of(const Pe& pe) noexcept {
  return *static_cast<Conditions*>(pe.parts.conditions);
}

// Programs give functions of one argument, too, and of other return types.
[[gnu::noinline]] void call_function(CcdVoidFn function, void* user) {
  function(user, CmiWallTimer());
}

// By the scheduler; the function may ask for the end of its runs.
void call_by_scheduler(Pe& pe, CcdVoidFn function, void* user) {
  run_job(pe, {[](Pe& /*own*/, const Job& job) {
                 call_function(reinterpret_cast<CcdVoidFn>(job.function), job.argument);
               },
               reinterpret_cast<void (*)()>(function), user});
  heed_ends(pe);
}

bool is_idleness(int condition, ph_task_condition& source) noexcept {
  switch (condition) {
    case CcdPROCESSOR_END_IDLE: source = PH_TASK_END_IDLE; return true;
    case CcdPROCESSOR_BEGIN_IDLE: source = PH_TASK_BEGIN_IDLE; return true;
    case CcdPROCESSOR_STILL_IDLE: source = PH_TASK_STILL_IDLE; return true;
    case CcdSCHEDLOOP: source = PH_TASK_EACH_LOOP; return true;
    default: return false;
  }
}

// 0: it has none.
std::uint64_t period_us_of(int condition) noexcept {
  if (condition == CcdPERIODIC_1day) return kDayUs;
  const auto* const found = std::ranges::find(kPeriods, condition, &Period::condition);
  return found == kPeriods.end() ? 0 : found->period_us;
}

void unwatch(const char* call, Watch& watch) noexcept {
  if (watch.call == 0 || !watch.wanted.empty()) return;
  const std::uint64_t name = watch.call;
  watch.call = 0;
  Pe& pe = *watch.pe;
  require(pe, call,
          period_us_of(watch.condition) != 0 ? ph_task_cancel(pe.task, name)
                                             : ph_task_cancel_when(pe.task, name));
  if (watch.loop == 0) return;
  require(pe, call, ph_task_cancel_when(pe.task, watch.loop));
  watch.loop = 0;
}

// Those that are wanted now, each once, whatever they ask for or cancel meanwhile.
void raise(Watch& watch, bool by_scheduler) {
  Pe& pe = *watch.pe;
  const std::uint64_t last = conditions_of(pe).requests;
  std::uint64_t number = 0;
  while (!pe.is_leaving) {
    const auto next = std::ranges::find_if(watch.wanted, [number, last](const Wanted& one) {
      return one.number > number && one.number <= last;
    });
    if (next == watch.wanted.end()) break;
    const Wanted one = *next;
    number = one.number;
    if (!one.is_kept) watch.wanted.erase(next);
    if (by_scheduler)
      call_by_scheduler(pe, one.function, one.user);
    else
      call_function(one.function, one.user);
  }
  unwatch("scheduler", watch);
}

void on_condition(ph_task_pe* /*task*/, void* watch) { raise(*static_cast<Watch*>(watch), true); }
void on_loop(ph_task_pe* /*task*/, void* /*user*/) {}

void watch_for(const char* call, Watch& watch) noexcept {
  if (watch.call != 0) return;
  Pe& pe = *watch.pe;
  ph_task_condition source{};
  if (is_idleness(watch.condition, source))
    require(pe, call, ph_task_when(pe.task, source, on_condition, &watch, &watch.call));
  else if (const std::uint64_t period_us = period_us_of(watch.condition); period_us != 0)
    require(pe, call, ph_task_every(pe.task, period_us, on_condition, &watch, &watch.call));
  // An idle PE is to say so again and again, and not once a sleep.
  if (watch.condition == CcdPROCESSOR_STILL_IDLE)
    require(pe, call, ph_task_when(pe.task, PH_TASK_EACH_LOOP, on_loop, nullptr, &watch.loop));
}

Watch& watch_of(const char* call, int condition) noexcept {
  Pe& pe = here(call);
  if (condition < 0 || condition > CcdUSERMAX)
    refuse(call, "there is no condition %d: %d is the last one", condition, CcdUSERMAX);
  return conditions_of(pe).watches[static_cast<std::size_t>(condition)];
}

int ask_for(const char* call, int condition, const Wanted& wanted) noexcept {
  Watch& watch = watch_of(call, condition);
  if (wanted.function == nullptr) refuse(call, "the function is null");
  Conditions& conditions = conditions_of(*watch.pe);
  try {
    watch.wanted.push_back(wanted);
  } catch (const std::bad_alloc&) {
    refuse(call, "no memory for a function of condition %d", condition);
  }
  const std::uint64_t number = ++conditions.requests;
  watch.wanted.back().number = number;
  watch_for(call, watch);
  return name_of(number);
}

// A name that is over is no fault: its function has run.
void cancel(const char* call, int condition, int name) noexcept {
  Watch& watch = watch_of(call, condition);
  std::erase_if(watch.wanted, [name](const Wanted& one) { return name_of(one.number) == name; });
  unwatch(call, watch);
}

void check_own(const char* call, int pe) noexcept {
  const Pe& self = here(call);
  if (pe != CcdIGNOREPE && static_cast<std::uint32_t>(pe) != self.place.pe)
    refuse(call, "PE %d is asked for on PE %u: a function runs on the PE that asks for it", pe,
           self.place.pe);
}

void on_later(ph_task_pe* /*task*/, void* user) {
  auto* const later = static_cast<Later*>(user);
  const Later one = *later;
  delete later;
  if (!one.pe->is_leaving) call_by_scheduler(*one.pe, one.function, one.user);
}

void call_after(const char* call, CcdVoidFn function, void* user, double milliseconds) noexcept {
  Pe& pe = here(call);
  if (function == nullptr) refuse(call, "the function is null");
  if (std::isnan(milliseconds)) refuse(call, "the time is not a number");
  const double time_us = std::clamp(milliseconds * 1e3, 0.0, kMostUs);
  auto* const later = new (std::nothrow) Later{&pe, function, user};
  if (later == nullptr) refuse(call, "no memory for a timer");
  require(pe, call,
          ph_task_after(pe.task, static_cast<std::uint64_t>(time_us), on_later, later, nullptr));
}

}  // namespace

void start_conditions(Pe& pe) {
  auto* const conditions = new Conditions;
  pe.parts.conditions = conditions;
  for (std::size_t i = 0; i < conditions->watches.size(); ++i) {
    conditions->watches[i].pe = &pe;
    conditions->watches[i].condition = static_cast<int>(i);
  }
}

}  // namespace photon::converse

using photon::converse::ask_for;
using photon::converse::check_own;

int CcdCallOnCondition(int condition, CcdVoidFn function, void* user) {
  return ask_for(__func__, condition, {function, user, 0, false});
}

int CcdCallOnConditionKeep(int condition, CcdVoidFn function, void* user) {
  return ask_for(__func__, condition, {function, user, 0, true});
}

int CcdCallOnConditionOnPE(int condition, CcdVoidFn function, void* user, int pe) {
  check_own(__func__, pe);
  return ask_for(__func__, condition, {function, user, 0, false});
}

int CcdCallOnConditionKeepOnPE(int condition, CcdVoidFn function, void* user, int pe) {
  check_own(__func__, pe);
  return ask_for(__func__, condition, {function, user, 0, true});
}

void CcdCancelCallOnCondition(int condition, int name) {
  photon::converse::cancel(__func__, condition, name);
}

void CcdCancelCallOnConditionKeep(int condition, int name) {
  photon::converse::cancel(__func__, condition, name);
}

void CcdRaiseCondition(int condition) {
  photon::converse::raise(photon::converse::watch_of(__func__, condition), false);
}

void CcdCallFnAfter(CcdVoidFn function, void* user, double milliseconds) {
  photon::converse::call_after(__func__, function, user, milliseconds);
}

void CcdCallFnAfterOnPE(CcdVoidFn function, void* user, double milliseconds, int pe) {
  check_own(__func__, pe);
  photon::converse::call_after(__func__, function, user, milliseconds);
}

// The scheduler calls what is due at each of its looks; here nothing is left to do.
void CcdCallBacks(void) { photon::converse::here(__func__); }
