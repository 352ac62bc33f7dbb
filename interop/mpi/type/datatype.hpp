// What this library knows of a datatype: where its bytes lie, and of what basic type they are.
//
// The layout of a predefined type stands in a table. That of another is worked out when it is first
// asked for, and kept on a keyval of the type, whose deletion takes it along.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "interop/mpi/fold/element.hpp"
#include "interop/mpi/real/real.hpp"

namespace photon::mpi {

// So many bytes of a type, from an offset on that may be negative.
struct Run {
  std::int64_t offset;
  std::size_t bytes;
};

struct Layout {
  Basic basic = Basic::none;      // of all its elements; none: of several, or none that we know
  std::size_t size_bytes = 0;     // of its data
  std::int64_t extent = 0;        // from one element of a buffer to the next; may be negative
  std::int64_t first = 0;         // the lowest offset that has data (the true lower bound)
  std::int64_t true_extent = 0;   // from there to behind the highest
  bool is_contiguous = false;     // any number of them are one run that begins at `first`, in order
  std::vector<Run> runs;          // in the order of the type map, neighbours joined; of one element
};

// Owner: the process. Threads: any, as MPI's level allows.
class Types {
 public:
  // Makes the keyval. Null errors: MPI has been initialized.
  Types();
  ~Types();  // before MPI_Finalize() returns, or never
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;

  // Good until the type is freed, which no caller does during a call. Null: MPI_DATATYPE_NULL, or
  // a type that MPI refuses to describe, or there is no memory.
  const Layout* find(MPI_Datatype type) noexcept;

 private:
  int keyval_ = MPI_KEYVAL_INVALID;
};

// Op::none: it is one of the user's, or null.
Op op_of(MPI_Op op) noexcept;

}  // namespace photon::mpi
