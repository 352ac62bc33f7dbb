#include "signals.hpp"

#include <fmt/format.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <cstring>

#include "call_failed.hpp"

namespace photonrun {
namespace {

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

bool is_ignored(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Signals::Signals() {
  // Inherited SIG_IGN would have the kernel reap our children unseen.
  std::signal(SIGCHLD, SIG_DFL);
  pipe_was_ignored_ = is_ignored(SIGPIPE);
  std::signal(SIGPIPE, SIG_IGN);
  sigemptyset(&handled_);
  sigaddset(&handled_, SIGCHLD);
  for (const int number : kForwarded) {
    if (!is_ignored(number)) sigaddset(&handled_, number);
  }
  sigset_t blocked = handled_;
  sigaddset(&blocked, SIGTTOU);  // writing from the background must not stop the launcher
  ::sigprocmask(SIG_BLOCK, &blocked, &original_);
}

void Signals::listen() {
  fd_.reset(::signalfd(-1, &handled_, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) throw CallFailed("signalfd");
}

std::optional<SignalEvent> Signals::next() const {
  signalfd_siginfo info;
  if (::read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  // The supervisor passes on where a signal came from as the value of a queued one.
  const bool typed = info.ssi_code == SI_KERNEL || (info.ssi_code == SI_QUEUE && info.ssi_int == 1);
  return SignalEvent{static_cast<int>(info.ssi_signo), typed};
}

void Signals::restore() const {
  if (!pipe_was_ignored_) std::signal(SIGPIPE, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &original_, nullptr);
}

std::string signal_text(int number) {
  const char* const words = ::sigdescr_np(number);
  return fmt::format("signal {} ({})", number, words ? words : "unknown");
}

bool ends_job(int number) {
  return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

}  // namespace photonrun
