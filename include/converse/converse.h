/**
 * Converse, the interface of message-driven programs (Kalé and others, 1996), on libphoton_task.
 * Programs that were written for it are compiled and linked unchanged; docs/converse.md says name
 * by name what is the same, what differs and what is absent.
 *
 *   ConverseInit() --> start function on each PE --> handlers run with messages --> ConverseExit()
 *
 * A PE is a thread. `photonrun -n N program +ppn K` starts N processes of K PEs each; a program
 * that is started alone is one process.
 *
 * Ownership: a message is of CmiAlloc(). A handler owns the message that it is given. Calls whose
 *            names end in AndFree take it; all other sends copy it, from any memory.
 * Errors:    no call returns one. What cannot be done ends the job: each process says which PE
 *            made which call, and what was wrong. A process that is lost ends the job as well.
 * Threads:   all calls are for threads of PEs, from ConverseInit() to ConverseExit().
 */
#ifndef CONVERSE_H
#define CONVERSE_H

#if defined(__cplusplus)
#if __cplusplus < 201703L
#error "converse.h needs C++17 or later: compile with -std=c++17"
#endif
#elif !defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L
#error "converse.h needs C11 or later: compile with -std=c11 or -std=gnu11"
#elif defined(__STDC_NO_THREADS__) && !defined(__GNUC__)
#error "converse.h needs thread-local storage (_Thread_local), which this compiler does not have"
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converse_variables.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef CMI_API
#define CMI_API __attribute__((visibility("default")))
#endif

#define CMK_SMP                     1
#define CMK_SHARED_VARS_UNAVAILABLE 0
#define CMK_NODE_QUEUE_AVAILABLE    1
#define CMK_PERSISTENT_COMM         0
#define CMK_ERROR_CHECKING          1

typedef int8_t CmiInt1;
typedef int16_t CmiInt2;
typedef int32_t CmiInt4;
typedef int64_t CmiInt8;
typedef uint8_t CmiUInt1;
typedef uint16_t CmiUInt2;
typedef uint32_t CmiUInt4;
typedef uint64_t CmiUInt8;
typedef float CmiFloat4;
typedef double CmiFloat8;
typedef unsigned char CmiBool;
typedef size_t CmiIntPtr;

/* ---- Messages ------------------------------------------------------------------------------- */

/** What stands first in each message; no program looks into it. */
#define CmiMsgHeaderSizeBytes 8
#define CmiMsgHeaderSizeInts  2
#define CmiReservedHeaderSize CmiMsgHeaderSizeBytes
#define CmiExtHeaderSizeBytes CmiMsgHeaderSizeBytes

/** Runs with a message, which it owns. */
typedef void (*CmiHandler)(void* message);
typedef void (*CmiHandlerEx)(void* message, void* user);

/**
 * A message of size bytes, its header among them, with one reference and handler 0. Less than
 * CmiMsgHeaderSizeBytes is memory that is no message, as for CmiSyncVectorSendAndFree().
 * Errors: a size that is negative; no memory.
 */
CMI_API void* CmiAlloc(CmiInt8 size);
/** One reference more. */
CMI_API void CmiReference(void* message);
/** One reference less; any PE of the process may do it. Null is ignored. */
CMI_API void CmiFree(void* message);
/** The bytes that CmiAlloc() was asked for, or that came. */
CMI_API CmiInt8 CmiSize(void* message);
/** Write a fresh header, as CmiAlloc() does; for messages in memory of the program. */
CMI_API void CmiInitMsgHeader(void* message, CmiInt8 size);

/**
 * Give a handler the next index. All PEs register the same ones in the same order: a message whose
 * index names another function at its target ends the job there.
 */
CMI_API int CmiRegisterHandler(CmiHandler handler);
CMI_API int CmiRegisterHandlerEx(CmiHandlerEx handler, void* user);
/** Change what an index of this PE names. */
CMI_API void CmiNumberHandler(int index, CmiHandler handler);
CMI_API void CmiNumberHandlerEx(int index, CmiHandlerEx handler, void* user);
CMI_API void CmiSetHandler(void* message, int index);
CMI_API int CmiGetHandler(void* message);
CMI_API CmiHandler CmiGetHandlerFunction(void* message);
/** Run the handler of the message now. */
CMI_API void CmiHandleMessage(void* message);

