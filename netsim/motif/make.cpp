// The checks of a motif's settings, and the motif of a name.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

#include "netsim/motif/halo.hpp"
#include "netsim/motif/played.hpp"
#include "netsim/motif/steps.hpp"
#include "netsim/motif/sweep3d.hpp"
#include "netsim/motif/uniform.hpp"

namespace photon::netsim {
namespace {

using Grid = std::vector<std::uint32_t>;
using Made = Result<std::unique_ptr<Motif>>;

constexpr std::uint64_t kMostRanks = std::uint64_t{1} << 24;
constexpr std::uint64_t kMostCounts = std::uint64_t{1} << 32;

Error bad(std::string_view key, const std::string& value, const std::string& allowed) {
  return {std::string(key) + " = " + value + ": allowed is " + allowed};
}

Error bad(std::string_view key, std::uint32_t value, const std::string& allowed) {
  return bad(key, std::to_string(value), allowed);
}

Error bad(std::string_view key, double value, const std::string& allowed) {
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
  return bad(key, std::string(text, end), allowed);
}

// Sizes of a grid as 4x4x4, at most three; empty if it is none.
Grid grid_of(std::string_view text) {
  Grid sizes;
  std::uint64_t all = 1;
  while (sizes.size() < 3) {
    const std::size_t end = text.find('x');
    const std::string_view part = text.substr(0, end);
    std::uint32_t size = 0;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), size);
    if (error != std::errc{} || rest != part.data() + part.size()) return {};
    sizes.push_back(size);
    all *= size;
    if (all == 0 || all > kMostRanks) return {};
    if (end == std::string_view::npos) return sizes;
    text.remove_prefix(end + 1);
  }
  return {};
}

Made make_steps(const MotifSettings& settings, const Grid& grid) {
  std::uint64_t ranks = 1;
  for (const std::uint32_t size : grid) ranks *= size;
  if (settings.steps >= 1U << 16 || ranks * settings.steps > kMostCounts) {
    return bad("run.iterations", settings.steps,
               "1 to 2^16 - 1, and ranks x iterations up to 2^32");
  }
  if (settings.bytes == 0) return bad("motif.bytes", 0U, "1 B and more");
  if (settings.name == "incast" && settings.target >= ranks) {
    return bad("motif.target", settings.target, "0 to " + std::to_string(ranks - 1));
  }
  if (settings.name == "pair" && ranks != 2) {
    return bad("motif.ranks", settings.ranks, "2 for pair");
  }
  return Made(
      std::make_unique<Steps>(make_pattern(settings, grid), settings.steps, settings.bytes));
}

// The text of a file.
Result<std::string> text_of(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 31;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return bad("motif.file", path, "a file that can be read");
  std::string text;
  std::array<char, 65536> part;
  ssize_t count = 0;
  do {
    count = read(file, part.data(), part.size());
    if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
  } while (count > 0 && text.size() <= kMostBytes);
  close(file);
  if (count < 0) return bad("motif.file", path, "a file that can be read");
  if (text.size() > kMostBytes) return bad("motif.file", path, "a file of up to 2 GiB");
  return text;
}

// The bytes of a message of so many values; 0: they overflow 2^32.
std::uint32_t bytes_of(std::initializer_list<std::uint32_t> counts) {
  std::uint64_t bytes = 8;
  for (const std::uint32_t count : counts) {
    bytes *= count;
    if (bytes >= kMostCounts) return 0;
  }
  return static_cast<std::uint32_t>(bytes);
}

// What is wrong with the cells of a rank and their compute time, or nothing.
std::string wrong_with_cells(const MotifSettings& s) {
  if (s.nx == 0) return bad("motif.nx", 0U, "1 and more").what;
  if (s.ny == 0) return bad("motif.ny", 0U, "1 and more").what;
  if (s.nz == 0) return bad("motif.nz", 0U, "1 and more").what;
  if (!(s.compute_ns >= 0 && s.compute_ns <= 1e9)) {
    return bad("motif.compute_ns", s.compute_ns, "0 to 10^9, or -1 for the motif's own").what;
  }
  return {};
}

// Whether so much compute in a row overflows no time; the rest is for the messages.
bool fits_time(double ns, double times) { return ns * times <= 4e15; }

Made make_sweep(const MotifSettings& s, const Grid& grid) {
  if (grid.size() != 2) {
    return bad("motif.ranks", s.ranks, "a grid of two numbers for sweep3d, as 8x8");
  }
  if (std::string wrong = wrong_with_cells(s); !wrong.empty()) return Error{wrong};
  if (s.kba == 0 || s.nz % s.kba != 0) {
    return bad("motif.kba", s.kba, "a divisor of motif.nz = " + std::to_string(s.nz));
  }
  Sweep3D::Shape shape{grid[0], grid[1], s.nz / s.kba, s.steps};
  if (shape.blocks > Sweep3D::kMostBlocks) {
    return bad("motif.kba", s.kba, "so many planes that a sweep has up to 4096 blocks");
  }
  if (std::uint64_t{s.steps} * 8 * shape.blocks >= kMostCounts) {
    return bad("run.iterations", s.steps, "so many that a rank has less than 2^32 blocks");
  }
  shape.x_bytes = bytes_of({s.ny, s.kba, s.fields});
  shape.y_bytes = bytes_of({s.nx, s.kba, s.fields});
  const std::string allowed = "so many that a message has less than 2^32 B";
  if (shape.x_bytes == 0) return bad("motif.ny", s.ny, allowed);
  if (shape.y_bytes == 0) return bad("motif.nx", s.nx, allowed);
  const double block_ns = s.compute_ns * s.kba * s.fields;
  // A sweep is over after its blocks and the way through the grid.
  const double in_a_row = static_cast<double>(shape.blocks) + shape.px + shape.py;
  if (!fits_time(block_ns, 8.0 * s.steps * in_a_row)) {
    return bad("motif.compute_ns", s.compute_ns, "so much that a run computes up to 4 x 10^15 ns");
  }
  shape.compute = time_of_ns(block_ns);
  return Made(std::make_unique<Sweep3D>(shape));
}

