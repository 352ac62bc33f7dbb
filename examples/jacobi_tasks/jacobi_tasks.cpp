// A 2-D stencil by tasks: the grid is cut into more blocks than there are PEs, and each block goes
// on when the edges of its neighbours have come, whatever the other blocks do. Edges are sent from
// where they lie; rows land in the grid of the neighbour, so nobody copies them. Each block has two
// grids, and a step writes one of them when all edges that were sent from it are released. The
// result is compared cell by cell with a serial run; a difference is exit status 1.
//   photonrun -n 2 jacobi_tasks --pes 2 --steps 50
#include <photon/task.hpp>

#include <CLI/CLI.hpp>
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace {

// Other PEs of the process run on: nothing is destroyed under them.
[[noreturn]] void fail() {
  std::fflush(nullptr);
  std::_Exit(1);
}

using photon::tasks::Failure;
using photon::tasks::Handler;
using photon::tasks::Room;
using photon::tasks::Tasks;
using photon::tasks::zero_copy;

struct Options {
  std::uint32_t pes = 2;
  std::uint32_t rows = 128;
  std::uint32_t columns = 1024;
  std::uint32_t blocks_down = 4;
  std::uint32_t blocks_across = 2;
  std::uint32_t steps = 20;
  std::optional<std::uint64_t> threshold;  // bytes; else it is learnt
};

enum Side : std::uint32_t { kUp = 0, kDown = 1, kLeft = 2, kRight = 3 };
constexpr std::uint32_t kSides = 4;
constexpr std::uint32_t opposite(std::uint32_t side) { return side ^ 1; }
constexpr bool is_row(std::uint32_t side) { return side < kLeft; }

// Rows and columns with a border of one cell all around.
class Grid {
 public:
  Grid(std::uint32_t rows, std::uint32_t columns)
      : rows_(rows), columns_(columns), cells_((rows + 2) * (std::size_t{columns} + 2)) {}
  double& at(std::uint32_t row, std::uint32_t column) {
    return cells_[row * (std::size_t{columns_} + 2) + column];
  }
  std::span<double> row(std::uint32_t row) { return {&at(row, 1), columns_}; }
  std::uint32_t rows() const { return rows_; }
  std::uint32_t columns() const { return columns_; }

 private:
  std::uint32_t rows_;
  std::uint32_t columns_;
  std::vector<double> cells_;
};

// The cell of the whole grid as it begins; its border stays so.
double first_value(std::uint32_t row, std::uint32_t column) {
  return column == 0 ? 1.0 : (row * 31 + column * 17) % 101 / 101.0;
}

void relax(Grid& from, Grid& to) {
  for (std::uint32_t i = 1; i <= from.rows(); ++i)
    for (std::uint32_t j = 1; j <= from.columns(); ++j)
      to.at(i, j) =
          0.25 * (from.at(i - 1, j) + from.at(i + 1, j) + from.at(i, j - 1) + from.at(i, j + 1));
}

// Both of them, with their border, as a part of the whole grid from there on.
void fill(Grid& grid, std::uint32_t row, std::uint32_t column) {
  for (std::uint32_t i = 0; i < grid.rows() + 2; ++i)
    for (std::uint32_t j = 0; j < grid.columns() + 2; ++j)
      grid.at(i, j) = first_value(row + i, column + j);
}

struct Block {
  Block(std::uint32_t rows, std::uint32_t columns)
      : grids{Grid(rows, columns), Grid(rows, columns)} {
    for (auto& sides : columns_out) sides.fill(std::vector<double>(rows));
    for (auto& sides : columns_in) sides.fill(std::vector<double>(rows));
  }
  std::uint32_t number = 0;
  std::uint32_t row = 0;  // of the whole grid, of the first cell
  std::uint32_t column = 0;
  std::uint32_t step = 0;
  std::array<std::optional<std::uint32_t>, kSides> neighbours;
  std::uint32_t neighbours_count = 0;
  // All of these by the parity of the step.
  std::array<Grid, 2> grids;
  std::array<std::array<std::vector<double>, 2>, 2> columns_out;
  std::array<std::array<std::vector<double>, 2>, 2> columns_in;
  std::array<std::uint32_t, 2> come{};        // edges of neighbours
  std::array<std::uint32_t, 2> unreleased{};  // edges of ours
};

void check(ph_task_pe* pe, ph_status status) {
  if (status == PH_OK) return;
  ph_error error;
  ph_task_error(pe, &error);
  std::fprintf(stderr, "jacobi_tasks: %s\n", error.text);
  fail();
}

// This is all that one PE has.
class Place {
 public:
  Place(ph_task_pe* pe, const Options& options) : options_(options), tasks_(pe) {
    if (options.threshold) tasks_.fix_threshold(*options.threshold);
    tasks_.on_failure([](const Failure& failure) {
      std::fprintf(stderr, "jacobi_tasks: an edge of or to PE %u was lost: %s\n", failure.pe,
                   ph_status_text(failure.status));
      fail();
    });
    on_edge_ = tasks_.on(
        [this](Room<double> room, std::uint32_t number, std::uint32_t side, std::uint32_t step) {
          Block& block = blocks_.at(number);
          Grid& grid = block.grids[step % 2];
          if (is_row(side))
            room.into(grid.row(side == kUp ? 0 : grid.rows() + 1));
          else
            room.into(block.columns_in[step % 2][side - kLeft]);
        },
        [this](std::span<double> edge, std::uint32_t number, std::uint32_t side,
               std::uint32_t step) { take(blocks_.at(number), edge, side, step); });
    check(pe, tasks_.agree());
    for (std::uint32_t i = tasks_.place().pe; i < blocks_count(); i += tasks_.place().pes) make(i);
  }

  // Returns how many cells differ from the serial ones.
  std::uint64_t run() {
    for (auto& [number, block] : blocks_) send_edges(block);
    for (auto& [number, block] : blocks_) advance(block);
    if (!is_over()) check(tasks_.pe(), ph_task_run(tasks_.pe(), -1, nullptr));
    const std::uint64_t wrong = compare();
    const std::uint32_t next = (tasks_.place().pe + 1) % tasks_.place().pes;
    std::printf("PE %u of %u: %zu blocks, %u steps, %" PRIu64
                " cells differ; to PE %u by zero copy from %" PRIu64 " bytes on\n",
                tasks_.place().pe, tasks_.place().pes, blocks_.size(), options_.steps, wrong, next,
                tasks_.threshold(next));
    return wrong;
  }

 private:
  std::uint32_t blocks_count() const { return options_.blocks_down * options_.blocks_across; }

  void make(std::uint32_t number) {
    const std::uint32_t rows = options_.rows / options_.blocks_down;
    const std::uint32_t columns = options_.columns / options_.blocks_across;
    const std::uint32_t down = number / options_.blocks_across;
    const std::uint32_t across = number % options_.blocks_across;
    Block& block = blocks_.try_emplace(number, rows, columns).first->second;
    block.number = number;
    block.row = down * rows;
    block.column = across * columns;
    for (Grid& grid : block.grids) fill(grid, block.row, block.column);
    if (down != 0) block.neighbours[kUp] = number - options_.blocks_across;
    if (down + 1 < options_.blocks_down) block.neighbours[kDown] = number + options_.blocks_across;
    if (across != 0) block.neighbours[kLeft] = number - 1;
    if (across + 1 < options_.blocks_across) block.neighbours[kRight] = number + 1;
    for (const auto& neighbour : block.neighbours) block.neighbours_count += neighbour ? 1 : 0;
  }

  // The cells of this step that the neighbour on that side needs.
  std::span<double> edge_of(Block& block, std::uint32_t side) {
    Grid& grid = block.grids[block.step % 2];
    if (is_row(side)) return grid.row(side == kUp ? 1 : grid.rows());
    std::vector<double>& column = block.columns_out[block.step % 2][side - kLeft];
    for (std::uint32_t i = 0; i < grid.rows(); ++i)
      column[i] = grid.at(i + 1, side == kLeft ? 1 : grid.columns());
    return column;
  }
  void send_edges(Block& block) {
    const std::uint32_t parity = block.step % 2;
    for (std::uint32_t side = 0; side < kSides; ++side) {
      if (!block.neighbours[side]) continue;
      const std::uint32_t to = *block.neighbours[side];
      ++block.unreleased[parity];
      const auto released = [this, &block, parity] {
        --block.unreleased[parity];
        advance(block);
      };
      check(tasks_.pe(),
            tasks_.send(to % tasks_.place().pes, on_edge_,
                        zero_copy(edge_of(block, side), released), to, opposite(side), block.step));
    }
  }
  // A neighbour is at most one step ahead, so its edge is of this step or of the next one.
  void take(Block& block, std::span<double> edge, std::uint32_t side, std::uint32_t step) {
    Grid& grid = block.grids[step % 2];
    for (std::uint32_t i = 0; !is_row(side) && i < grid.rows(); ++i)
      grid.at(i + 1, side == kLeft ? 0 : grid.columns() + 1) = edge[i];
    ++block.come[step % 2];
    advance(block);
  }
  // As far as it can go: a step writes the other grid, whose edges must be released.
  void advance(Block& block) {
    while (block.step < options_.steps) {
      const std::uint32_t parity = block.step % 2;
      if (block.come[parity] != block.neighbours_count || block.unreleased[1 - parity] != 0) return;
      block.come[parity] = 0;
      relax(block.grids[parity], block.grids[1 - parity]);
      if (++block.step < options_.steps)
        send_edges(block);
      else
        ++finished_;
    }
    if (is_over() && !is_stopped_) is_stopped_ = ph_task_stop(tasks_.pe()) == PH_OK;
  }
  // Until its edges are released a peer may read them, so the PE does not end before.
  bool is_over() const { return finished_ == blocks_.size() && tasks_.unreleased() == 0; }

  std::uint64_t compare() {
    Grid one(options_.rows, options_.columns);
    fill(one, 0, 0);
    Grid other = one;
    for (std::uint32_t i = 0; i < options_.steps; ++i) {
      relax(one, other);
      std::swap(one, other);
    }
    std::uint64_t wrong = 0;
    for (auto& [number, block] : blocks_) {
      Grid& grid = block.grids[options_.steps % 2];
      for (std::uint32_t i = 1; i <= grid.rows(); ++i)
        for (std::uint32_t j = 1; j <= grid.columns(); ++j)
          wrong += grid.at(i, j) != one.at(block.row + i, block.column + j) ? 1 : 0;
    }
    return wrong;
  }

  const Options& options_;
  Tasks tasks_;
  Handler<std::span<double>, std::uint32_t, std::uint32_t, std::uint32_t> on_edge_;
  std::map<std::uint32_t, Block> blocks_;
  std::size_t finished_ = 0;
  bool is_stopped_ = false;
};

// Every PE runs this.
void run(ph_task_pe* pe, void* user) {
  const Options& options = *static_cast<const Options*>(user);
  if (Place(pe, options).run() != 0) fail();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"A 2-D stencil by tasks, compared with a serial run"};
  app.add_option("--pes", options.pes, "PEs of each process");
  app.add_option("--rows", options.rows, "Of the grid")->check(CLI::Range(1, 100'000));
  app.add_option("--columns", options.columns, "Of the grid")->check(CLI::Range(1, 100'000));
  app.add_option("--blocks-down", options.blocks_down, "Must divide the rows");
  app.add_option("--blocks-across", options.blocks_across, "Must divide the columns");
  app.add_option("--steps", options.steps, "How many")->check(CLI::Range(1, 1'000'000));
  app.add_option("--threshold", options.threshold,
                 "Edges of so many bytes are read where they lie (else it is learnt)");
  CLI11_PARSE(app, argc, argv);
  if (options.blocks_down == 0 || options.rows % options.blocks_down != 0 ||
      options.blocks_across == 0 || options.columns % options.blocks_across != 0) {
    std::fprintf(stderr, "jacobi_tasks: blocks must divide the rows and the columns\n");
    return 1;
  }
  ph_task_config config{};
  config.size = sizeof config;
  config.pes = options.pes;
  config.main = run;
  config.user = &options;
  ph_task_pe* pe = nullptr;
  ph_error error;
  if (ph_task_start(&config, &pe, &error) != PH_OK) {
    std::fprintf(stderr, "jacobi_tasks: %s\n", error.text);
    return 1;
  }
  run(pe, &options);
  return ph_task_end(pe) == PH_OK ? 0 : 1;
}
