#include "netsim/command/cells.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "netsim/command/files.hpp"
#include "netsim/command/jobs.hpp"
#include "netsim/command/result_json.hpp"
#include "netsim/command/stopwatch.hpp"

namespace photon::netsim::command {
namespace {

bool is_done(const Cell& cell) {
  const auto text = read_file(cell.path);
  return text && is_result_of(cell.settings, *text);
}

// Empty, or what went wrong.
std::string run_cell(const Cell& cell) {
  const Stopwatch watch;
  const auto result = photon::netsim::run(cell.settings);
  const std::string failure = result ? result->failure : result.error();
  if (!failure.empty()) return "the cell " + cell.what + " failed: " + failure;
  const auto is_written = write_file(cell.path, result_json(cell.settings, *result, watch.speed()));
  return is_written ? "" : is_written.error();
}

bool has_only(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

// Is it what write_file() makes before a result of a cell, or a page of `paper`, has its name?
// Other people's files may end in .part as well.
bool is_own_part(std::string_view name) {
  constexpr std::string_view kEnd = ".part";
  if (!name.ends_with(kEnd)) return false;
  name.remove_suffix(kEnd.size());
  const std::size_t process = name.rfind('.');
  if (process == std::string_view::npos) return false;
  if (!has_only(name.substr(process + 1), "0123456789")) return false;
  name = name.substr(0, process);
  if (name.starts_with("figure")) return name.ends_with(".csv") || name.ends_with(".md");
  return name.ends_with(".json") && name.size() == 32 + 5 &&
         has_only(name.substr(0, 32), "0123456789abcdef");
}

// It removes the files that killed processes have left half written.
void remove_parts(const std::string& path) {
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (is_own_part(name)) ::unlink((path + "/" + std::string(name)).c_str());
  }
  ::closedir(folder);
}

}  // namespace

Result<std::string> cell_name(const Settings& settings) {
  std::string files;  // what else the result depends on
  if (!settings.motif.file.empty()) {
    auto text = read_file(settings.motif.file);
    if (!text) return Error{"motif.file = " + text.error()};
    files = std::move(*text);
  }
  return name_of(settings, files);
}

std::string path_in(const std::string& folder, const std::string& cell_name) {
  return folder + "/" + cell_name + ".json";
}

Result<CellFolder> CellFolder::open(const std::string& path) {
  ::mkdir(path.c_str(), 0777);
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0 || ::access(path.c_str(), W_OK | X_OK) != 0) {
    const Error error{"--into " + path + ": it cannot be written: " + std::strerror(errno)};
    if (folder >= 0) ::close(folder);
    return error;
  }
  if (::flock(folder, LOCK_EX | LOCK_NB) != 0) {
    ::close(folder);
    return Error{"--into " + path + ": another sweep is at work there"};
  }
  remove_parts(path);
  return CellFolder(folder);
}

CellFolder::CellFolder(CellFolder&& other) noexcept : file_(other.file_) { other.file_ = -1; }

CellFolder::~CellFolder() {
  if (file_ >= 0) ::close(file_);
}

CellsDone run_cells(const std::vector<Cell>& cells, std::uint32_t jobs) {
  CellsDone done;
  std::size_t finished = 0;
  std::mutex mutex;
  const bool is_terminal = ::isatty(2) == 1;
  const bool is_begun = in_parallel(cells.size(), jobs, [&](std::size_t i) {
    const bool was_done = is_done(cells[i]);
    const std::string wrong = was_done ? "" : run_cell(cells[i]);
    const std::lock_guard lock(mutex);
    ++finished;
    if (!was_done && wrong.empty()) ++done.run_now;
    if (!wrong.empty()) ++done.failed;
    if (!wrong.empty()) std::fprintf(stderr, "photon-netsim: %s\n", wrong.c_str());
    if (is_terminal) std::fprintf(stderr, "\r%zu of %zu cells", finished, cells.size());
  });
  if (!is_begun) done.failed = cells.size();
  if (is_terminal && is_begun) std::fputc('\n', stderr);
  return done;
}

}  // namespace photon::netsim::command
