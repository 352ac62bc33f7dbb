// The heat equation on any number of ranks: photonrun -n 4 heat2d --help
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <numeric>
#include <string>

#include <photon/photon.hpp>

#include "field.hpp"
#include "png_io.hpp"
#include "progress_bar.hpp"
#include "solver.hpp"
#include "stencil.hpp"

namespace heat2d {
namespace {

constexpr double kTolerance = 1e-12;  // another compiler on rank 0 may round differently

struct Options {
  std::string input;
  std::string output = "heat2d.png";
  std::size_t steps_count = 500;
  std::size_t size = 512;
  bool check = true;
};

// What rank 0 tells the others: plain data.
struct Plan {
  bool ok = false;
  Extent extent;
  photon::Region whole;
};

struct Outcome {
  double parallel_s = 0;
  std::uint64_t halos_count = 0;  // sent by all ranks
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--input", options.input, "PNG whose brightness is the initial temperature");
  app.add_option("-o,--output", options.output, "PNG to write; '' for none")->capture_default_str();
  app.add_option("--steps", options.steps_count, "Time steps")
      ->capture_default_str()
      ->check(CLI::Range(0, 100'000'000));
  app.add_option("--size", options.size, "Edge length of the built-in field, without --input")
      ->capture_default_str()
      ->check(CLI::Range(1, 8192));
  app.add_flag("--check,!--no-check", options.check, "Compare with the serial solution");
}

Outcome solve(photon::Context& context, const Plan& plan, const Options& options) {
  Solver solver(context, plan.extent, plan.whole);
  solver.fetch();
  ProgressBar bar(options.steps_count, context.rank() == 0);
  const auto start = std::chrono::steady_clock::now();
  solver.run(options.steps_count, [&](std::size_t step) { bar.show(step); });
  const double parallel_s = seconds_since(start);
  solver.deliver();
  if (context.rank() == 0) solver.wait_for_all_bands();
  const auto counts = context.allgather(solver.halos_sent_count());
  return {parallel_s, std::accumulate(counts.begin(), counts.end(), std::uint64_t{0})};
}

// Rank 0, at the end: everything the user sees. False: the result is wrong.
bool report(const Field& initial, const Field& result, const Options& options,
            const Outcome& outcome) {
  const double updates = static_cast<double>(result.cells.size() * options.steps_count);
  fmt::print("  time     {:.3f} s, {:.0f} million cells a second\n", outcome.parallel_s,
             outcome.parallel_s > 0 ? updates / outcome.parallel_s / 1e6 : 0.0);
  fmt::print("  halos    {} messages of {} bytes, each a put with completion\n",
             outcome.halos_count, result.extent.width * sizeof(double));
  bool is_right = true;
  if (options.check) {
    const auto start = std::chrono::steady_clock::now();
    const Field serial = solve_serially(initial, options.steps_count);
    const double error = max_difference(serial.cells, result.cells);
    is_right = error <= kTolerance;
    fmt::print("  check    {}: largest difference to the serial solution ({:.3f} s) is {:.3g}\n",
               is_right ? "right" : "WRONG", seconds_since(start), error);
  }
  if (!options.output.empty()) {
    write_png(options.output, result);
    fmt::print("  picture  {}\n", options.output);
  }
  return is_right;
}

int lead(photon::Context& context, const Options& options) {
  Field initial;
  try {
    initial = options.input.empty() ? photon_field(options.size) : read_png(options.input);
    if (!options.output.empty()) require_writable(options.output);
  } catch (...) {
    (void)context.allgather(Plan{});  // the others wait for the plan
    throw;
  }
  auto whole = context.allocate<double>(initial.cells.size());
  std::copy(initial.cells.begin(), initial.cells.end(), whole.begin());
  const Plan plan = {true, initial.extent, whole.region()};
  (void)context.allgather(plan);
  fmt::print("heat2d: {} ranks, {} x {} cells, {} steps\n", context.size(), plan.extent.width,
             plan.extent.height, options.steps_count);
  std::fflush(stdout);
  const Outcome outcome = solve(context, plan, options);
  const Field result{plan.extent, {whole.begin(), whole.end()}};
  return report(initial, result, options, outcome) ? 0 : 1;
}

int follow(photon::Context& context, const Options& options) {
  const Plan plan = context.allgather(Plan{})[0];
  if (plan.ok) solve(context, plan, options);
  return 0;  // if not, rank 0 has said why and fails for all
}

int run(int argc, char** argv) {
  photon::Context context;
  Options options;
  CLI::App app{"The 2-D heat equation on N ranks: photonrun -n N heat2d"};
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Every rank reads the same mistake; one says so and fails for all.
    return context.rank() == 0 ? app.exit(error) : 0;
  }
  return context.rank() == 0 ? lead(context, options) : follow(context, options);
}

}  // namespace
}  // namespace heat2d

int main(int argc, char** argv) {
  try {
    return heat2d::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "heat2d: {}\n", error.what());
    return 1;
  }
}
