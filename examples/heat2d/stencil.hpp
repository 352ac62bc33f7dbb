// One explicit step of the heat equation: each cell moves towards its four neighbours' mean. The
// rim is insulated: a neighbour outside the field is as warm as the cell itself.
#pragma once

#include <cstddef>

#include "field.hpp"

namespace heat2d {

// The three rows that the next row depends on; at the rim `above` or `below` is `row` itself.
struct Neighbourhood {
  const double* above;
  const double* row;
  const double* below;
};

// The serial and the parallel solution both go through this one function, cell by cell in the same
// arithmetic: they agree bit for bit.
void advance_row(double* next, Neighbourhood now, std::size_t width);

// The whole solution on one rank.
Field solve_serially(Field field, std::size_t steps_count);

}  // namespace heat2d