Made make_halo(const MotifSettings& s, const Grid& grid) {
  if (grid.size() != 3) {
    return bad("motif.ranks", s.ranks, "a grid of three numbers for " + s.name + ", as 4x4x4");
  }
  if (std::string wrong = wrong_with_cells(s); !wrong.empty()) return Error{wrong};
  const std::string allowed = "so many that a message has less than 2^32 B";
  if (bytes_of({s.nx, s.ny, s.fields}) == 0) return bad("motif.nx", s.nx, allowed);
  if (bytes_of({s.ny, s.nz, s.fields}) == 0) return bad("motif.ny", s.ny, allowed);
  if (bytes_of({s.nx, s.nz, s.fields}) == 0) return bad("motif.nz", s.nz, allowed);
  if (!fits_time(s.compute_ns, s.steps)) {
    return bad("motif.compute_ns", s.compute_ns, "so much that a run computes up to 4 x 10^15 ns");
  }
  Halo3D::Shape shape{grid[0], grid[1], grid[2], s.name == "halo3d26", s.steps};
  shape.nx = s.nx;
  shape.ny = s.ny;
  shape.nz = s.nz;
  shape.cell_bytes = bytes_of({s.fields});
  shape.compute = time_of_ns(s.compute_ns);
  shape.reduces = s.reduce;
  return Made(std::make_unique<Halo3D>(shape));
}

Made make_uniform(const MotifSettings& s, const Grid& grid) {
  Uniform::Load load;
  load.ranks = 1;
  for (const std::uint32_t size : grid) load.ranks *= size;
  if (load.ranks < 2) return bad("motif.ranks", s.ranks, "2 ranks and more for uniform");
  if (s.steps != 1) return bad("run.iterations", s.steps, "1 for uniform");
  if (s.bytes == 0) return bad("motif.bytes", 0U, "1 B and more");
  if (!(s.load >= 1e-6 && s.load <= 10)) return bad("motif.load", s.load, "0.000001 to 10");
  if (!(s.warmup_us >= 0 && s.warmup_us <= 1e9)) {
    return bad("motif.warmup_us", s.warmup_us, "0 to 10^9");
  }
  if (!(s.measure_us > 0 && s.measure_us <= 1e9)) {
    return bad("motif.measure_us", s.measure_us, "more than 0, up to 10^9");
  }
  load.bytes = s.bytes;
  load.mean_gap_ps = s.bytes * 1000.0 / (s.load * s.link_GBps);
  if (load.mean_gap_ps > 1e15) {
    return bad("motif.load", s.load, "so much that a mean gap is up to 10^12 ns");
  }
  // Gaps are whole picoseconds: below this the load would be another one.
  if (load.mean_gap_ps < 10) {
    return bad("motif.load", s.load, "so little that a mean gap is 10 ps and more");
  }
  load.warmup = time_of_ns(s.warmup_us * 1000);
  load.measured = time_of_ns(s.measure_us * 1000);
  load.seed = s.seed;
  return Made(std::make_unique<Uniform>(load));
}

// A schedule names its number of ranks itself.
Made make_schedule(const MotifSettings& s) {
  if (s.steps != 1) return bad("run.iterations", s.steps, "1 for schedule");
  const auto text = text_of(s.file);
  if (!text) return Error{text.error()};
  auto schedule = read_schedule(*text);
  if (!schedule) return Error{"motif.file = " + s.file + ": " + schedule.error()};
  return Made(std::make_unique<Played>(std::move(*schedule)));
}

}  // namespace

MotifSettings with_defaults(MotifSettings settings) {
  const bool is_sweep = settings.name == "sweep3d";
  if (settings.fields == 0) settings.fields = is_sweep ? 8 : 1;
  if (settings.compute_ns == -1) settings.compute_ns = is_sweep ? 140 : 0;
  return settings;
}

Result<std::unique_ptr<Motif>> make_motif(const MotifSettings& given) {
  const MotifSettings settings = with_defaults(given);
  if (settings.steps == 0) return bad("run.iterations", 0U, "1 and more");
  if (settings.name == "schedule") return make_schedule(settings);
  const Grid grid = grid_of(settings.ranks);
  if (grid.empty()) {
    return bad("motif.ranks", settings.ranks,
               "1 to 2^24 ranks as a number or a grid, as 64 or 4x4x4");
  }
  if (settings.name == "sweep3d") return make_sweep(settings, grid);
  if (settings.name == "halo3d" || settings.name == "halo3d26") return make_halo(settings, grid);
  if (settings.name == "uniform") return make_uniform(settings, grid);
  for (const char* name : {"pair", "exchange", "shift", "incast", "alltoall"}) {
    if (settings.name == name) return make_steps(settings, grid);
  }
  return bad("motif.name", settings.name,
             "exchange, shift, incast, alltoall, sweep3d, halo3d, halo3d26, uniform, schedule, and "
             "for 2 ranks pair");
}

}  // namespace photon::netsim
