// The calls that begin the library, and those that make, describe and free windows.
#include <algorithm>
#include <climits>
#include <optional>

#include "interop/mpi/call/report.hpp"
#include "interop/mpi/call/wrapped.hpp"
#include "interop/mpi/window/windows.hpp"

using photon::mpi::Holding;
using photon::mpi::Job;
using photon::mpi::next;
using photon::mpi::Outcome;
using photon::mpi::real;
using photon::mpi::report;
using photon::mpi::Window;
using photon::mpi::Windows;
using photon::mpi::Wish;

namespace photon::mpi {

namespace {

constexpr const char* kAsync = "photon_async";

// None: MPI has to make it. What MPI would refuse is left to MPI, whose words fit the call.
std::optional<int> make(const Wish& wish, void* base, MPI_Win* win) noexcept {
  Job* const job = Job::current();
  if (job == nullptr || wish.unit <= 0 || wish.comm == MPI_COMM_NULL || win == nullptr)
    return std::nullopt;
  void* memory = nullptr;
  const std::optional<int> made = Windows::make(*job, wish, memory, *win);
  if (made == MPI_SUCCESS && wish.allocates) *static_cast<void**>(base) = memory;
  return made;
}

// The members whose memory this process reaches by itself.
Outcome query(Window& window, int rank, std::uint64_t& size, std::uint64_t& unit, void** base) {
  std::uint32_t member = static_cast<std::uint32_t>(rank);
  if (rank == MPI_PROC_NULL) {  // the first that has memory
    for (member = 0; member < window.size(); ++member)
      if (window.target(member).base != nullptr && window.target(member).size_bytes != 0) break;
    if (member == window.size()) {
      size = 0;
      unit = 1;
      *base = nullptr;
      return {};
    }
  } else if (const Outcome outcome = check_member(window, rank); !outcome.is_good()) {
    return outcome;
  }
  // This process reaches no memory of another host.
  const Target& target = window.target(member);
  size = target.base == nullptr ? 0 : target.size_bytes;
  unit = target.unit;
  *base = target.base;
  return {};
}

// This is what MPI_Win_get_attr() gives; null says that the real window knows it.
const void* attribute_of(const Holding& holding, int keyval) noexcept {
  if (keyval == MPI_WIN_BASE) return holding.base;
  if (keyval == MPI_WIN_SIZE) return &holding.size_bytes;
  if (keyval == MPI_WIN_DISP_UNIT) return &holding.unit;
  if (keyval == MPI_WIN_CREATE_FLAVOR) return &holding.flavour;
  return nullptr;
}

bool is_allocated(const Holding* holding) noexcept {
  return holding != nullptr && holding->flavour == MPI_WIN_FLAVOR_ALLOCATE;
}

}  // namespace

}  // namespace photon::mpi

int photon_MPI_Init(int* argc, char*** argv) {
  const int result = next().Init(argc, argv);
  if (result == MPI_SUCCESS) Job::begin();
  return result;
}

int photon_MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = next().Init_thread(argc, argv, required, provided);
  if (result == MPI_SUCCESS) Job::begin();
  return result;
}

int photon_MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* base) {
  Job* const job = Job::current();
  if (job != nullptr && size > 0 && base != nullptr)
    if (void* const memory = job->allocate(static_cast<std::size_t>(size)); memory != nullptr) {
      *static_cast<void**>(base) = memory;
      return MPI_SUCCESS;
    }
  return next().Alloc_mem(size, info, base);
}

int photon_MPI_Free_mem(void* base) {
  Job* const job = Job::current();
  if (job != nullptr && base != nullptr && job->free(base)) return MPI_SUCCESS;
  return next().Free_mem(base);
}

int photon_MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                          MPI_Win* win) {
  Wish wish{base, static_cast<std::uint64_t>(size), unit, info, comm, false};
  const std::optional<int> made = size < 0 ? std::nullopt : photon::mpi::make(wish, nullptr, win);
  return made.has_value() ? *made : next().Win_create(base, size, unit, info, comm, win);
}

