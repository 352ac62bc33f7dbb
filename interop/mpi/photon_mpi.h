/**
 * One-sided MPI that progresses while the target computes, by calls of its own: for programs that
 * are linked with libphoton_mpi-<abi> instead of being started behind libphoton_pmpi-<abi>
 * (docs/mpi-windows.md).
 *
 * Each MPIX_Name takes the arguments of MPI_Name, gives what that gives, and does what the MPI
 * standard says of it. What differs stands below. On a window that is not Photon's each is
 * MPI_Name: windows with members on hosts that Photon cannot serve, those that were made by
 * MPI_Win_create_dynamic(), MPI_Win_allocate_shared() or MPI's own names, or before MPIX_Init().
 *
 *   MPI_Init(...);  MPIX_Init();  MPIX_Win_allocate(...) ... MPIX_Win_free(&win);  MPI_Finalize();
 *
 * - A window that MPIX_Win_allocate() or MPIX_Win_create() has made goes with the names of this
 *   header in all calls that they have. Operations and synchronisation by MPI's names would go
 *   past Photon: they would not meet the locks and epochs of the others. Calls that have no name
 *   here are MPI's, and are right for each window: MPI_Win_get_group(), MPI_Win_set_info(), names,
 *   error handlers, attributes of the program, MPI_Wait() and MPI_Test() for requests.
 * - Ownership: buffers are as with MPI. Photon keeps none of them beyond the call, so what an
 *   operation reads may change as soon as the epoch, the flush or the request allows it.
 * - Completion: as the standard has it. Operations on memory of the own host are done when their
 *   call returns; a program must not count on that.
 * - Errors: codes of MPI's, through the error handler of the window, or of the communicator where
 *   there is no window yet; texts of Photon's begin with "photon: ". MPI_ERR_RMA_SYNC: a call
 *   outside of its epoch, also where MPI lets it pass.
 * - Threads: as the level that MPI_Init_thread() has given. Photon makes no call of MPI on a thread
 *   of its own.
 * - Order: operations of the accumulate family of one origin to one target are done in the order of
 *   their calls; put and get have no order between two synchronisations.
 * - A process that is also started behind libphoton_pmpi-<abi> has one job of Photon: the preloaded
 *   library serves these names as well, and MPI's names are the same calls.
 */
#ifndef PHOTON_MPI_H
#define PHOTON_MPI_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Begins this rank's part of the job of Photon.
 * Effect:    windows that are made later can be Photon's. Collective over MPI_COMM_WORLD; behind
 *            MPI_Init() or MPI_Init_thread(). A call more does nothing, and neither does one in a
 *            process that was preloaded. There is no counterpart: MPI_Finalize() ends the job.
 * Ownership: Photon's memory, descriptors and threads are the library's until MPI_Finalize().
 * Errors:    MPI_ERR_OTHER: MPI has not begun or is over, or it is another MPI than that of the
 *            library, or some rank cannot take part (it says why on stderr). No error handler is
 *            called. The program may go on: each name is then MPI's own call.
 * Threads:   one, while no other is in a call of this header. Blocks until all ranks have called.
 */
int MPIX_Init(void);

/**
 * Memory that the ranks of a host map, so that windows over it are as fast as allocated ones.
 * Ownership: the caller's until MPIX_Free_mem(), which alone may free it: MPI_Free_mem() does not
 *            know it. MPIX_Free_mem() also takes memory of MPI_Alloc_mem(). What is not freed by
 *            MPI_Finalize() can be read and written until the process ends.
 * Errors:    as MPI_Alloc_mem(). Where Photon has no memory more, MPI is asked.
 */
int MPIX_Alloc_mem(MPI_Aint size, MPI_Info info, void* base);
int MPIX_Free_mem(void* base);

/**
 * Make a window; collective over `comm`.
 * Effect:    it is Photon's if all members can be served, and MPI's otherwise. What it has become
 *            is said by MPIX_Win_get_info(), and why is said on stderr with PHOTON_LOG=info. The
 *            info "photon_async" = "false", of any member, leaves it to MPI.
 * Ownership: the memory of MPIX_Win_create() stays the caller's, and must stay valid until
 *            MPIX_Win_free(); that of MPIX_Win_allocate() is the window's.
 */
int MPIX_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                    MPI_Win* win);
int MPIX_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                      MPI_Win* win);

/**
 * Frees a window of any kind; collective over its members, and none returns before all have called.
 * Errors: MPI_ERR_RMA_SYNC (an epoch is open at this member; the window stays).
 */
int MPIX_Win_free(MPI_Win* win);

/** MPI_WIN_BASE, _SIZE, _DISP_UNIT and _CREATE_FLAVOR as the window was made; the rest is MPI's. */
int MPIX_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag);
/** MPI's hints, and "photon_async": whether it is Photon's. The info is the caller's to free. */
int MPIX_Win_get_info(MPI_Win win, MPI_Info* info);
/** Where the caller sees that member's memory, also of an allocated window of one host. */
int MPIX_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* unit, void* base);

