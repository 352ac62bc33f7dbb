// A running photonrun: its pipes, its end, and whether it left anything behind.
// Every process of the job carries a mark in its environment by which /proc finds it.
// Invariant: all waits have a deadline; nothing sleeps to synchronise. Owner: one test.
#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace photon::test {

inline bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Launched {
 public:
  // `wrapper`: the command that starts photonrun; found in PATH.
  explicit Launched(const std::vector<std::string>& arguments,
                    std::vector<std::string> wrapper = {})
      : wrapper_(std::move(wrapper)),
        mark_("PHOTON_TEST_MARK=" + std::to_string(::getpid()) + "." + std::to_string(next_++)) {
    int input[2], output[2], error[2];
    EXPECT_EQ(::pipe2(input, O_CLOEXEC) + ::pipe2(output, O_CLOEXEC) + ::pipe2(error, O_CLOEXEC),
              0);
    pid_ = ::fork();
    if (pid_ == 0) become(arguments, {input[0], output[1], error[1]});
    for (const int fd : {input[0], output[1], error[1]}) ::close(fd);
    input_ = input[1];
    output_ = output[0];
    error_ = error[0];
    pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  }

  ~Launched() {
    if (!reaped_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    close_input();
    for (const int fd : {output_, error_, pidfd_}) ::close(fd);
  }
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }

  // For a job that is about something slow.
  void allow(std::chrono::seconds more) { deadline_ += more; }

  void write_input(const std::string& text) const {
    EXPECT_EQ(::write(input_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close_input() {
    if (input_ >= 0) ::close(input_);
    input_ = -1;
  }

  // Reads standard output until it holds `count` lines.
  void await_lines(std::size_t count) {
    while (static_cast<std::size_t>(std::count(out.begin(), out.end(), '\n')) < count) {
      if (!read_some(output_, out)) return fail("no more lines: " + out + err_text());
    }
  }

  // Reads standard error until it holds that.
  void await_error(const std::string& text) {
    while (err.find(text) == std::string::npos) {
      if (!read_some(error_, err)) return fail("no \"" + text + "\": " + out + err_text());
    }
  }

  // photonrun's status as a shell gives it; reads its output to the end.
  int wait() {
    read_all();
    return wait_unread();
  }

  // The same of one whose output nobody reads.
  int wait_unread() {
    pollfd entry{.fd = pidfd_, .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, left_ms()) != 1) {
      fail("photonrun does not end");
      return -1;
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    reaped_ = true;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  // Processes that carry our mark now.
  std::vector<pid_t> processes() const {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream file(entry.path() / "environ");
      std::stringstream text;
      text << file.rdbuf();
      if (text.str().find(mark_ + '\0') != std::string::npos) found.push_back(std::stoi(name));
    }
    return found;
  }

  // Until at least so many carry our mark: a process in the middle of its exec shows none.
  void await_processes(std::size_t count) const {
    while (processes().size() < count)
      if (left_ms() == 0) return fail("fewer than " + std::to_string(count) + ": " + list());
  }

  // After photonrun ended by itself nothing is left at once.
  void expect_nothing_left() const { EXPECT_TRUE(processes().empty()) << list(); }

  // After it was killed its other half has to notice: waits for each process that is left.
  void await_nothing_left() const {
    for (;;) {
      const std::vector<pid_t> left = processes();
      if (left.empty()) return;
      const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, left.front(), 0));
      pollfd entry{.fd = pidfd, .events = POLLIN, .revents = 0};
      if (pidfd >= 0 && ::poll(&entry, 1, left_ms()) != 1) {
        ADD_FAILURE() << "left behind: " << list();
        for (const pid_t pid : left) ::kill(pid, SIGKILL);
        ::close(pidfd);
        return;
      }
      if (pidfd >= 0) ::close(pidfd);
    }
  }

  std::string out;
  std::string err;

 private:
  struct Standard {
    int input, output, error;
  };

  [[noreturn]] void become(const std::vector<std::string>& arguments, Standard standard) const {
    ::dup2(standard.input, 0);
    ::dup2(standard.output, 1);
    ::dup2(standard.error, 2);
    // A test run in the background has these ignored, and photonrun would leave them so.
    for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGTERM}) ::signal(number, SIG_DFL);
    ::putenv(const_cast<char*>(mark_.c_str()));
    // Ranks that are this program again would run the one test they are told to only if it is in
    // our share of the suite, and else none, with success; and they would write over our times.
    for (const char* name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_OUTPUT"})
      ::unsetenv(name);
    const std::string program = std::string(PHOTON_BIN_DIR) + "/photonrun";
    std::vector<char*> list;
    for (const std::string& word : wrapper_) list.push_back(const_cast<char*>(word.c_str()));
    list.push_back(const_cast<char*>(program.c_str()));
    for (const std::string& argument : arguments) {
      list.push_back(const_cast<char*>(argument.c_str()));
    }
    list.push_back(nullptr);
    ::execvp(list.front(), list.data());
    ::_exit(99);
  }

  // Both at once: a full pipe would stop photonrun.
  void read_all() {
    bool output_open = true;
    bool error_open = true;
    while (output_open || error_open) {
      pollfd entries[2] = {{.fd = output_open ? output_ : -1, .events = POLLIN, .revents = 0},
                           {.fd = error_open ? error_ : -1, .events = POLLIN, .revents = 0}};
      if (::poll(entries, 2, left_ms()) < 1) return;
      if (entries[0].revents != 0) output_open = read_some(output_, out);
      if (entries[1].revents != 0) error_open = read_some(error_, err);
    }
  }

  bool read_some(int fd, std::string& text) const {
    pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, left_ms()) != 1) return false;
    char buffer[65536];
    const ssize_t size = ::read(fd, buffer, sizeof buffer);
    if (size > 0) text.append(buffer, static_cast<std::size_t>(size));
    return size > 0;
  }

  int left_ms() const {
    const auto left = deadline_ - std::chrono::steady_clock::now();
    return static_cast<int>(std::max<long long>(
        0, std::chrono::duration_cast<std::chrono::milliseconds>(left).count()));
  }

  std::string list() const {
    std::string text;
    for (const pid_t pid : processes()) {
      std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
      std::string command;
      std::getline(file, command);
      text += std::to_string(pid) + " " + command + "; ";
    }
    return text;
  }
  std::string err_text() const { return " (standard error: " + err + ")"; }
  void fail(const std::string& what) const { ADD_FAILURE() << what; }

  static inline int next_ = 0;  // NOLINT: tests run in one thread
  const std::vector<std::string> wrapper_;
  const std::string mark_;
  std::chrono::steady_clock::time_point deadline_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(30);
  pid_t pid_ = 0;
  int input_ = -1;
  int output_ = -1;
  int error_ = -1;
  int pidfd_ = -1;
  bool reaped_ = false;
};

}  // namespace photon::test
