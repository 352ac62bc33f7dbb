#include "brief_write.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace photonrun {
namespace {

// Again and again: the first may come before write() waits.
constexpr itimerval kAlarm{.it_interval = {.tv_sec = 0, .tv_usec = 10'000},
                           .it_value = {.tv_sec = 0, .tv_usec = 10'000}};

void interrupt(int /*number*/) {}

class Alarm {
 public:
  Alarm() noexcept {
    struct sigaction action {};
    action.sa_handler = interrupt;  // without SA_RESTART: write() ends
    ::sigaction(SIGALRM, &action, &action_before_);
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    ::sigprocmask(SIG_UNBLOCK, &alarm, &mask_before_);
    ::setitimer(ITIMER_REAL, &kAlarm, &timer_before_);
  }
  ~Alarm() {
    const int number = errno;
    ::setitimer(ITIMER_REAL, &timer_before_, nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    ::sigaction(SIGALRM, &action_before_, nullptr);
    errno = number;
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

 private:
  struct sigaction action_before_ {};
  sigset_t mask_before_{};
  itimerval timer_before_{};
};

}  // namespace

ssize_t write_briefly(int fd, std::string_view text) noexcept {
  const Alarm alarm;
  const ssize_t size = ::write(fd, text.data(), text.size());
  if (size < 0 && errno == EINTR) errno = EAGAIN;
  return size;
}

}  // namespace photonrun
