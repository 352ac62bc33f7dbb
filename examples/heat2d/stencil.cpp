#include "stencil.hpp"

#include <utility>

namespace heat2d {
namespace {

constexpr double kDiffusion = 0.2;  // alpha * dt / dx^2; stable up to 0.25

double advance_cell(double self, double above, double below, double left, double right) {
  return self + kDiffusion * ((above + below) + (left + right) - 4 * self);
}

}  // namespace

void advance_row(double* next, Neighbourhood now, std::size_t width) {
  const double* const row = now.row;
  const std::size_t last = width - 1;
  next[0] = advance_cell(row[0], now.above[0], now.below[0], row[0], row[last == 0 ? 0 : 1]);
  for (std::size_t x = 1; x < last; ++x)
    next[x] = advance_cell(row[x], now.above[x], now.below[x], row[x - 1], row[x + 1]);
  if (last > 0)
    next[last] =
        advance_cell(row[last], now.above[last], now.below[last], row[last - 1], row[last]);
}

Field solve_serially(Field field, std::size_t steps_count) {
  const auto [width, height] = field.extent;
  std::vector<double> next(field.cells.size());
  for (std::size_t step = 0; step < steps_count; ++step) {
    for (std::size_t y = 0; y < height; ++y) {
      const double* const row = field.cells.data() + y * width;
      const double* const above = y == 0 ? row : row - width;
      const double* const below = y + 1 == height ? row : row + width;
      advance_row(next.data() + y * width, {above, row, below}, width);
    }
    std::swap(field.cells, next);
  }
  return field;
}

}  // namespace heat2d
