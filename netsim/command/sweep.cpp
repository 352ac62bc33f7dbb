// sweep: all combinations of the lists in [sweep], a result for each in a file of its own.
#include <cstdio>
#include <set>

#include "netsim/command/cells.hpp"
#include "netsim/command/jobs.hpp"
#include "netsim/command/options.hpp"
#include "netsim/run/simulation.hpp"

namespace photon::netsim::command {
namespace {

constexpr std::size_t kMostCells = 100000;

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
    const auto name = cell_name(cell.settings);
    if (!name) return Error{document.placed(name.error())};
    cell.path = path_in(folder, *name);
  }
  return cells;
}

// Cells may differ in what no result depends on, as run.threads: one of each result.
std::vector<Cell> once_each(std::vector<Cell> cells) {
  std::set<std::string> paths;
  std::erase_if(cells, [&paths](const Cell& cell) { return !paths.insert(cell.path).second; });
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
  const auto folder = CellFolder::open(options->into);
  if (!folder) return refuse(folder.error());
  const CellsDone done = run_cells(once_each(*cells), jobs);
  for (const Cell& cell : *cells) std::printf("%s  %s\n", cell.path.c_str(), cell.what.c_str());
  std::printf("%zu cells, %zu run now\n", cells->size(), done.run_now);
  return done.failed == 0 ? 0 : 1;
}

}  // namespace photon::netsim::command
