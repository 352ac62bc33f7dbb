// How a datatype was made: the call, its numbers and its types.
//
// Invariants: the numbers are those of the constructor of C in its order, whatever the widths that
// MPI keeps them in (`count, blocklengths, displacements` of MPI_Type_indexed, hindexed or struct).
// Types that MPI hands out for good measure are freed with the contents.
// Owner: who describes a type. Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "interop/mpi/real/real.hpp"

namespace photon::mpi {

class Contents {
 public:
  // Throws Refused where MPI refuses.
  explicit Contents(MPI_Datatype type);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  int combiner() const noexcept { return combiner_; }
  // A predefined type, or one of Fortran's by precision and range: it has no contents, and is not
  // freed.
  bool is_named() const noexcept;
  const std::vector<std::int64_t>& numbers() const noexcept { return numbers_; }
  const std::vector<MPI_Datatype>& types() const noexcept { return types_; }

 private:
  void read(MPI_Datatype type);
  template <class Calls>
  bool read_large(const Calls& calls, MPI_Datatype type);
  void move_counts(std::size_t place, MPI_Count count);

  int combiner_ = MPI_COMBINER_NAMED;
  std::vector<std::int64_t> numbers_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace photon::mpi
