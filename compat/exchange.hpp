// How the ranks of a classic job find each other.
//
//   EXTERNAL  the program's callbacks, with address and nproc of the configuration
//   MPI       the program's own MPI, found at run time (mpi.hpp)
//   others    the launcher's own exchange: no bootstrap; without a launcher a job of one rank
//
// Owner: the session: the callbacks are used as long as it runs.
#pragma once

#include <photon.h>
#include <photon/context.h>

#include <cstddef>
#include <memory>

#include "compat/mpi.hpp"

namespace photon::classic {

class Session;

class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;  // the bootstrap points into it
  Exchange& operator=(const Exchange&) = delete;

  // False after having said why on stderr.
  bool choose(const photon_config_t& config);

  // Null: the launcher's.
  const ph_bootstrap* bootstrap() const noexcept { return given_ ? &bootstrap_ : nullptr; }

  // On stderr, of a job of one rank that MPI's launcher has started with others.
  void warn_if_alone(const Session& session) const noexcept;
  // Who the program is, where it was not the program that said so: address and nproc.
  void tell(const Session& session, photon_config_t& config) const noexcept;

 private:
  bool choose_external(const photon_config_t& config);
  bool choose_mpi();

  decltype(photon_config_t::exch) callbacks_{};
  std::unique_ptr<Mpi> mpi_;
  bool given_ = false;
  ph_bootstrap bootstrap_{};
};

}  // namespace photon::classic
