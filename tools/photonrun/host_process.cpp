#include "host_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "child.hpp"

namespace photonrun {
namespace {

constexpr int kSshStatus = 255;  // ssh's own failure, or a signal killed what ran there
constexpr std::size_t kPieceBytes = 1 << 16;

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

HostProcess::HostProcess(HostProcessPlan plan) : plan_(std::move(plan)) {
  Pipe output = make_pipe();
  Pipe error = make_pipe();
  streams_[0].pipe = std::move(output.read);
  streams_[1].pipe = std::move(error.read);
  for (const Stream& one : streams_) ::fcntl(one.pipe.get(), F_SETFL, O_NONBLOCK);
  start(std::move(output.write), std::move(error.write));
}

void HostProcess::start(Fd output, Fd error) {
  Pipe input = make_pipe();
  Pipe report = make_pipe();
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error(fmt::format("fork: {}", std::strerror(errno)));
  if (pid_ == 0) {
    become_command({input.read.get(), output.get(), error.get()}, parent, report.write.get());
  }
  report.write.reset();
  if (const int number = await_exec(report.read.get()); number != 0) {
    throw std::runtime_error(
        fmt::format("cannot start {}: {}", plan_.command.front(), std::strerror(number)));
  }
  input_ = std::move(input.write);
}

// In the launcher's group, which is not the terminal's: what is typed there reaches the ranks
// through photonrun.
void HostProcess::become_command(const std::array<int, 3>& standard, pid_t parent,
                                 int report) const {
  die_with(parent);
  for (int fd = 0; fd < 3; ++fd) ::dup2(standard[static_cast<std::size_t>(fd)], fd);
  ::setrlimit(RLIMIT_NOFILE, &plan_.file_limit);
  plan_.signals.restore();
  const std::vector<char*> arguments = pointers_to(plan_.command);
  ::execvp(arguments.front(), arguments.data());
  const int number = errno;
  (void)!::write(report, &number, sizeof number);
  ::_exit(kNotFoundStatus);
}

// A killed process closes its connections before it can be reaped, and all of the job elsewhere may
// fail of that before it can. The kernel marks it before that: PF_EXITING of proc(5)'s flags.
bool HostProcess::is_exiting() const {
  constexpr unsigned long kExiting = 0x4;
  if (end_) return true;
  const Fd file(::open(fmt::format("/proc/{}/stat", pid_).c_str(), O_RDONLY | O_CLOEXEC));
  char text[512] = "";
  const ssize_t size = file ? ::read(file.get(), text, sizeof text - 1) : 0;
  const std::string line(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t bracket = line.rfind(')');
  if (bracket == std::string::npos || bracket + 2 >= line.size()) return false;
  const char state = line[bracket + 2];
  std::size_t at = bracket + 2;  // then: parent, group, session, terminal, its group, flags
  for (int field = 0; field < 6 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
  const unsigned long flags =
      at == std::string::npos ? 0 : std::strtoul(line.c_str() + at, nullptr, 10);
  return state == 'Z' || (flags & kExiting) != 0;
}

void HostProcess::set_reaped(int wait_status) {
  const bool by_signal = WIFSIGNALED(wait_status);
  end_ = End{.by_signal = by_signal,
             .value = by_signal ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status)};
  input_.reset();
}

bool HostProcess::reap() {
  int wait_status = 0;
  if (end_ || ::waitpid(pid_, &wait_status, WNOHANG) != pid_) return false;
  set_reaped(wait_status);
  return true;
}

bool HostProcess::reap_until(std::chrono::steady_clock::time_point until) {
  using std::chrono::ceil, std::chrono::milliseconds;
  if (end_) return false;
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  const auto left = ceil<milliseconds>(until - std::chrono::steady_clock::now()).count();
  pollfd entry{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  (void)::poll(&entry, 1, static_cast<int>(std::max<long long>(left, 0)));
  return reap();
}

void HostProcess::kill() const {
  if (is_running()) ::kill(pid_, SIGKILL);
}

// A few bytes into a pipe that is empty; if nobody is there to read them, its end will tell.
void HostProcess::say(std::string_view line) const {
  const std::string text = fmt::format("{}\n", line);
  if (input_) (void)!::write(input_.get(), text.data(), text.size());
}

void HostProcess::set_joined(Output& output) {
  if (!streams_[1].line.empty()) finish_line(1, output);
  joined_ = true;
}

void HostProcess::want(std::vector<pollfd>& entries, const Output& output) const {
  for (std::size_t sink = 0; sink < streams_.size(); ++sink) {
    const int fd = output.has_room(sink) ? streams_[sink].pipe.get() : -1;
    entries.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  }
}

bool HostProcess::handle(const pollfd* entry, Output& output) {
  bool moved = false;
  for (std::size_t sink = 0; sink < streams_.size(); ++sink) {
    if (entry[sink].revents != 0 && read(sink, output)) moved = true;
  }
  return moved;
}

void HostProcess::read_rest(Output& output) {
  for (std::size_t sink = 0; sink < streams_.size(); ++sink) {
    int left_bytes = 0;
    (void)::ioctl(streams_[sink].pipe.get(), FIONREAD, &left_bytes);
    // Each takes all that is there, up to a piece; one more finds the end.
    const int turns = left_bytes / static_cast<int>(kPieceBytes) + 2;
    for (int i = 0; i < turns && streams_[sink].pipe && read(sink, output); ++i) {
    }
  }
}

// False: nothing was there.
bool HostProcess::read(std::size_t sink, Output& output) {
  Stream& stream = streams_[sink];
  std::array<char, kPieceBytes> buffer;
  const ssize_t size = ::read(stream.pipe.get(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  std::string_view rest(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  if (rest.empty() || output.is_dead(sink)) {
    if (!stream.line.empty()) finish_line(sink, output);
    stream.pipe.reset();  // where nobody reads, the ranks there are to hear of it
    return true;
  }
  if (!merges(sink)) {
    output.put(sink, rest);
    return true;
  }
  while (!rest.empty()) {
    const std::size_t newline = rest.find('\n');
    stream.line += rest.substr(0, newline);
    const bool complete = newline != std::string_view::npos;
    if (complete || stream.line.size() >= kMaxLineBytes) finish_line(sink, output);
    if (!complete) break;
    rest.remove_prefix(newline + 1);
  }
  return true;
}

// Before it joined it is ssh that speaks, the shell there, a photonrun that comes to no job.
void HostProcess::finish_line(std::size_t sink, Output& output) {
  std::string& line = streams_[sink].line;
  if (!line.empty() && line.back() == '\r') line.pop_back();  // as ssh ends its own
  if (sink == 1 && !joined_) {
    output.put(sink, fmt::format("{}: {}\n", plan_.host, line));
    if (!line.empty()) said_ = line;
  } else {
    output.put(sink, line + "\n");
  }
  line.clear();
}

std::string HostProcess::breakdown() const {
  if (!end_) return {};
  if (end_->by_signal) {
    return fmt::format("{} was killed by {}", plan_.name, signal_text(end_->value));
  }
  // Of another status photonrun's connection knows more.
  if (end_->value != kSshStatus) return {};
  return fmt::format(
      "{} ended with status {}: it lost its connection, or photonrun there was killed", plan_.name,
      end_->value);
}

std::string HostProcess::mishap() const {
  if (!end_) return plan_.name + " did not end";
  const std::string text = breakdown();
  return text.empty() ? fmt::format("{} ended with status {}", plan_.name, end_->value) : text;
}

std::string HostProcess::failure() const {
  if (!end_) return plan_.name + " still runs";
  if (end_->by_signal) return breakdown() + last_words();
  switch (end_->value) {
    case kSshStatus: return fmt::format("{} failed{}", plan_.name, last_words());
    case kNotFoundStatus:
      return fmt::format("{} finds no photonrun there (--remote-photonrun){}", plan_.name,
                         last_words());
    case kNotStartedStatus:
      return fmt::format("{} cannot start photonrun there{}", plan_.name, last_words());
    default:
      return fmt::format("{} ended with status {} before the job began{}", plan_.name, end_->value,
                         last_words());
  }
}

}  // namespace photonrun