int photon_MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                            MPI_Win* win) {
  Wish wish{nullptr, static_cast<std::uint64_t>(size), unit, info, comm, true};
  const std::optional<int> made = size < 0 ? std::nullopt : photon::mpi::make(wish, base, win);
  return made.has_value() ? *made : next().Win_allocate(size, unit, info, comm, base, win);
}

int photon_MPI_Win_free(MPI_Win* win) {
  Holding* const holding = win == nullptr ? nullptr : Windows::holding(*win);
  if (holding == nullptr) return next().Win_free(win);
  const Outcome outcome = holding->window->end();
  return outcome.is_good() ? Windows::free(*holding, win) : report(*win, outcome);
}

int photon_MPI_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag) {
  Holding* const holding = Windows::holding(win);
  const void* const own =
      holding == nullptr ? nullptr : photon::mpi::attribute_of(*holding, keyval);
  if (own == nullptr) return next().Win_get_attr(win, keyval, value, flag);
  *static_cast<const void**>(value) = own;
  *flag = 1;
  return MPI_SUCCESS;
}

int photon_MPI_Win_get_info(MPI_Win win, MPI_Info* info) {
  const int result = next().Win_get_info(win, info);
  if (result != MPI_SUCCESS || Job::current() == nullptr) return result;
  return real().Info_set(*info, photon::mpi::kAsync,
                         Windows::find(win) != nullptr ? "true" : "false");
}

int photon_MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* unit, void* base) {
  Holding* const holding = Windows::holding(win);
  if (!photon::mpi::is_allocated(holding))
    return next().Win_shared_query(win, rank, size, unit, base);
  std::uint64_t bytes = 0;
  std::uint64_t scale = 1;
  const Outcome outcome =
      photon::mpi::query(*holding->window, rank, bytes, scale, static_cast<void**>(base));
  if (!outcome.is_good()) return report(win, outcome);
  *size = static_cast<MPI_Aint>(bytes);
  *unit = static_cast<int>(scale);
  return MPI_SUCCESS;
}

#if MPI_VERSION >= 4

namespace photon::mpi {

namespace {

// A window with a unit of more than an int is left to MPI, by all members together.
void fit(Wish& wish, MPI_Aint unit) noexcept {
  wish.fits = unit <= INT_MAX;
  if (wish.fits) wish.unit = static_cast<int>(std::max<MPI_Aint>(unit, 0));
}

}  // namespace

}  // namespace photon::mpi

int photon_MPI_Win_create_c(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                            MPI_Win* win) {
  Wish wish{base, static_cast<std::uint64_t>(size), 1, info, comm, false};
  photon::mpi::fit(wish, unit);
  const std::optional<int> made = size < 0 ? std::nullopt : photon::mpi::make(wish, nullptr, win);
  return made.has_value() ? *made : next().Win_create_c(base, size, unit, info, comm, win);
}

int photon_MPI_Win_allocate_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                              void* base, MPI_Win* win) {
  Wish wish{nullptr, static_cast<std::uint64_t>(size), 1, info, comm, true};
  photon::mpi::fit(wish, unit);
  const std::optional<int> made = size < 0 ? std::nullopt : photon::mpi::make(wish, base, win);
  return made.has_value() ? *made : next().Win_allocate_c(size, unit, info, comm, base, win);
}

int photon_MPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* unit,
                                  void* base) {
  Holding* const holding = Windows::holding(win);
  if (!photon::mpi::is_allocated(holding))
    return next().Win_shared_query_c(win, rank, size, unit, base);
  std::uint64_t bytes = 0;
  std::uint64_t scale = 1;
  const Outcome outcome =
      photon::mpi::query(*holding->window, rank, bytes, scale, static_cast<void**>(base));
  if (!outcome.is_good()) return report(win, outcome);
  *size = static_cast<MPI_Aint>(bytes);
  *unit = static_cast<MPI_Aint>(scale);
  return MPI_SUCCESS;
}

#endif