/**
 * Begin and end epochs. Fence, start, wait, lock, unlock, flush and their kin block; while they
 * wait they make progress for others and for messages of MPI.
 * A lock whose holder has died is taken over by who waits for it, with one warning on stderr.
 */
int MPIX_Win_fence(int asserts, MPI_Win win);
int MPIX_Win_post(MPI_Group group, int asserts, MPI_Win win);
int MPIX_Win_start(MPI_Group group, int asserts, MPI_Win win);
int MPIX_Win_complete(MPI_Win win);
int MPIX_Win_wait(MPI_Win win);
int MPIX_Win_test(MPI_Win win, int* flag);
int MPIX_Win_lock(int type, int rank, int asserts, MPI_Win win);
int MPIX_Win_unlock(int rank, MPI_Win win);
int MPIX_Win_lock_all(int asserts, MPI_Win win);
int MPIX_Win_unlock_all(MPI_Win win);
int MPIX_Win_flush(int rank, MPI_Win win);
int MPIX_Win_flush_local(int rank, MPI_Win win);
int MPIX_Win_flush_all(MPI_Win win);
int MPIX_Win_flush_local_all(MPI_Win win);
int MPIX_Win_sync(MPI_Win win);

/**
 * The operations. Those of the accumulate family are atomic for each element of a predefined type,
 * whoever else accumulates there.
 */
int MPIX_Put(const void* origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at,
             int target_count, MPI_Datatype target_type, MPI_Win win);
int MPIX_Get(void* origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at,
             int target_count, MPI_Datatype target_type, MPI_Win win);
int MPIX_Accumulate(const void* origin, int origin_count, MPI_Datatype origin_type, int rank,
                    MPI_Aint at, int target_count, MPI_Datatype target_type, MPI_Op op,
                    MPI_Win win);
int MPIX_Get_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                        void* result, int result_count, MPI_Datatype result_type, int rank,
                        MPI_Aint at, int target_count, MPI_Datatype target_type, MPI_Op op,
                        MPI_Win win);
int MPIX_Fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank, MPI_Aint at,
                      MPI_Op op, MPI_Win win);
int MPIX_Compare_and_swap(const void* origin, const void* compare, void* result, MPI_Datatype type,
                          int rank, MPI_Aint at, MPI_Win win);

/**
 * The same with a request of MPI's, which MPI_Wait() and MPI_Test() and their kin complete and
 * free; in passive epochs alone.
 */
int MPIX_Rput(const void* origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at,
              int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request* request);
int MPIX_Rget(void* origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint at,
              int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request* request);
int MPIX_Raccumulate(const void* origin, int origin_count, MPI_Datatype origin_type, int rank,
                     MPI_Aint at, int target_count, MPI_Datatype target_type, MPI_Op op,
                     MPI_Win win, MPI_Request* request);
int MPIX_Rget_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                         void* result, int result_count, MPI_Datatype result_type, int rank,
                         MPI_Aint at, int target_count, MPI_Datatype target_type, MPI_Op op,
                         MPI_Win win, MPI_Request* request);

/**
 * Operations of the program, which Accumulate, Get_accumulate and Fetch_and_op and their forms with
 * requests take on windows that know them. (The idea, and these calls, are of Zhao and others,
 * "Towards Asynchronous and MPI-Interoperable Active Messages", 2013, section III.)
 *
 * MPIX_Op_create() is MPI_Op_create(), so that the library knows the function; a process that is
 * preloaded may call it by MPI's name.
 *
 * MPIX_Op_register(): from now on the window knows `op`, at all members by the number `id`, which
 * is 0 or more. Collective over the members, each with its own handle; they give the same number,
 * and functions that do the same.
 * Effect:  inoutvec[i] of the target's memory becomes function(invec[i], inoutvec[i]). The function
 *          runs in the origin's process where that reaches the memory, else in the target's, on a
 *          thread of the library; with the info "photon_op_at_target" = "true" of the window always
 *          in the target's process. It is called with at most 64 KiB at a time, with C's predefined
 *          type of the elements; and for one element after the other nobody else changes them.
 * Bounds:  48 operations a window. Types that have one basic type, as for MPI's own operations.
 * In the function: no call of MPI, as MPI says of such functions; those of this header are refused
 *          with MPI_ERR_OTHER and a line on stderr.
 * Errors:  on all members, by the error handler of the window: MPI_ERR_ARG (numbers that differ or
 *          are negative; the window has that operation or number; one too many), MPI_ERR_OP (`op`
 *          is predefined, or was made past the library, at one member), MPI_ERR_WIN (the window is
 *          MPI's), MPI_ERR_OTHER (a member is lost).
 * Threads: one call at a time of the same members.
 *
 * MPIX_Op_deregister(): the window knows it no more. What was issued before is done with it; a
 * later use is MPI_ERR_OP. MPIX_Op_free() does not touch what windows know.
 */
