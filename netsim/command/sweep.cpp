// sweep: all combinations of the lists in [sweep], a result for each in a file of its own.
//
// A cell's file is named by a hash of its complete settings and of the model's version, and is
// there whole or not at all. A file that is no whole result of exactly these settings is none: the
// cell is run again. So a sweep that was killed and is started again runs what is missing.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

#include "netsim/command/files.hpp"
#include "netsim/command/options.hpp"
#include "netsim/command/stopwatch.hpp"
#include "netsim/run/keys.hpp"

namespace photon::netsim::command {
namespace {

constexpr std::size_t kMostCells = 100000;

struct Cell {
  Settings settings;
  std::string what;  // the values of the sweep's keys
  std::string path;
};

// The matrix; the last key changes fastest.
Result<std::vector<Cell>> cells_of(const Document& document, const std::string& folder) {
  std::vector<Cell> cells{{document.settings, "", ""}};
  for (const Axis& axis : document.axes) {
    if (cells.size() * axis.values.size() > kMostCells) {
      return Error{document.placed(axis.key + " makes too many cells: allowed are 100000")};
    }
    std::vector<Cell> more;
    for (const Cell& cell : cells) {
      for (const std::string& value : axis.values) {
        auto settings = with(cell.settings, axis.key, value);
        if (!settings) return Error{document.placed(settings.error())};
        more.push_back({std::move(*settings),
                        cell.what + (cell.what.empty() ? "" : ", ") + axis.key + " = " + value,
                        ""});
      }
    }
    cells = std::move(more);
  }
  for (Cell& cell : cells) {
    std::string files;  // what else the result depends on
    if (!cell.settings.motif.file.empty()) {
      auto text = read_file(cell.settings.motif.file);
      if (!text) return Error{document.placed("motif.file = " + text.error())};
      files = std::move(*text);
    }
    cell.path = folder + "/" + name_of(cell.settings, files) + ".json";
  }
  return cells;
}

// All cells before any is run: a mistake is told at once.
std::string wrong_with(const Document& document, const std::vector<Cell>& cells) {
  for (const Cell& cell : cells) {
    const auto simulation = make_simulation(cell.settings);
    if (!simulation) {
      return document.placed(simulation.error()) +
             (cell.what.empty() ? "" : " (in the cell " + cell.what + ")");
    }
  }
  return {};
}

bool is_done(const Cell& cell) {
  const auto text = read_file(cell.path);
  return text && is_result_of(cell.settings, *text);
}

// The cells that are left, shared out to threads.
class Work {
 public:
  explicit Work(const std::vector<Cell>& cells) : cells_(cells) {}

  void run() {
    while (const Cell* cell = next()) {
      const std::string wrong = is_done(*cell) ? "" : run_cell(*cell);
      const std::lock_guard lock(mutex_);
      ++done_;
      if (!wrong.empty()) ++failed_;
      if (!wrong.empty()) std::fprintf(stderr, "photon-netsim: %s\n", wrong.c_str());
      if (::isatty(2) == 1) std::fprintf(stderr, "\r%zu of %zu cells", done_, cells_.size());
    }
  }
  std::size_t failed() const { return failed_; }
  std::size_t run_now() const { return run_now_; }

 private:
  const Cell* next() {
    const std::lock_guard lock(mutex_);
    return next_ < cells_.size() ? &cells_[next_++] : nullptr;
  }

  std::string run_cell(const Cell& cell) {
    const Stopwatch watch;
    const auto result = photon::netsim::run(cell.settings);
    const std::string failure = result ? result->failure : result.error();
    if (!failure.empty()) return "the cell " + cell.what + " failed: " + failure;
    const auto is_written =
        write_file(cell.path, result_json(cell.settings, *result, watch.speed()));
    const std::lock_guard lock(mutex_);
    ++run_now_;
    return is_written ? "" : is_written.error();
  }

  const std::vector<Cell>& cells_;
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
  std::size_t run_now_ = 0;
};

// A folder that one sweep has for itself until its process ends, however it ends.
Result<int> locked_folder(const std::string& path) {
  ::mkdir(path.c_str(), 0777);
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0 || ::access(path.c_str(), W_OK | X_OK) != 0) {
    return Error{"--into " + path + ": it cannot be written: " + std::strerror(errno)};
  }
  if (::flock(folder, LOCK_EX | LOCK_NB) != 0) {
    return Error{"--into " + path + ": another sweep is at work there"};
  }
  return folder;
}

// What killed sweeps left half written.
void remove_parts(const std::string& path) {
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(".part")) ::unlink((path + "/" + std::string(name)).c_str());
  }
  ::closedir(folder);
}

std::uint32_t jobs_of(const std::string& text) {
  std::uint32_t jobs = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  const bool is_number = error == std::errc{} && rest == text.data() + text.size();
  return is_number && jobs <= 256 ? jobs : 0;
}

}  // namespace

int sweep(Arguments arguments) {
  const auto options = options_of(arguments, " --set --threads --into --jobs ");
  if (!options) return refuse(options.error());
  if (options->file.empty() || options->into.empty()) return refuse("sweep FILE --into DIR");
  const std::uint32_t jobs = jobs_of(options->jobs);
  if (jobs == 0) return refuse("--jobs " + options->jobs + ": allowed is 1 to 256");
  const auto document = read_document(*options);
  if (!document) return refuse(document.error());
  const auto cells = cells_of(*document, options->into);
  if (!cells) return refuse(cells.error());
  const std::string wrong = wrong_with(*document, *cells);
  if (!wrong.empty()) return refuse(wrong);
  const auto folder = locked_folder(options->into);
  if (!folder) return refuse(folder.error());
  remove_parts(options->into);
  Work work(*cells);
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t job = 1; job < jobs; ++job) threads.emplace_back([&work] { work.run(); });
    work.run();
  }
  if (::isatty(2) == 1) std::fputc('\n', stderr);
  for (const Cell& cell : *cells) std::printf("%s  %s\n", cell.path.c_str(), cell.what.c_str());
  std::printf("%zu cells, %zu run now\n", cells->size(), work.run_now());
  ::close(*folder);
  return work.failed() == 0 ? 0 : 1;
}

}  // namespace photon::netsim::command
