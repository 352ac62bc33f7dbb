#include "compat/seat.hpp"

#include <cstdlib>

#include "compat/session.hpp"

namespace photon::classic {

namespace {
constinit Seat process_seat;
}

thread_local constinit Seat* current_seat [[gnu::tls_model("initial-exec")]] = &process_seat;

void bind(Seat* seat) noexcept { current_seat = seat == nullptr ? &process_seat : seat; }

void Seat::leave() noexcept {
  const std::unique_lock lock(changing, std::try_to_lock);
  if (!lock.owns_lock()) return;
  // The context says that it is finalized to whoever still calls.
  if (const Session* session = running.get(); session != nullptr)
    static_cast<void>(ph_finalize(session->context()));
}

void leave_at_exit() noexcept {
  static std::once_flag registered;
  std::call_once(registered, [] { std::atexit([] { process_seat.leave(); }); });
}

void Seat::clear() noexcept {
  const std::scoped_lock lock(changing);
  delete running.get();
  running.set(nullptr);
  while (retired != nullptr) {
    Session* next = retired->next_retired;
    delete retired;
    retired = next;
  }
}

}  // namespace photon::classic