int MPIX_Op_create(MPI_User_function* function, int commutes, MPI_Op* op);
int MPIX_Op_free(MPI_Op* op);
int MPIX_Op_register(MPI_Op op, int id, MPI_Win win);
int MPIX_Op_deregister(MPI_Op op, int id, MPI_Win win);

/**
 * Active messages: a handler of the program runs at the target, in the target's process, and says
 * where the payload shall land, as elements of a datatype if it likes. (The names, and that only
 * the header handler is registered, are of Zhao and others, 2013, section VI.)
 *
 *   sender:  MPIX_Am_send() -- immediate data, then the payload --> its memory may be used again
 *   target:  immediate data -- header handler: a landing --> payload -- completion handler --> over
 *                           -- none, an error, too small --> over; the payload is dropped
 *
 * In which threads: in one of the library's, while the program computes, or in one of the program's
 * inside MPIX_Am_send(), _quiesce() or _free(); one handler at a time for a process. So a handler
 * must not take a lock that is held around these calls, and what it writes the next one sees.
 * In a handler: MPIX_Am_send() with one of MPI's own types, and MPIX_Am_layout_free(). No call of
 * MPI, for the thread may be one that MPI does not know; those of this header that wait or ask MPI
 * are refused with MPI_ERR_OTHER and a line on stderr.
 */
typedef struct MPIX_Am_registration* MPIX_Am;
typedef struct MPIX_Am_described* MPIX_Am_layout;
#define MPIX_AM_NULL        ((MPIX_Am)0)
#define MPIX_AM_LAYOUT_NULL ((MPIX_Am_layout)0)

enum { MPIX_AM_IMMEDIATE_BYTES = 4064 }; /**< Most of immediate data. */

/** What a completion handler is told of. */
typedef struct MPIX_Am_part {
  MPI_Count offset; /**< In the payload. */
  MPI_Count bytes;  /**< 0 if `error` is one. */
  void* data;       /**< Where they lie; null where that may be several places, or none. */
  int error;        /**< MPI_SUCCESS, or why the rest of the payload will not come. */
  int is_last;      /**< Not 0: the landing is the program's again, and no call follows. */
} MPIX_Am_part;

/**
 * A completion handler: these bytes of the payload are in the landing. It is called for each part,
 * in order, and exactly once with is_last; also when the sender dies, or the landing was wrong
 * (then with an error). An error that it returns is told to the sender; if that was not the last
 * part it is called once more, with is_last and that error, when nothing writes to the landing.
 */
typedef int MPIX_Am_comp_handler(void* argument, const MPIX_Am_part* part);

/**
 * Where a payload shall land. The header handler is handed it with zeros; left so it says that the
 * payload is not wanted. `count` elements of `layout`, from `buffer` on, have to hold the payload,
 * which fills them in the order of the type map.
 * Parts:     chunk_bytes 0: the completion handler is called once. Else behind each so many bytes,
 *            while those behind them come.
 * Ownership: the memory is the library's until the completion handler was called with is_last. The
 *            layout may be freed as soon as the header handler has returned.
 */
typedef struct MPIX_Am_landing {
  void* buffer;
  MPI_Count count;
  MPIX_Am_layout layout; /**< MPIX_AM_LAYOUT_NULL: bytes. */
  MPI_Count chunk_bytes;
  MPIX_Am_comp_handler* comp_handler; /**< May be null. */
  void* argument;                     /**< Of the completion handler. */
} MPIX_Am_landing;

/** A message, as its header handler sees it; it is the library's. */
typedef struct MPIX_Am_message {
  const void* immediate; /**< At a multiple of 8. */
  int immediate_bytes;
  int source; /**< The sender's rank in the communicator. */
  MPI_Count payload_bytes;
} MPIX_Am_message;

/**
 * A header handler. It returns MPI_SUCCESS, or an error, which the sender is told: then the landing
 * is ignored, and the payload dropped. What it sees of the message ends when it returns.
 */
typedef int MPIX_Am_hhandler(void* user, const MPIX_Am_message* message, MPIX_Am_landing* landing);

