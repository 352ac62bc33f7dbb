#include "sink.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>

#include "feeder.hpp"
#include "output.hpp"

namespace photonrun {
namespace {

constexpr int kFd = 200;
constexpr int kNoFilter = 77;

// From now on the kernel lets each write() to kFd return 0.
bool let_writes_take_nothing() {
  std::array<sock_filter, 6> code{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kFd, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{.len = code.size(), .filter = code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Runs it in a process of its own, which is killed after 20 s; `meanwhile` every 50 ms.
template <class Child, class CallbackProgress>
int status_of(Child child, CallbackProgress meanwhile) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(child());
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd entry{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (::poll(&entry, 1, 50) == 0 && std::chrono::steady_clock::now() < until) meanwhile();
  ::kill(pid, SIGKILL);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
template <class Child>
int status_of(Child child) {
  return status_of(child, [] {});
}

TEST(Sink, dies_of_what_takes_nothing_and_of_what_is_full_and_says_why) {
  const Fd device(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  Sink sink(device.get());
  EXPECT_EQ(sink.error(), 0);
  sink.put("text");
  EXPECT_EQ(sink.pending_bytes(), 4u);
  sink.flush();
  EXPECT_EQ(sink.error(), ENOSPC);
  EXPECT_FALSE(sink.is_hung_up());
  EXPECT_TRUE(sink.is_empty());
  const int status = status_of([] {
    const Fd file(::open(testing::TempDir().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    ::dup2(file.get(), kFd);
    if (!let_writes_take_nothing()) return kNoFilter;
    Sink nothing(kFd);
    nothing.put("text");
    nothing.flush();
    return nothing.error() == EIO ? 0 : 1;
  });
  if (status == kNoFilter) GTEST_SKIP() << "no seccomp filters here";
  EXPECT_EQ(status, 0);
}

TEST(Sink, of_a_reader_that_has_left_is_hung_up) {
  Pipe pipe = make_pipe();
  pipe.read.reset();
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Sink sink(pipe.write.get());
  sink.put("text");
  sink.flush();
  EXPECT_EQ(sink.error(), EPIPE);
  EXPECT_TRUE(sink.is_hung_up());
  std::signal(SIGPIPE, before);
}

// Else it would try for ever.
TEST(Feeder, ends_where_nothing_is_taken) {
  const int status = status_of([] {
    Pipe input = make_pipe();
    ::dup2(input.read.get(), STDIN_FILENO);
    (void)!::write(input.write.get(), "text", 4);
    input.write.reset();
    ::dup2(::open("/dev/null", O_WRONLY), kFd);
    if (!let_writes_take_nothing()) return kNoFilter;
    const Signals signals;
    start_feeder(Fd(kFd), signals, ::getpgrp());
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    return ::wait(nullptr) > 0 ? 0 : 1;
  });
  if (status == kNoFilter) GTEST_SKIP() << "no seccomp filters here";
  EXPECT_EQ(status, 0);
}

TEST(Output, is_written_out_for_so_long_in_all_however_its_reader_moves) {
  Pipe pipe = make_pipe();
  std::size_t read_bytes = 0;
  const int status = status_of(
      [&] {
        ::dup2(pipe.write.get(), STDOUT_FILENO);
        Output output;
        output.put(0, std::string(1 << 19, 'x'));
        output.write_rest(std::chrono::milliseconds(500));
        return output.finished() ? 1 : 0;
      },
      [&] {
        std::array<char, 1000> text;
        read_bytes += static_cast<std::size_t>(
            std::max<ssize_t>(0, ::read(pipe.read.get(), text.data(), text.size())));
      });
  EXPECT_EQ(status, 0);
  EXPECT_GT(read_bytes, 0u);
}

}  // namespace
}  // namespace photonrun
