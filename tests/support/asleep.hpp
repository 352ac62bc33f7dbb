// A thread that sleeps in the kernel while another forks.
//
// A fork copies the thread that calls it and the memory as it is at that moment: a lock that some
// other thread holds stays held in the child for good. Ours are made for that; those of an
// allocator need not be (the sanitizers' are not), and a child that waits for one hangs. So whoever
// runs beside a test that forks sleeps where it can hold none.
//
//   rank 0: asleep.await();  fork ...;  asleep.wake();         rank 1: asleep.sleep();
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace photon::test {

class Asleep {
 public:
  Asleep() {
    if (::pipe(who_.data()) != 0 || ::pipe(wake_.data()) != 0)
      throw std::runtime_error("no pipe for a thread to sleep on");
  }
  Asleep(const Asleep&) = delete;
  Asleep& operator=(const Asleep&) = delete;
  ~Asleep() {
    for (const int end : {who_[0], who_[1], wake_[0], wake_[1]}) ::close(end);
  }

  // Until wake().
  void sleep() {
    const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
    char woken = 0;
    if (::write(who_[1], &self, sizeof self) != sizeof self || ::read(wake_[0], &woken, 1) != 1)
      throw std::runtime_error("a pipe to sleep on broke");
  }

  // Until the other thread is in its sleep().
  void await() {
    pid_t sleeper = 0;
    if (::read(who_[0], &sleeper, sizeof sleeper) != sizeof sleeper)
      throw std::runtime_error("a pipe to sleep on broke");
    while (state_of(sleeper) != 'S') std::this_thread::yield();
  }

  void wake() {
    if (::write(wake_[1], "", 1) != 1) throw std::runtime_error("a pipe to sleep on broke");
  }

 private:
  // The letter behind the name in parentheses, which may hold any character.
  static char state_of(pid_t thread) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string line;
    std::getline(file, line);
    const auto end = line.rfind(')');
    return end == std::string::npos || end + 2 >= line.size() ? '?' : line[end + 2];
  }

  std::array<int, 2> who_{};
  std::array<int, 2> wake_{};
};

}  // namespace photon::test
