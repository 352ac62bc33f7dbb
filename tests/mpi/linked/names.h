/*
 * Included before a program of tests/mpi/programs by the compiler: its one-sided calls become those
 * of libphoton_mpi, as a user would write them, and what begins MPI begins Photon as well.
 * Owner: the program. Threads: as the program's.
 */
#pragma once

#include <mpi.h>
#include <photon/photon_mpi.h>

__attribute__((unused)) static int linked_init(int* argc, char*** argv) {
  const int result = MPI_Init(argc, argv);
  return result == MPI_SUCCESS ? MPIX_Init() : result;
}
__attribute__((unused)) static int linked_init_thread(int* argc, char*** argv, int required,
                                                      int* provided) {
  const int result = MPI_Init_thread(argc, argv, required, provided);
  return result == MPI_SUCCESS ? MPIX_Init() : result;
}

#define MPI_Init                linked_init
#define MPI_Init_thread         linked_init_thread
#define MPI_Alloc_mem           MPIX_Alloc_mem
#define MPI_Free_mem            MPIX_Free_mem
#define MPI_Win_create          MPIX_Win_create
#define MPI_Win_allocate        MPIX_Win_allocate
#define MPI_Win_free            MPIX_Win_free
#define MPI_Win_get_attr        MPIX_Win_get_attr
#define MPI_Win_get_info        MPIX_Win_get_info
#define MPI_Win_shared_query    MPIX_Win_shared_query
#define MPI_Win_fence           MPIX_Win_fence
#define MPI_Win_post            MPIX_Win_post
#define MPI_Win_start           MPIX_Win_start
#define MPI_Win_complete        MPIX_Win_complete
#define MPI_Win_wait            MPIX_Win_wait
#define MPI_Win_test            MPIX_Win_test
#define MPI_Win_lock            MPIX_Win_lock
#define MPI_Win_unlock          MPIX_Win_unlock
#define MPI_Win_lock_all        MPIX_Win_lock_all
#define MPI_Win_unlock_all      MPIX_Win_unlock_all
#define MPI_Win_flush           MPIX_Win_flush
#define MPI_Win_flush_local     MPIX_Win_flush_local
#define MPI_Win_flush_all       MPIX_Win_flush_all
#define MPI_Win_flush_local_all MPIX_Win_flush_local_all
#define MPI_Win_sync            MPIX_Win_sync
#define MPI_Put                 MPIX_Put
#define MPI_Get                 MPIX_Get
#define MPI_Accumulate          MPIX_Accumulate
#define MPI_Get_accumulate      MPIX_Get_accumulate
#define MPI_Fetch_and_op        MPIX_Fetch_and_op
#define MPI_Compare_and_swap    MPIX_Compare_and_swap
#define MPI_Rput                MPIX_Rput
#define MPI_Rget                MPIX_Rget
#define MPI_Raccumulate         MPIX_Raccumulate
#define MPI_Rget_accumulate     MPIX_Rget_accumulate
#define MPI_Win_create_c        MPIX_Win_create_c
#define MPI_Win_allocate_c      MPIX_Win_allocate_c
#define MPI_Win_shared_query_c  MPIX_Win_shared_query_c
#define MPI_Put_c               MPIX_Put_c
#define MPI_Get_c               MPIX_Get_c
#define MPI_Accumulate_c        MPIX_Accumulate_c
#define MPI_Get_accumulate_c    MPIX_Get_accumulate_c
#define MPI_Rput_c              MPIX_Rput_c
#define MPI_Rget_c              MPIX_Rget_c
#define MPI_Raccumulate_c       MPIX_Raccumulate_c
#define MPI_Rget_accumulate_c   MPIX_Rget_accumulate_c
