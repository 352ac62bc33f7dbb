#include "signals.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace photonrun {
namespace {

TEST(Signals, are_named_by_number_and_in_words) {
  EXPECT_EQ(signal_text(SIGSEGV), "signal 11 (Segmentation fault)");
  EXPECT_EQ(signal_text(99), "signal 99 (unknown)");
}

TEST(Signals, that_end_a_job_are_those_that_ask_for_it) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) EXPECT_TRUE(ends_job(number));
  for (const int number : {SIGCHLD, SIGUSR1, SIGTSTP, SIGCONT}) EXPECT_FALSE(ends_job(number));
}

// In a process of its own, since it changes what signals do. Its status is the first step that was
// wrong.
int steps() {
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, nullptr, &before);
  std::signal(SIGUSR2, SIG_IGN);  // as nohup does with SIGHUP
  Signals signals;
  signals.listen();
  if (signals.next()) return 1;
  ::raise(SIGUSR1);
  ::raise(SIGUSR2);
  const auto event = signals.next();
  if (!event || event->number != SIGUSR1 || event->from_terminal) return 2;
  if (signals.next()) return 3;  // what was ignored stays so
  sigval from_terminal{};
  from_terminal.sival_int = 1;
  ::sigqueue(::getpid(), SIGINT, from_terminal);
  const auto typed = signals.next();
  if (!typed || typed->number != SIGINT || !typed->from_terminal) return 4;
  signals.restore();
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, nullptr, &mask);
  for (int number = 1; number < NSIG; ++number)
    if (sigismember(&mask, number) != sigismember(&before, number)) return 5;
  return 0;
}

TEST(Signals, are_events_until_they_are_restored) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(steps());
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace photonrun
