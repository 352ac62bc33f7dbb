#include "compat/process_session.hpp"

#include <cstdlib>

#include "compat/session.hpp"
#include "compat/warn.hpp"

namespace photon::classic {

namespace {
constinit ProcessSession this_process;
}

thread_local constinit ProcessSession* current_process [[gnu::tls_model("initial-exec")]] =
    &this_process;

void bind(ProcessSession* process) noexcept {
  current_process = process == nullptr ? &this_process : process;
}

int without_session(const char* call) noexcept {
  std::call_once(current_process->emptiness, [call] {
    warn(call,
         "does nothing (PHOTON_ERROR_NOINIT): photon_init() was not called before, or failed, or "
         "photon_finalize() has ended the session; further such calls are not shown");
  });
  return PHOTON_ERROR_NOINIT;
}

void ProcessSession::settle() noexcept {
  const std::unique_lock lock(changing, std::try_to_lock);
  Session* session = lock.owns_lock() ? running.get() : nullptr;
  // What cannot be settled goes the old way; who still calls hears that the session is over.
  if (session != nullptr && !session->settle()) static_cast<void>(session->finish());
}

void ProcessSession::leave() noexcept {
  const std::unique_lock lock(changing, std::try_to_lock);
  if (!lock.owns_lock()) return;
  if (Session* session = running.get(); session != nullptr) static_cast<void>(session->finish());
}

void settle_at_exit() noexcept {
  static std::once_flag registered;
  std::call_once(registered, [] { std::atexit([] { this_process.settle(); }); });
}

namespace {
// After the destructors of the program's globals, and after those of its own that are called like
// this one but name no number.
[[gnu::destructor(101)]] void leave_at_the_end() { this_process.leave(); }
}  // namespace

void ProcessSession::retire() noexcept {
  Session* session = running.get();
  running.set(nullptr);
  session->next_retired = retired;
  retired = session;
}

void ProcessSession::clear() noexcept {
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
