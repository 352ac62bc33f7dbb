#include "compat/rvma_rank.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sync/policy.hpp"
#include "sync/published.hpp"

namespace photon::rvma {

namespace {

// A context, and what is asked of it with each put.
struct Bound {
  ph_context* context = nullptr;
  std::uint64_t carried_max = 0;
};

constinit Bound bound_process;  // written while it is not published
constinit sync::Published<sync::HardwarePolicy, Bound> of_process;
constinit std::mutex changing;  // held by RVMA_Init() and RVMA_Finalize()
thread_local constinit Bound of_thread;
constexpr std::int64_t kLongestUs = std::int64_t{1} << 50;  // 36 years
thread_local constinit char words_of_thread[PH_ERROR_TEXT_BYTES] = "";

Bound bound_to(ph_context* context) noexcept {
  Bound bound{context, 0};
  ph_setting setting{};
  setting.size = sizeof setting;
  for (std::size_t i = 0; ph_setting_at(context, i, &setting) == PH_OK; ++i)
    if (std::strcmp(setting.name, "mailbox_carried_max") == 0)
      bound.carried_max = std::strtoull(setting.value, nullptr, 10);
  return bound;
}

Bound bound() noexcept {
  const Bound* const shared = of_process.get();
  return of_thread.context != nullptr || shared == nullptr ? of_thread : *shared;
}

}  // namespace

ph_context* rank_context() noexcept { return bound().context; }

std::uint64_t carried_max() noexcept { return bound().carried_max; }

RVMA_Status wrong(ph_status status, const char* words) noexcept {
  std::snprintf(words_of_thread, sizeof words_of_thread, "%s", words);
  return status;
}

RVMA_Status told(ph_context* context, ph_status status) noexcept {
  if (status >= PH_OK) return status;
  ph_error error{};
  ph_last_error(context, &error);
  return wrong(status, error.status == status ? error.text : ph_status_text(status));
}

Waits& waits() {
  static Waits* const ours = new Waits;  // threads may wait while the process ends
  return *ours;
}

bool Waits::is_led(const Led& led) const noexcept { return std::ranges::count(led_, led) != 0; }

// An event of the window is taken, or there is none to come, or the time is over. Holds the lock
// before and after.
ph_status Waits::lead(std::unique_lock<std::mutex>& lock, const Led& led, std::int64_t timeout_us) {
  led_.push_back(led);
  lock.unlock();
  ph_mailbox_event event{};
  const ph_status status = ph_mailbox_wait(led.context, {led.win}, &event, timeout_us);
  lock.lock();
  std::erase(led_, led);
  changed_.notify_all();
  return status;
}

RVMA_Status Waits::wait(ph_context* context, RVMA_Win win, void** notification_ptr,
                        std::int64_t timeout_us) {
  const Led led{context, win};
  const bool is_forever = timeout_us < 0;
  const auto end = Clock::now() + std::chrono::microseconds(std::min(timeout_us, kLongestUs));
  std::unique_lock lock(mutex_);
  for (;;) {
    if (sync::follow_to_user(*notification_ptr) != nullptr) return RVMA_OK;
    if (is_led(led)) {
      if (is_forever)
        changed_.wait(lock);
      else if (changed_.wait_until(lock, end) == std::cv_status::timeout)
        return sync::follow_to_user(*notification_ptr) != nullptr ? RVMA_OK : RVMA_TIMEOUT;
      continue;
    }
    const auto left = std::chrono::ceil<std::chrono::microseconds>(end - Clock::now()).count();
    const ph_status status =
        lead(lock, led, is_forever ? PH_FOREVER : std::max<std::int64_t>(left, 0));
    if (status == PH_OK) continue;
    if (sync::follow_to_user(*notification_ptr) != nullptr) return RVMA_OK;
    return told(context, status);
  }
}

void Waits::take_events(ph_context* context, RVMA_Win win, Taking taking) {
  const std::scoped_lock lock(mutex_);
  if (taking == Taking::unless_led && is_led({context, win})) return;
  ph_mailbox_event event{};
  while (ph_mailbox_take(context, {win}, &event) == PH_OK) {
  }
  changed_.notify_all();
}

}  // namespace photon::rvma

using photon::rvma::of_process;
using photon::rvma::of_thread;
using photon::rvma::told;
using photon::rvma::wrong;

extern "C" {

RVMA_Status RVMA_Init(ph_context* context, int flags) {
  if (context == nullptr) return wrong(PH_ERR_ARGUMENT, "RVMA_Init: the context is null");
  if ((flags & ~int{RVMA_NO_PROGRESS_THREAD}) != 0)
    return wrong(PH_ERR_ARGUMENT, "RVMA_Init: unknown flags");
  const std::scoped_lock lock(photon::rvma::changing);
  if (of_process.get() != nullptr)
    return wrong(PH_ERR_STATE, "RVMA_Init: it was called before; RVMA_Use() binds one thread");
  ph_contact_state state{};
  const bool starts = (flags & RVMA_NO_PROGRESS_THREAD) == 0;
  const ph_status status =
      starts ? ph_progress_start(context) : ph_peer_state(context, ph_rank_of(context), &state);
  if (status != PH_OK) return told(context, status);
  photon::rvma::bound_process = photon::rvma::bound_to(context);
  of_process.set(&photon::rvma::bound_process);
  return RVMA_OK;
}

RVMA_Status RVMA_Use(ph_context* context) {
  of_thread = context == nullptr ? photon::rvma::Bound{} : photon::rvma::bound_to(context);
  return RVMA_OK;
}

RVMA_Status RVMA_Finalize(void) {
  const std::scoped_lock lock(photon::rvma::changing);
  if (of_process.get() == nullptr)
    return wrong(PH_ERR_STATE, "RVMA_Finalize: RVMA_Init() was not called");
  of_process.set(nullptr);
  return RVMA_OK;
}

const char* RVMA_Error(void) { return photon::rvma::words_of_thread; }

}  // extern "C"