/**
 * MPIX_Am_handler_register(): from now on messages by `*am` run that handler. Collective over
 * `comm`; all give the same number `id`, which is 0 or more and not in use there.
 * Ownership: what `user` points to stays until MPIX_Am_free(). `comm` may be freed before.
 * Errors:    on all members: MPI_ERR_ARG (numbers that differ, are negative or in use; a null
 *            pointer at this member), MPI_ERR_OP (such an error at another member), MPI_ERR_OTHER
 *            (members that are not of MPI_COMM_WORLD; a lane or a thread is not to be had).
 *            MPI_ERR_COMM: null, or with two groups. By the error handler of `comm`, as in all
 *            calls below but those of layouts, which have that of MPI_COMM_WORLD. A member that
 *            dies during the call holds the others up, as it does in MPI_Comm_dup(), of which the
 *            first registration of a communicator makes use.
 * MPIX_Am_free(): quiesces as below, also of other handlers of `comm`; then the number is free, and
 *            *am is MPIX_AM_NULL, also where the end of a message is an error. Collective.
 */
int MPIX_Am_handler_register(MPIX_Am_hhandler* hhandler, void* user, int id, MPI_Comm comm,
                             MPIX_Am* am);
int MPIX_Am_free(MPIX_Am* am);

/**
 * Sends immediate data, and `count` elements from `buffer` on as the payload.
 * Effect:    returns when both may be used again: of a payload of more than 32 KiB when the target
 *            has read it, so its header handler has run, or refused it. Messages of one process to
 *            one target begin in the order of their calls. MPI_PROC_NULL: nothing.
 * In a handler it never waits: it copies all. Else it may run handlers while it waits.
 * Errors:    MPI_ERR_ARG (`am`), MPI_ERR_RANK, MPI_ERR_COUNT, MPI_ERR_TYPE (also: a derived type in
 *            a handler), MPI_ERR_BUFFER, MPI_ERR_NO_MEM, MPI_ERR_OTHER (the target is lost). What
 *            goes wrong at the target is told by the next MPIX_Am_quiesce().
 */
int MPIX_Am_send(const void* immediate, int immediate_bytes, const void* buffer, MPI_Count count,
                 MPI_Datatype type, int dest, MPIX_Am am);

/**
 * Waits until all messages by handlers of `comm` are over: those that members have sent before,
 * and those by them that handlers have sent because of them. Collective over `comm`. (Source: F.
 * Mattern, "Algorithms for distributed termination detection", 1987, four counters.)
 * Errors: MPI_ERR_OTHER, whose words say what has become of the first message of this process that
 *         did not end well: told once. Or: a member is lost, or a message that nobody has counted;
 *         then all later calls say so.
 */
int MPIX_Am_quiesce(MPI_Comm comm);

/**
 * Where the bytes of a type lie, for landings. Local. The type need not be committed, and may be
 * freed. Errors: MPI_ERR_TYPE, MPI_ERR_ARG, MPI_ERR_NO_MEM.
 */
int MPIX_Am_layout_create(MPI_Datatype type, MPIX_Am_layout* layout);
int MPIX_Am_layout_free(MPIX_Am_layout* layout);

/**
 * The forms with large counts, of an MPI whose standard is the fourth. A window whose unit of
 * displacement is more than an int holds is MPI's.
 */
#if MPI_VERSION >= 4
int MPIX_Op_create_c(MPI_User_function_c* function, int commutes, MPI_Op* op);
int MPIX_Win_create_c(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                      MPI_Win* win);
int MPIX_Win_allocate_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base,
                        MPI_Win* win);
int MPIX_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* unit, void* base);
int MPIX_Put_c(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank,
               MPI_Aint at, MPI_Count target_count, MPI_Datatype target_type, MPI_Win win);
int MPIX_Get_c(void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank,
               MPI_Aint at, MPI_Count target_count, MPI_Datatype target_type, MPI_Win win);
int MPIX_Accumulate_c(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                      int rank, MPI_Aint at, MPI_Count target_count, MPI_Datatype target_type,
                      MPI_Op op, MPI_Win win);
int MPIX_Get_accumulate_c(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                          void* result, MPI_Count result_count, MPI_Datatype result_type, int rank,
                          MPI_Aint at, MPI_Count target_count, MPI_Datatype target_type, MPI_Op op,
                          MPI_Win win);
int MPIX_Rput_c(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank,
                MPI_Aint at, MPI_Count target_count, MPI_Datatype target_type, MPI_Win win,
                MPI_Request* request);
int MPIX_Rget_c(void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank,
                MPI_Aint at, MPI_Count target_count, MPI_Datatype target_type, MPI_Win win,
                MPI_Request* request);
int MPIX_Raccumulate_c(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                       int rank, MPI_Aint at, MPI_Count target_count, MPI_Datatype target_type,
                       MPI_Op op, MPI_Win win, MPI_Request* request);
int MPIX_Rget_accumulate_c(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
                           void* result, MPI_Count result_count, MPI_Datatype result_type, int rank,
                           MPI_Aint at, MPI_Count target_count, MPI_Datatype target_type, MPI_Op op,
                           MPI_Win win, MPI_Request* request);
#endif

#ifdef __cplusplus
}
#endif

#endif
