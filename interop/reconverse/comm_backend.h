/**
 * The narrow communication backend of the new Converse: the names that its runtime calls, here on
 * Photon. docs/reconverse.md says what each call does, and how to build a runtime with it.
 *
 *   init() --> running -- exit() --> over: every call returns at once and does nothing
 *
 * Threads: init(), exit() and registerAmHandler() are called while no other thread is in a call of
 * the backend. All others may be called by any thread, and from inside completion handlers.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace comm_backend {

/** What a handler is told of. */
struct Status {
  const void* local_buf; /**< As in the call. A message: memory of CmiAlloc(), the handler's. */
  std::size_t size;
  void* user_context; /**< As in the call. A message: null. */
};
using CompHandler = void (*)(Status);
using AmHandler = int;
using mr_t = void*;
constexpr mr_t MR_NULL = nullptr;

void init(char** argv);
void init_mempool();
void exit();
void initThread(int thread_id, int num_threads);
void exitThread();
int getMyNodeId();
int getNumNodes();
bool isRMACapable();
AmHandler registerAmHandler(CompHandler handler);

/** `local` may be null, and may run in the call. It tells that local_buf is the caller's again. */
void issueAm(int rank, const void* local_buf, std::size_t size, mr_t mr, CompHandler local,
             AmHandler remote, void* user_context);
/** Reads at the address remote_buf. `local` tells that the bytes are in local_buf. */
void issueRget(int rank, const void* local_buf, std::size_t size, mr_t local_mr, void* remote_buf,
               void* rmr, CompHandler local, void* user_context);
/** Writes remote_disp bytes behind the region's base. `local` tells that they have landed. */
void issueRput(int rank, const void* local_buf, std::size_t size, mr_t local_mr,
               std::uintptr_t remote_disp, void* rmr, CompHandler local, void* user_context);

bool progress(); /**< Whether something moved. */
void barrier();  /**< Makes progress meanwhile. */

mr_t registerMemory(void* address, std::size_t size);
/** Writes what issueRget() and issueRput() take as `rmr`; returns its size, at most 24. */
std::size_t getRMR(mr_t mr, void* descriptor, std::size_t room_bytes);
void deregisterMemory(mr_t mr);
void* malloc(int bytes_count, int header); /**< Always null: the runtime takes its own memory. */
void free(void* message);

}  // namespace comm_backend