/* ---- Sends ---------------------------------------------------------------------------------- */

/** Names an asynchronous send. Every send has copied its message when it returns. */
typedef void* CmiCommHandle;

CMI_API void CmiSyncSend(int pe, CmiInt8 size, void* message);
CMI_API void CmiSyncSendAndFree(int pe, CmiInt8 size, void* message);
CMI_API CmiCommHandle CmiAsyncSend(int pe, CmiInt8 size, void* message);
/** To all PEs but the own one. */
CMI_API void CmiSyncBroadcast(CmiInt8 size, void* message);
CMI_API void CmiSyncBroadcastAndFree(CmiInt8 size, void* message);
CMI_API CmiCommHandle CmiAsyncBroadcast(CmiInt8 size, void* message);
/** To all PEs. */
CMI_API void CmiSyncBroadcastAll(CmiInt8 size, void* message);
CMI_API void CmiSyncBroadcastAllAndFree(CmiInt8 size, void* message);
CMI_API CmiCommHandle CmiAsyncBroadcastAll(CmiInt8 size, void* message);
/** To a process: the first of its PEs that has time runs it. */
CMI_API void CmiSyncNodeSend(int node, CmiInt8 size, void* message);
CMI_API void CmiSyncNodeSendAndFree(int node, CmiInt8 size, void* message);
CMI_API CmiCommHandle CmiAsyncNodeSend(int node, CmiInt8 size, void* message);
CMI_API void CmiSyncNodeBroadcast(CmiInt8 size, void* message);
CMI_API void CmiSyncNodeBroadcastAndFree(CmiInt8 size, void* message);
CMI_API CmiCommHandle CmiAsyncNodeBroadcast(CmiInt8 size, void* message);
CMI_API void CmiSyncNodeBroadcastAll(CmiInt8 size, void* message);
CMI_API void CmiSyncNodeBroadcastAllAndFree(CmiInt8 size, void* message);
CMI_API CmiCommHandle CmiAsyncNodeBroadcastAll(CmiInt8 size, void* message);
CMI_API int CmiAsyncMsgSent(CmiCommHandle handle);
CMI_API void CmiReleaseCommHandle(CmiCommHandle handle);

/** To each PE of a list; a PE that stands twice gets two. */
CMI_API void CmiSyncListSend(int count, const int* pes, CmiInt8 size, void* message);
CMI_API void CmiSyncListSendAndFree(int count, const int* pes, CmiInt8 size, void* message);
CMI_API CmiCommHandle CmiAsyncListSend(int count, const int* pes, CmiInt8 size, void* message);

/** PEs with a name that all PEs may use, and that messages may carry. */
typedef struct CmiGroup {
  unsigned pe, id;
} CmiGroup;
CMI_API CmiGroup CmiEstablishGroup(int count, int* pes);
CMI_API void CmiSyncMulticast(CmiGroup group, CmiInt8 size, void* message);
CMI_API void CmiSyncMulticastAndFree(CmiGroup group, CmiInt8 size, void* message);
CMI_API CmiCommHandle CmiAsyncMulticast(CmiGroup group, CmiInt8 size, void* message);

/** Several messages to one PE, met in this order. They are copied. */
CMI_API void CmiMultipleSend(unsigned pe, int count, int sizes[], char* messages[]);
CMI_API void CmiMultipleIsend(unsigned pe, int count, int sizes[], char* messages[]);
/** One message, of these parts one behind the other; the first begins with the header. */
CMI_API void CmiSyncVectorSend(int pe, int count, int* sizes, char** parts);
/** The same; each part, and both arrays, are of CmiAlloc() and are freed. */
CMI_API void CmiSyncVectorSendAndFree(int pe, int count, int* sizes, char** parts);
CMI_API CmiCommHandle CmiAsyncVectorSend(int pe, int count, int* sizes, char** parts);

#ifdef __cplusplus
}
#endif

#include "converse_collect.h"
#include "converse_ncpy.h"
#include "converse_program.h"
#include "converse_random.h"
#include "converse_schedule.h"
#include "converse_thread.h"
#include "converse_tree.h"
#include "pup_c.h"

#include "converse_absent.h"

#endif
