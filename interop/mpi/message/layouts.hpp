// Layouts of the program's datatypes by handles that need no MPI, for landings.
//
//   a handle:  none -- create() --> there -- free() --> none
//
// Invariant: what find() has given stays as long as somebody has it, whatever becomes of the
// handle. Owner: the server of active messages. Threads: any.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "interop/mpi/photon_mpi.h"
#include "interop/mpi/type/layout.hpp"

// The program has its address.
struct MPIX_Am_described {};

namespace photon::mpi {

class Layouts {
 public:
  MPIX_Am_layout create(const Layout& layout) noexcept;  // null: there is no memory
  bool free(MPIX_Am_layout handle) noexcept;             // false: there is no such handle
  std::shared_ptr<const Layout> find(MPIX_Am_layout handle) noexcept;

 private:
  struct Kept : MPIX_Am_described {
    explicit Kept(const Layout& described) : layout(std::make_shared<const Layout>(described)) {}
    std::shared_ptr<const Layout> layout;
  };
  std::mutex mutex_;
  std::map<MPIX_Am_layout, std::unique_ptr<Kept>> all_;
};

}  // namespace photon::mpi
