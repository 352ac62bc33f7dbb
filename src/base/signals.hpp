// Who takes the signals while threads of ours are started.
#pragma once

#include <pthread.h>

#include <csignal>

namespace photon::base {

// Signals are the application's: its threads take them, and one that is started while this lives
// takes none. But a fault of that thread's own is told to the application's handler, as one of a
// call would be: blocked, it would end the process unheard.
class SignalsLeftToOthers {
 public:
  SignalsLeftToOthers() noexcept {
    sigset_t others;
    ::sigfillset(&others);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
      ::sigdelset(&others, fault);
    ::pthread_sigmask(SIG_SETMASK, &others, &before_);
  }
  ~SignalsLeftToOthers() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsLeftToOthers(const SignalsLeftToOthers&) = delete;
  SignalsLeftToOthers& operator=(const SignalsLeftToOthers&) = delete;

 private:
  sigset_t before_;
};

}  // namespace photon::base
