// A layout says where the bytes of a datatype lie, and of what basic type they are.
//
// Data alone is counted in `size_bytes` and stands in `runs`; the holes of a pair are no data. An
// element of a pair, as accumulates see it, is C's struct: `element_extent` bytes from the offset
// of its first member on, of which `element_bytes` are data.
//
//   MPI_DOUBLE_INT:  runs {0, 12}; size 12; extent 16; element_bytes 12; element_extent 16
//   MPI_SHORT_INT:   runs {0, 2} {4, 4}; size 6; extent 8; element_bytes 6; element_extent 8
//
// Invariants: no run is empty, and no run begins where the one before it ends. Runs may overlap and
// descend. The sum of their bytes is `size_bytes`.
// Owner: Types. Threads: any; a layout does not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "interop/mpi/fold/element.hpp"

namespace photon::mpi {

// So many bytes of a type, from an offset on that may be negative.
struct Run {
  std::int64_t offset;
  std::size_t bytes;
};

struct Layout {
  Basic basic = Basic::none;      // of all its elements; none: of several, or none that we know
  bool is_contiguous = false;     // any number of them are one run that begins at `first`, in order
  std::size_t element_bytes = 0;  // of the data of one element of `basic`; 0 for none
  std::size_t element_extent = 0;  // of its memory; more than its data where a pair has holes
  std::size_t size_bytes = 0;      // of its data
  std::int64_t extent = 0;         // from one element of a buffer to the next; may be negative
  std::int64_t first = 0;          // the lowest offset that has data (the true lower bound)
  std::int64_t true_extent = 0;    // from there to behind the highest
  std::vector<Run> runs;  // in the order of the type map, neighbours joined; of one element
};

}  // namespace photon::mpi
