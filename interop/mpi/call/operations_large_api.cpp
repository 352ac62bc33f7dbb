// The operations with counts of MPI_Count.
#include "interop/mpi/real/real.hpp"

#if MPI_VERSION >= 4

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

using photon::mpi::reader;

using photon::mpi::accumulate;
using photon::mpi::check;
using photon::mpi::finish;
using photon::mpi::get;
using photon::mpi::put;

int photon_MPI_Put_c(const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint at,
                     MPI_Count target_count, MPI_Datatype target_type, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Put_c(origin, count, type, rank, at, target_count, target_type, win);
  const Outcome outcome = rank == MPI_PROC_NULL ? Outcome{}
                                                : put(*window, {reader(origin), count, type},
                                                      {rank, at, target_count, target_type});
  return report(win, outcome);
}

int photon_MPI_Get_c(void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint at,
                     MPI_Count target_count, MPI_Datatype target_type, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Get_c(origin, count, type, rank, at, target_count, target_type, win);
  const Outcome outcome = rank == MPI_PROC_NULL ? Outcome{}
                                                : get(*window, {origin, count, type},
                                                      {rank, at, target_count, target_type});
  return report(win, outcome);
}

int photon_MPI_Accumulate_c(const void* origin, MPI_Count count, MPI_Datatype type, int rank,
                            MPI_Aint at, MPI_Count target_count, MPI_Datatype target_type,
                            MPI_Op op, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Accumulate_c(origin, count, type, rank, at, target_count, target_type, op, win);
  const Outcome outcome = rank == MPI_PROC_NULL
                              ? Outcome{}
                              : accumulate(*window, {reader(origin), count, type}, nullptr,
                                           {rank, at, target_count, target_type}, op);
  return report(win, outcome);
}

int photon_MPI_Get_accumulate_c(const void* origin, MPI_Count count, MPI_Datatype type,
                                void* result, MPI_Count result_count, MPI_Datatype result_type,
                                int rank, MPI_Aint at, MPI_Count target_count,
                                MPI_Datatype target_type, MPI_Op op, MPI_Win win) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Get_accumulate_c(origin, count, type, result, result_count, result_type, rank, at,
                                   target_count, target_type, op, win);
  const Buffer back{result, result_count, result_type};
  const Outcome outcome = rank == MPI_PROC_NULL
                              ? Outcome{}
                              : accumulate(*window, {reader(origin), count, type}, &back,
                                           {rank, at, target_count, target_type}, op);
  return report(win, outcome);
}

int photon_MPI_Rput_c(const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint at,
                      MPI_Count target_count, MPI_Datatype target_type, MPI_Win win,
                      MPI_Request* request) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Rput_c(origin, count, type, rank, at, target_count, target_type, win, request);
  Outcome outcome = check(*window, rank);
  if (outcome.is_good() && rank != MPI_PROC_NULL)
    outcome = put(*window, {reader(origin), count, type}, {rank, at, target_count, target_type});
  return finish(*window, rank, win, outcome, request);
}

int photon_MPI_Rget_c(void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint at,
                      MPI_Count target_count, MPI_Datatype target_type, MPI_Win win,
                      MPI_Request* request) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Rget_c(origin, count, type, rank, at, target_count, target_type, win, request);
  Outcome outcome = check(*window, rank);
  if (outcome.is_good() && rank != MPI_PROC_NULL)
    outcome = get(*window, {origin, count, type}, {rank, at, target_count, target_type});
  return finish(*window, rank, win, outcome, request);
}

int photon_MPI_Raccumulate_c(const void* origin, MPI_Count count, MPI_Datatype type, int rank,
                             MPI_Aint at, MPI_Count target_count, MPI_Datatype target_type,
                             MPI_Op op, MPI_Win win, MPI_Request* request) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Raccumulate_c(origin, count, type, rank, at, target_count, target_type, op, win,
                                request);
  Outcome outcome = check(*window, rank);
  if (outcome.is_good() && rank != MPI_PROC_NULL)
    outcome = accumulate(*window, {reader(origin), count, type}, nullptr,
                         {rank, at, target_count, target_type}, op);
  return finish(*window, rank, win, outcome, request);
}

int photon_MPI_Rget_accumulate_c(const void* origin, MPI_Count count, MPI_Datatype type,
                                 void* result, MPI_Count result_count, MPI_Datatype result_type,
                                 int rank, MPI_Aint at, MPI_Count target_count,
                                 MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                 MPI_Request* request) {
  Window* const window = Windows::find(win);
  if (window == nullptr)
    return next().Rget_accumulate_c(origin, count, type, result, result_count, result_type, rank,
                                    at, target_count, target_type, op, win, request);
  const Buffer back{result, result_count, result_type};
  Outcome outcome = check(*window, rank);
  if (outcome.is_good() && rank != MPI_PROC_NULL)
    outcome = accumulate(*window, {reader(origin), count, type}, &back,
                         {rank, at, target_count, target_type}, op);
  return finish(*window, rank, win, outcome, request);
}

#endif
