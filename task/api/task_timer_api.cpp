// Timers and conditions.
#include <new>

#include "task/api/checks.hpp"

using photon::task::Condition;
using photon::task::is_here;
using photon::task::of;
using photon::task::Pe;
using photon::task::Timers;

namespace {

// After so long, and then with that period; 0: once.
struct Times {
  std::uint64_t first_us;
  std::uint64_t period_us;
};

// What the program knows a timer or a function by: with the rank of its PE, so that another PE of
// the process does not cancel one of its own in the place of it.
static_assert(PH_TASK_MAX_PES < 256);
std::uint64_t told_name(const Pe& pe, std::uint64_t name) noexcept {
  return std::uint64_t{pe.rank()} << photon::task::kNameWidth | name;
}
// 0, which names nothing: it is of another PE.
std::uint64_t own_name(const Pe& pe, std::uint64_t told) noexcept {
  if (told >> photon::task::kNameWidth != pe.rank()) return 0;
  return told & ((std::uint64_t{1} << photon::task::kNameWidth) - 1);
}

ph_status arm(Pe& pe, const char* call, const Times& times, const photon::task::Call& function,
              std::uint64_t* timer) noexcept {
  if (!is_here(pe, call)) return PH_ERR_STATE;
  if (function.function == nullptr) return pe.fail(PH_ERR_ARGUMENT, "%s: function is null", call);
  try {
    const std::uint64_t name = pe.calls().timers().arm(
        Timers::after(pe.shared().clock.now_ns(), times.first_us), times.period_us, function);
    if (timer != nullptr) *timer = told_name(pe, name);
    return PH_OK;
  } catch (const std::bad_alloc&) {
    return pe.fail(PH_ERR_MEMORY, "%s: no memory for a timer: %zu are armed", call,
                   pe.calls().timers().size());
  }
}

}  // namespace

ph_status ph_task_after(ph_task_pe* pe, uint64_t time_us, ph_task_function function, void* user,
                        uint64_t* timer) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  return arm(of(pe), "ph_task_after", {time_us, 0}, {function, user}, timer);
}

ph_status ph_task_every(ph_task_pe* pe, uint64_t period_us, ph_task_function function, void* user,
                        uint64_t* timer) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  if (!is_here(of(pe), "ph_task_every")) return PH_ERR_STATE;
  if (period_us == 0)
    return of(pe).fail(PH_ERR_ARGUMENT,
                       "ph_task_every: a period of 0: for each look there is ph_task_when()");
  return arm(of(pe), "ph_task_every", {period_us, period_us}, {function, user}, timer);
}

ph_status ph_task_cancel(ph_task_pe* pe, uint64_t timer) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_cancel")) return PH_ERR_STATE;
  if (one.calls().timers().cancel(own_name(one, timer))) return PH_OK;
  return one.fail(PH_ERR_NOT_FOUND,
                  "ph_task_cancel: this timer has run, was cancelled, or is of another PE");
}

ph_status ph_task_when(ph_task_pe* pe, ph_task_condition condition, ph_task_function function,
                       void* user, uint64_t* call) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_when")) return PH_ERR_STATE;
  if (function == nullptr) return one.fail(PH_ERR_ARGUMENT, "ph_task_when: function is null");
  const auto number = static_cast<std::uint32_t>(condition);
  if (number >= photon::task::kConditions)
    return one.fail(PH_ERR_ARGUMENT, "ph_task_when: there is no condition %u", number);
  try {
    const std::uint64_t name =
        one.calls().conditions().add(static_cast<Condition>(number), {function, user});
    if (call != nullptr) *call = told_name(one, name);
    return PH_OK;
  } catch (const std::bad_alloc&) {
    return one.fail(PH_ERR_MEMORY, "ph_task_when: no memory");
  }
}

ph_status ph_task_cancel_when(ph_task_pe* pe, uint64_t call) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_cancel_when")) return PH_ERR_STATE;
  if (one.calls().conditions().cancel(own_name(one, call))) return PH_OK;
  return one.fail(PH_ERR_NOT_FOUND,
                  "ph_task_cancel_when: this was cancelled before, or is of another PE");
}
