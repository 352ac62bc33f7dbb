#include "interop/mpi/window/own_thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace photon::mpi {

bool start_thread(std::thread& thread, std::function<void()> body, ph_error& why) {
  sigset_t all;
  sigset_t own;
  ::sigfillset(&all);
  for (const int own_fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    ::sigdelset(&all, own_fault);
  ::pthread_sigmask(SIG_SETMASK, &all, &own);
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error&) {
    why.status = PH_ERR_SYSTEM;
    std::strncpy(why.text, "no thread can be started", sizeof why.text - 1);
  }
  ::pthread_sigmask(SIG_SETMASK, &own, nullptr);
  return thread.joinable();
}

std::uint64_t setting_of(ph_context* context, const char* name) noexcept {
  ph_setting setting{};
  setting.size = sizeof setting;
  for (std::size_t i = 0; ph_setting_at(context, i, &setting) == PH_OK; ++i)
    if (std::strcmp(setting.name, name) == 0) return std::strtoull(setting.value, nullptr, 10);
  return 0;
}

}  // namespace photon::mpi
