#include "compat/exchange.hpp"

#include <photon/launch.h>

#include <climits>
#include <cstdio>
#include <cstdlib>

#include "compat/session.hpp"
#include "compat/warn.hpp"

namespace photon::classic {

namespace {

constexpr std::size_t kLineBytes = 256;  // of a line on stderr

using Callbacks = decltype(photon_config_t::exch);

int gather_externally(void* user, const void* mine, void* all, std::size_t size_bytes) {
  if (size_bytes > INT_MAX) return -1;
  // The classic signature has no const; its callbacks only read `mine`.
  return static_cast<const Callbacks*>(user)->allgather(nullptr, const_cast<void*>(mine), all,
                                                        static_cast<int>(size_bytes));
}

int meet_externally(void* user) { return static_cast<const Callbacks*>(user)->barrier(nullptr); }

int gather_by_mpi(void* user, const void* mine, void* all, std::size_t size_bytes) {
  return static_cast<const Mpi*>(user)->allgather(mine, all, size_bytes);
}

int meet_by_mpi(void* user) { return static_cast<const Mpi*>(user)->barrier(); }

// The variables that launchers of MPI set for their processes.
struct Started {
  const char* size;
  const char* rank;
};
constexpr Started kStarted[] = {{"PMI_SIZE", "PMI_RANK"},
                                {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}};

// A job of one rank without our launcher, although MPI's has started several. The first one says
// it.
void warn_of_solitude() noexcept {
  if (std::getenv(PH_LAUNCH_FD_VARIABLE) != nullptr) return;
  for (const Started& started : kStarted) {
    const char* const size = std::getenv(started.size);
    const char* const rank = std::getenv(started.rank);
    if (size == nullptr || std::atoi(size) < 2 || rank == nullptr || std::atoi(rank) != 0) continue;
    char words[kLineBytes];
    std::snprintf(words, sizeof words,
                  "each process is a job of one rank, though MPI's launcher has started several "
                  "(%s=%.9s): start it by photonrun, or ask for PHOTON_EXCH_MPI after MPI_Init()",
                  started.size, size);
    warn("photon_init", words);
    return;
  }
}

}  // namespace

bool Exchange::choose(const photon_config_t& config) {
  switch (config.meta_exch) {
    case PHOTON_EXCH_EXTERNAL: return choose_external(config);
    case PHOTON_EXCH_MPI: return choose_mpi();
    case PHOTON_EXCH_TCP:
    case PHOTON_EXCH_PMI:
    case PHOTON_EXCH_XSP: return true;
    default: break;
  }
  char words[kLineBytes];
  std::snprintf(words, sizeof words,
                "meta_exch is %d, which is no exchange: take PHOTON_EXCH_TCP (0) for the "
                "launcher's, PHOTON_EXCH_MPI or PHOTON_EXCH_EXTERNAL",
                config.meta_exch);
  warn("photon_init", words);
  return false;
}

bool Exchange::choose_mpi() {
  mpi_ = Mpi::find();
  if (mpi_ == nullptr) return false;
  const int rank = mpi_->rank();
  const int size = mpi_->size();
  if (rank < 0 || size < 1) {
    warn("photon_init", "MPI does not say who we are");
    return false;
  }
  bootstrap_ = {mpi_.get(), static_cast<ph_rank>(rank), static_cast<std::uint32_t>(size),
                &gather_by_mpi, &meet_by_mpi};
  given_ = true;
  return true;
}

bool Exchange::choose_external(const photon_config_t& config) {
  if (config.exch.allgather == nullptr || config.exch.barrier == nullptr) {
    warn("photon_init", "PHOTON_EXCH_EXTERNAL needs both exch.allgather and exch.barrier");
    return false;
  }
  if (config.nproc < 1 || config.address < 0 || config.address >= config.nproc) {
    warn("photon_init", "address is no rank of a job of nproc");
    return false;
  }
  callbacks_ = config.exch;
  bootstrap_ = {&callbacks_, static_cast<ph_rank>(config.address),
                static_cast<std::uint32_t>(config.nproc), &gather_externally, &meet_externally};
  given_ = true;
  return true;
}

void Exchange::warn_if_alone(const Session& session) const noexcept {
  if (!given_ && session.size() == 1) warn_of_solitude();
}

void Exchange::tell(const Session& session, photon_config_t& config) const noexcept {
  if (config.meta_exch == PHOTON_EXCH_EXTERNAL) return;
  config.address = static_cast<int>(session.rank());
  config.nproc = static_cast<int>(session.size());
}

}  // namespace photon::classic
