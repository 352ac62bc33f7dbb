// This library knows of a datatype where its bytes lie, and of what basic type they are.
//
// The layout of a predefined type stands in a table. That of another is worked out when it is first
// asked for, and kept on a keyval of the type, whose deletion takes it along.
//
//   a type: unknown -- find() --> known, or refused for good -- the type is freed --> unknown
//           unknown -- find(), no memory --> unknown
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "interop/mpi/real/real.hpp"
#include "interop/mpi/type/layout.hpp"
#include "interop/mpi/type/predefined.hpp"
#include "sync/policy.hpp"

namespace photon::mpi {

// Owner: the process. Threads: any, as MPI's level allows.
class Types {
 public:
  // Makes the keyval. Before: MPI has been initialized.
  Types();
  ~Types();  // before MPI_Finalize() returns, or never
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;

  // Good until the type is freed, which no caller does during a call. Null: MPI_DATATYPE_NULL, or
  // a type that MPI refuses to describe, or there is no memory.
  const Layout* find(MPI_Datatype type) noexcept;
  // The same of a type that has a name of MPI's, else null; no call of MPI is made.
  const Layout* find_named(MPI_Datatype type) const noexcept {
    const auto* const named = predefined_.find(type);
    return named == nullptr ? nullptr : named->layout;
  }
  // Why find() gave null, in words that follow the type's name and a colon. They stay.
  const char* refusal(MPI_Datatype type) noexcept;
  // It is one of MPI's own, of Fortran's by precision and range as well.
  bool is_predefined(MPI_Datatype type) const noexcept;
  // It counts those of derived types that have not been freed.
  std::size_t layouts_count() const noexcept;

 private:
  struct Kept;
  using Count = sync::HardwarePolicy::Atomic<std::size_t>;

  static int drop(MPI_Datatype type, int keyval, void* value, void* extra);
  const Kept* kept_by(MPI_Datatype type) const noexcept;
  const Kept* work_out(MPI_Datatype type) noexcept;

  const Predefined predefined_;
  const std::shared_ptr<Count> count_;  // what is kept may outlive this object
  std::mutex mutex_;                    // of whoever works out a layout
  int keyval_ = MPI_KEYVAL_INVALID;
};

// Op::none: it is one of the user's, or null.
Op op_of(MPI_Op op) noexcept;
// The name of C for a basic type, which may have several names. Basic::none: MPI_DATATYPE_NULL.
MPI_Datatype type_of(Basic basic) noexcept;

}  // namespace photon::mpi
