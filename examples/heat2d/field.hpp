// A field of temperatures, row by row.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace heat2d {

struct Extent {
  std::size_t width = 0;
  std::size_t height = 0;

  [[nodiscard]] std::size_t cells_count() const { return width * height; }
};

struct Field {
  Extent extent;
  std::vector<double> cells;  // extent.cells_count() temperatures, usually 0 .. 1
};

// What is heated when the user gives no picture: a photon as Feynman draws it, a wavy line that
// ends in a bright spot.
Field photon_field(std::size_t size);

// The largest difference between two fields of one extent; infinity if any value is no number.
double max_difference(std::span<const double> a, std::span<const double> b);

}  // namespace heat2d
