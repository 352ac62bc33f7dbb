#include "plot.hpp"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "failure.hpp"

namespace photon::perf {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kSuffixes{".png", ".pdf", ".svg"};
constexpr int kNotFound = 127;  // exit status of env(1), which looks for Python

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Tried for real, and nothing left behind if the file is new.
void require_writable(const std::string& path) {
  std::error_code ignored;
  const bool is_new = !fs::exists(path, ignored);
  errno = 0;
  if (!std::ofstream(path, std::ios::app)) {
    throw Failure(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  if (is_new) fs::remove(path, ignored);
}

// The one beside this program, which is of the same version; else any in PATH.
std::string plotter() {
  std::error_code error;
  const auto path = fs::read_symlink("/proc/self/exe", error).parent_path() / "photon-plot";
  return !error && ::access(path.c_str(), X_OK) == 0 ? path.string() : "photon-plot";
}

// Runs photon-plot with `input` as its standard input: its exit status, 127 if it did not start.
int run_plotter(std::vector<std::string> arguments, std::FILE* input) {
  arguments.insert(arguments.begin(), plotter());
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return kNotFound;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return kNotFound;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// An unnamed file that holds `text`, to be read from its start.
File file_of(const std::string& text) {
  File file(std::tmpfile());
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0) {
    throw Failure(fmt::format("--plot: cannot write a temporary file: {}", std::strerror(errno)));
  }
  std::rewind(file.get());
  return file;
}

[[noreturn]] void fail_to_start(int exit_status) {
  if (exit_status == kNotFound) {
    throw Failure(
        "--plot: photon-plot or its Python 3 was not found; install python3-matplotlib (in the "
        "source tree: scripts/install-deps plot), or use --json and draw elsewhere");
  }
  throw Failure(
      "--plot: photon-plot cannot draw here, as said above; or use --json and draw "
      "elsewhere: photon-plot FILE.json --output FILE.png");
}

}  // namespace

void require_plot_suffix(const std::string& path) {
  const auto suffix = fs::path(path).extension().string();
  if (std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end()) return;
  throw Failure(fmt::format("--plot: cannot draw '{}'; give a file that ends in {}", path,
                            ".png, .pdf or .svg"));
}

Plot::Plot(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  require_writable(path_);
  const auto status = run_plotter({"--check", "--output", path_}, file_of("").get());
  if (status != 0) fail_to_start(status);
}

void Plot::draw(const std::string& json) const {
  if (path_.empty()) return;
  const auto status = run_plotter({"-", "--output", path_}, file_of(json).get());
  if (status != 0) throw Failure(fmt::format("{} was not drawn: photon-plot failed", path_));
}

}  // namespace photon::perf
