#include "descendants.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fd.hpp"

namespace photonrun {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// Parent's pid, or 0. The name before it may hold anything, so we look after the last ')'.
pid_t parent_of(const std::string& pid) {
  const Fd file(::open(("/proc/" + pid + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return 0;
  char text[512];
  const ssize_t size = ::read(file.get(), text, sizeof text);
  const std::string_view line(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t bracket = line.rfind(')');
  if (bracket == std::string_view::npos || bracket + 4 >= line.size()) return 0;
  const std::string number(line.substr(bracket + 4));
  return static_cast<pid_t>(std::strtol(number.c_str(), nullptr, 10));
}

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, CloseDirectory> proc(::opendir("/proc"));
  while (const dirent* const entry = proc ? ::readdir(proc.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (parent_of(name) == ::getpid()) found.push_back(std::atoi(name.c_str()));
  }
  return found;
}

}  // namespace

bool become_subreaper() { return ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

void end_all_descendants() {
  constexpr int kMaxBlindRounds = 2000;  // of a millisecond each: /proc may be missing
  for (int blind_rounds = 0; blind_rounds < kMaxBlindRounds;) {
    pid_t reaped;
    while ((reaped = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (reaped < 0 && errno == ECHILD) return;
    const std::vector<pid_t> found = children();
    // Only this thread reaps, so a child seen here is still ours when the signal goes out.
    for (const pid_t child : found) ::kill(child, SIGKILL);
    if (found.empty()) {
      ++blind_rounds;
      ::usleep(1000);
    } else if (::waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) {
      return;  // else one of the killed ended; its children, now ours, are met in the next round
    }
  }
}

}  // namespace photonrun
