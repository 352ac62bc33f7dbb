// The operations, in the forms of MPI 3.
#include "interop/mpi/call/operation_ends.hpp"
#include "interop/mpi/call/wrapped.hpp"
#include "interop/mpi/window/operations.hpp"
#include "interop/mpi/window/windows.hpp"

using photon::mpi::Buffer;
using photon::mpi::next;
using photon::mpi::Outcome;
using photon::mpi::report;
using photon::mpi::Spot;
using photon::mpi::Window;
using photon::mpi::Windows;

namespace photon::mpi {

namespace {

// This tells whether an operation that fetches one element may be done with a type.
Outcome check_type(Window& window, MPI_Datatype type) noexcept {
  if (window.job().types().is_predefined(type)) [[likely]]
    return {};
  return {MPI_ERR_TYPE, "a derived type where one of MPI's own is needed"};
}

}  // namespace

}  // namespace photon::mpi

using photon::mpi::reader;

using photon::mpi::accumulate;
using photon::mpi::check;
using photon::mpi::check_type;
using photon::mpi::compare_and_swap;
using photon::mpi::finish;
using photon::mpi::get;
using photon::mpi::put;

int photon_MPI_Put(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                   int target_count, MPI_Datatype target_type, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Put(origin, count, type, rank, at, target_count, target_type, win);
  const Outcome outcome = rank == MPI_PROC_NULL ? Outcome{}
                                                : put(*window, {reader(origin), count, type},
                                                      {rank, at, target_count, target_type});
  return report(win, outcome);
}

int photon_MPI_Get(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                   int target_count, MPI_Datatype target_type, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Get(origin, count, type, rank, at, target_count, target_type, win);
  const Outcome outcome = rank == MPI_PROC_NULL ? Outcome{}
                                                : get(*window, {origin, count, type},
                                                      {rank, at, target_count, target_type});
  return report(win, outcome);
}

int photon_MPI_Accumulate(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                          int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Accumulate(origin, count, type, rank, at, target_count, target_type, op, win);
  const Outcome outcome = rank == MPI_PROC_NULL
                              ? Outcome{}
                              : accumulate(*window, {reader(origin), count, type}, nullptr,
                                           {rank, at, target_count, target_type}, op);
  return report(win, outcome);
}

int photon_MPI_Get_accumulate(const void* origin, int count, MPI_Datatype type, void* result,
                              int result_count, MPI_Datatype result_type, int rank, MPI_Aint at,
                              int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Get_accumulate(origin, count, type, result, result_count, result_type, rank, at,
                                 target_count, target_type, op, win);
  const Buffer back{result, result_count, result_type};
  const Outcome outcome = rank == MPI_PROC_NULL
                              ? Outcome{}
                              : accumulate(*window, {reader(origin), count, type}, &back,
                                           {rank, at, target_count, target_type}, op);
  return report(win, outcome);
}

int photon_MPI_Rput(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                    int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Rput(origin, count, type, rank, at, target_count, target_type, win, request);
  Outcome outcome = check(*window, rank);
  if (outcome.is_good() && rank != MPI_PROC_NULL)
    outcome = put(*window, {reader(origin), count, type}, {rank, at, target_count, target_type});
  return finish(*window, rank, win, outcome, request);
}

int photon_MPI_Rget(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                    int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request* request) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Rget(origin, count, type, rank, at, target_count, target_type, win, request);
  Outcome outcome = check(*window, rank);
  if (outcome.is_good() && rank != MPI_PROC_NULL)
    outcome = get(*window, {origin, count, type}, {rank, at, target_count, target_type});
  return finish(*window, rank, win, outcome, request);
}

int photon_MPI_Raccumulate(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at,
                           int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                           MPI_Request* request) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Raccumulate(origin, count, type, rank, at, target_count, target_type, op, win,
                              request);
  Outcome outcome = check(*window, rank);
  if (outcome.is_good() && rank != MPI_PROC_NULL)
    outcome = accumulate(*window, {reader(origin), count, type}, nullptr,
                         {rank, at, target_count, target_type}, op);
  return finish(*window, rank, win, outcome, request);
}

int photon_MPI_Rget_accumulate(const void* origin, int count, MPI_Datatype type, void* result,
                               int result_count, MPI_Datatype result_type, int rank, MPI_Aint at,
                               int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                               MPI_Request* request) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Rget_accumulate(origin, count, type, result, result_count, result_type, rank, at,
                                  target_count, target_type, op, win, request);
  const Buffer back{result, result_count, result_type};
  Outcome outcome = check(*window, rank);
  if (outcome.is_good() && rank != MPI_PROC_NULL)
    outcome = accumulate(*window, {reader(origin), count, type}, &back,
                         {rank, at, target_count, target_type}, op);
  return finish(*window, rank, win, outcome, request);
}

int photon_MPI_Fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank,
                            MPI_Aint at, MPI_Op op, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr) return next().Fetch_and_op(origin, result, type, rank, at, op, win);
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  Outcome outcome = check_type(*window, type);
  const Buffer back{result, 1, type};
  if (outcome.is_good())
    outcome = accumulate(*window, {reader(origin), 1, type}, &back, {rank, at, 1, type}, op);
  return report(win, outcome);
}

int photon_MPI_Compare_and_swap(const void* origin, const void* compare, void* result,
                                MPI_Datatype type, int rank, MPI_Aint at, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Compare_and_swap(origin, compare, result, type, rank, at, win);
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  Outcome outcome = check_type(*window, type);
  if (outcome.is_good())
    outcome = compare_and_swap(*window, origin, compare, result, {rank, at, 1, type});
  return report(win, outcome);
}
