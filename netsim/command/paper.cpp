// paper: the matrix behind a figure of the paper on RVMA, as cells, tables and a page.
#include <algorithm>
#include <cstdio>
#include <set>

#include "netsim/command/cells.hpp"
#include "netsim/command/files.hpp"
#include "netsim/command/jobs.hpp"
#include "netsim/command/options.hpp"
#include "netsim/command/paper_page.hpp"
#include "netsim/command/settings_json.hpp"

namespace photon::netsim::command {
namespace {

std::string words_of(const PaperCell& cell) {
  return cell.form + ", " + cell.topology + " " + cell.routing + ", " + std::to_string(cell.Gbps) +
         " Gbps, " + cell.side;
}

// The cells that are run: some stand for several of the matrix. Those of many ranks a node take
// minutes each and come last, so that a command that is ended has left most of the others.
Result<std::vector<Cell>> name_cells(PaperMatrix& matrix, const std::string& folder) {
  std::vector<Cell> cells;
  std::set<std::string> names;
  for (PaperCell& cell : matrix.cells) {
    auto name = cell_name(cell.run_as);
    if (!name) return Error{name.error()};
    cell.name = std::move(*name);
    if (!names.insert(cell.name).second) continue;
    cells.push_back({cell.run_as, words_of(cell), path_in(folder, cell.name)});
  }
  std::ranges::stable_sort(cells, {},
                           [](const Cell& cell) { return cell.settings.ranks_per_node; });
  return cells;
}

// Empty, or what is wrong. The figures are those of the file that is there.
std::string read_result(PaperCell& cell, const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto json = nlohmann::ordered_json::parse(*text, nullptr, false);
  if (!json.is_object()) return path + ": it is no result";
  cell.last_ps = json.value("last_ps", Time{0});
  cell.mean_ps = json.value("mean_ps", 0.0);
  cell.packets = json.value("packets", std::uint64_t{0});
  cell.hops = json.value("hops", std::uint64_t{0});
  cell.out_of_order_share = json.value("out_of_order_share", 0.0);
  const auto peaks = json.value("peaks", nlohmann::ordered_json::object());
  cell.peak_held_bytes = peaks.value("held_bytes", std::uint64_t{0});
  return cell.last_ps == 0 ? path + ": it has no last_ps" : "";
}

int write_pages(const PaperMatrix& matrix, const std::string& folder) {
  const std::string start = folder + "/figure" + std::to_string(matrix.figure);
  for (const auto& [path, text] : {std::pair{start + ".csv", cells_csv(matrix)},
                                   std::pair{start + "-ladder.csv", ladders_csv(matrix)},
                                   std::pair{start + ".md", page_of(matrix)}}) {
    const auto is_written = write_file(path, text);
    if (!is_written) return refuse(is_written.error());
    std::printf("%s\n", path.c_str());
  }
  return 0;
}

}  // namespace

int paper(Arguments arguments) {
  const auto options = options_of(arguments, " --figure --nodes --into --jobs ");
  if (!options) return refuse(options.error());
  if (!options->file.empty() || options->figure.empty() || options->into.empty()) {
    return refuse("paper --figure 7|8 --into DIR");
  }
  const std::uint32_t jobs = jobs_of(options->jobs);
  if (jobs == 0) return refuse("--jobs " + options->jobs + ": allowed is 1 to 256");
  auto matrix = paper_matrix(options->figure, options->nodes);
  if (!matrix) return refuse(matrix.error());
  const auto cells = name_cells(*matrix, options->into);
  if (!cells) return refuse(cells.error());
  const auto folder = CellFolder::open(options->into);
  if (!folder) return refuse(folder.error());
  const CellsDone done = run_cells(*cells, jobs);
  std::printf("%zu cells, %zu run now\n", cells->size(), done.run_now);
  if (done.failed != 0) return 1;
  for (PaperCell& cell : matrix->cells) {
    const std::string wrong = read_result(cell, path_in(options->into, cell.name));
    if (!wrong.empty()) return refuse(wrong);
  }
  return write_pages(*matrix, options->into);
}

}  // namespace photon::netsim::command
