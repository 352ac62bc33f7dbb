// A datatype that is freed with its scope.
// Owner: the test. Threads: one.
#pragma once

#include "interop/mpi/real/real.hpp"

namespace photon::mpi::test {

class Owned {
 public:
  // `make(handle address)` is a constructor of MPI's.
  template <class Make>
  explicit Owned(Make make) {
    make(&type_);
    MPI_Type_commit(&type_);
  }
  ~Owned() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator MPI_Datatype() const noexcept { return type_; }  // NOLINT: it stands for the handle

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

inline auto contiguous(int count, MPI_Datatype of) {
  return [=](MPI_Datatype* type) { MPI_Type_contiguous(count, of, type); };
}
inline auto vector(int count, int length, int stride, MPI_Datatype of) {
  return [=](MPI_Datatype* type) { MPI_Type_vector(count, length, stride, of, type); };
}
inline auto resized(MPI_Datatype of, MPI_Aint lower, MPI_Aint extent) {
  return [=](MPI_Datatype* type) { MPI_Type_create_resized(of, lower, extent, type); };
}

}  // namespace photon::mpi::test
