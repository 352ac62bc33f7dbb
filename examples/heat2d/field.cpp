#include "field.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace heat2d {
namespace {

// Temperature at (x, y) in the unit square.
double photon_at(double x, double y) {
  constexpr double kFirst = 0.12, kLast = 0.70;  // the line's ends
  constexpr double kWaves = 4.0, kAmplitude = 0.09, kThickness = 0.022;
  constexpr double kSpotX = 0.80, kSpotY = 0.5, kSpotRadius = 0.075;
  if (std::hypot(x - kSpotX, y - kSpotY) < kSpotRadius) return 1.0;
  if (x < kFirst || x > kLast) return 0.0;
  const double phase = 2 * std::numbers::pi * kWaves * (x - kFirst) / (kLast - kFirst);
  const double slope =
      kAmplitude * std::cos(phase) * 2 * std::numbers::pi * kWaves / (kLast - kFirst);
  // Divided by the slope's length, so that the line is equally thick everywhere.
  const double distance = std::abs(y - 0.5 - kAmplitude * std::sin(phase)) / std::hypot(1.0, slope);
  return distance < kThickness ? 0.8 : 0.0;
}

}  // namespace

Field photon_field(std::size_t size) {
  Field field{{size, size}, std::vector<double>(size * size)};
  const double scale = 1.0 / static_cast<double>(size);
  for (std::size_t row = 0; row < size; ++row)
    for (std::size_t column = 0; column < size; ++column)
      field.cells[row * size + column] = photon_at((static_cast<double>(column) + 0.5) * scale,
                                                   (static_cast<double>(row) + 0.5) * scale);
  return field;
}

double max_difference(std::span<const double> a, std::span<const double> b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace heat2d
