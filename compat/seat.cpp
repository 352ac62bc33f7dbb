#include "compat/seat.hpp"

#include "compat/session.hpp"

namespace photon::classic {

namespace {
constinit Seat process_seat;
}

thread_local constinit Seat* current_seat [[gnu::tls_model("initial-exec")]] = &process_seat;

void bind(Seat* seat) noexcept { current_seat = seat == nullptr ? &process_seat : seat; }

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
