// The calls that begin and end epochs.
#include <new>
#include <vector>

#include "interop/mpi/call/report.hpp"
#include "interop/mpi/call/wrapped.hpp"
#include "interop/mpi/window/windows.hpp"

using photon::mpi::check_member;
using photon::mpi::next;
using photon::mpi::Outcome;
using photon::mpi::real;
using photon::mpi::report;
using photon::mpi::Window;
using photon::mpi::Windows;

namespace photon::mpi {

namespace {

constexpr int kAsserts =
    MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;

constexpr Outcome check_asserts(int asserts) noexcept {
  if ((asserts & ~kAsserts) == 0) return {};
  return {MPI_ERR_ASSERT, "bits in an assertion that MPI does not define"};
}

// The ranks of a group in the group of a window.
Outcome members_of(MPI_Group group, MPI_Win win, std::vector<std::uint32_t>& members) {
  const Outcome wrong{MPI_ERR_GROUP, "a group with ranks that are no members of the window"};
  const Real& mpi = real();
  if (group == MPI_GROUP_NULL) return {MPI_ERR_GROUP, "a null group"};
  MPI_Group all = MPI_GROUP_NULL;
  int size = 0;
  if (mpi.Group_size(group, &size) != MPI_SUCCESS || mpi.Win_get_group(win, &all) != MPI_SUCCESS)
    return wrong;
  const auto count = static_cast<std::size_t>(size);
  std::vector<int> ranks(count);
  std::vector<int> theirs(count, MPI_UNDEFINED);
  for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
  const int result = size == 0
                         ? MPI_SUCCESS
                         : mpi.Group_translate_ranks(group, size, ranks.data(), all, theirs.data());
  mpi.Group_free(&all);
  if (result != MPI_SUCCESS) return wrong;
  for (const int rank : theirs) {
    if (rank == MPI_UNDEFINED) return wrong;
    members.push_back(static_cast<std::uint32_t>(rank));
  }
  return {};
}

using Begin = Outcome (Window::*)(const std::vector<std::uint32_t>&) noexcept;

int begin(Window& window, MPI_Win win, MPI_Group group, int asserts, Begin call) noexcept {
  try {
    std::vector<std::uint32_t> members;
    Outcome outcome = check_asserts(asserts);
    if (outcome.is_good()) outcome = members_of(group, win, members);
    if (outcome.is_good()) outcome = (window.*call)(members);
    return report(win, outcome);
  } catch (const std::bad_alloc&) {
    return report(win, {MPI_ERR_NO_MEM, "no memory for a group"});
  }
}

// A call that names one target.
template <class Call>
int at_member(Window& window, MPI_Win win, int rank, Call call) noexcept {
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  const Outcome outcome = check_member(window, rank);
  return report(win, outcome.is_good() ? call() : outcome);
}

int flush(int rank, Window& window, MPI_Win win) noexcept {
  return at_member(window, win, rank, [&] { return window.flush(rank); });
}

}  // namespace

}  // namespace photon::mpi

int photon_MPI_Win_fence(int asserts, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr) return next().Win_fence(asserts, win);
  const Outcome outcome = photon::mpi::check_asserts(asserts);
  return report(win, outcome.is_good() ? window->fence(asserts) : outcome);
}

int photon_MPI_Win_post(MPI_Group group, int asserts, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr) return next().Win_post(group, asserts, win);
  return photon::mpi::begin(*window, win, group, asserts, &Window::post);
}

int photon_MPI_Win_start(MPI_Group group, int asserts, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr) return next().Win_start(group, asserts, win);
  return photon::mpi::begin(*window, win, group, asserts, &Window::start);
}

int photon_MPI_Win_complete(MPI_Win win) {
  Window* const window = Windows::find(win);
  return window == nullptr ? next().Win_complete(win) : report(win, window->complete());
}

int photon_MPI_Win_wait(MPI_Win win) {
  Window* const window = Windows::find(win);
  return window == nullptr ? next().Win_wait(win) : report(win, window->wait());
}

int photon_MPI_Win_test(MPI_Win win, int* flag) {
  Window* const window = Windows::find(win);
  if (window == nullptr) return next().Win_test(win, flag);
  bool is_over = false;
  const Outcome outcome = window->test(is_over);
  *flag = is_over ? 1 : 0;
  return report(win, outcome);
}

int photon_MPI_Win_lock(int type, int rank, int asserts, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr) return next().Win_lock(type, rank, asserts, win);
  if (type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED)
    return report(win, {MPI_ERR_LOCKTYPE, "a lock that is neither exclusive nor shared"});
  const Outcome outcome = photon::mpi::check_asserts(asserts);
  if (!outcome.is_good()) return report(win, outcome);
  return photon::mpi::at_member(*window, win, rank,
                                [&] { return window->lock(type, rank, asserts); });
}

int photon_MPI_Win_unlock(int rank, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr) return next().Win_unlock(rank, win);
  return photon::mpi::at_member(*window, win, rank, [&] { return window->unlock(rank); });
}

int photon_MPI_Win_lock_all(int asserts, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr) return next().Win_lock_all(asserts, win);
  const Outcome outcome = photon::mpi::check_asserts(asserts);
  return report(win, outcome.is_good() ? window->lock_all(asserts) : outcome);
}

int photon_MPI_Win_unlock_all(MPI_Win win) {
  Window* const window = Windows::find(win);
  return window == nullptr ? next().Win_unlock_all(win) : report(win, window->unlock_all());
}

int photon_MPI_Win_flush(int rank, MPI_Win win) {
  Window* const window = Windows::find(win);
  return window == nullptr ? next().Win_flush(rank, win) : photon::mpi::flush(rank, *window, win);
}

int photon_MPI_Win_flush_local(int rank, MPI_Win win) {
  Window* const window = Windows::find(win);
  return window == nullptr ? next().Win_flush_local(rank, win)
                           : photon::mpi::flush(rank, *window, win);
}

int photon_MPI_Win_flush_all(MPI_Win win) {
  Window* const window = Windows::find(win);
  return window == nullptr ? next().Win_flush_all(win) : report(win, window->flush_all());
}

int photon_MPI_Win_flush_local_all(MPI_Win win) {
  Window* const window = Windows::find(win);
  return window == nullptr ? next().Win_flush_local_all(win) : report(win, window->flush_all());
}

int photon_MPI_Win_sync(MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr) return next().Win_sync(win);
  photon::mpi::Policy::full_fence();
  return MPI_SUCCESS;
}
