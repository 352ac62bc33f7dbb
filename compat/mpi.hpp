// The program's own MPI, found among what is loaded: there is no link dependency, and both ABIs are
// known. MPICH's handles are numbers; Open MPI's are the addresses of symbols.
// Owner: the exchange. Threads: those of photon_init() and of MPI's own rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace photon::classic {

class Mpi {
 public:
  // Null after having said on stderr why: no MPI is loaded, or MPI_Init() was not called.
  static std::unique_ptr<Mpi> find();

  Mpi() = default;
  virtual ~Mpi() = default;
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  // Of MPI_COMM_WORLD; negative if MPI fails.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // MPI_SUCCESS is 0.
  virtual int allgather(const void* mine, void* all, std::size_t size_bytes) const = 0;
  virtual int barrier() const = 0;
};

}  // namespace photon::classic
