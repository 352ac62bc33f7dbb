/** Threads of tasks: a part of converse.h. */
#ifndef CONVERSE_THREAD_H
#define CONVERSE_THREAD_H

#include "converse.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CthThreadStruct* CthThread;
typedef void (*CthVoidFn)(void* user);
typedef CthVoidFn CthFn;

/** What a thread stands as in a queue: a message. */
typedef struct CthThreadToken {
  char header[CmiMsgHeaderSizeBytes];
  CthThread thread;
  int serialNo;
} CthThreadToken;

/** How a thread is made ready, and who runs when it suspends; see CthSetStrategy(). */
typedef void (*CthAwkFn)(CthThreadToken* token, int strategy, int bits, unsigned int* priority);
typedef CthThread (*CthThFn)(void);

/** Make a thread, which waits to be awakened. stack_bytes 0: as `+stacksize`, or 64 KiB. */
CMI_API CthThread CthCreate(CthVoidFn function, void* user, int stack_bytes);
CMI_API CthThread CthCreateMigratable(CthVoidFn function, void* user, int stack_bytes);
/** The thread that runs; outside of threads the one that stands for the PE. Never null. */
CMI_API CthThread CthSelf(void);
CMI_API int CthIsMainThread(CthThread thread);
/** Stop until somebody awakens this thread. Outside of threads messages are run meanwhile. */
CMI_API void CthSuspend(void);
/** Make it ready. One that is ready or runs already goes on at its next CthSuspend(). */
CMI_API void CthAwaken(CthThread thread);
CMI_API void CthAwakenPrio(CthThread thread, int strategy, int bits, unsigned int* priority);
CMI_API void CthYield(void);
CMI_API void CthYieldPrio(int strategy, int bits, unsigned int* priority);
/** Run this thread now, instead of the one that calls, which stays suspended. */
CMI_API void CthResume(CthThread thread);
/** End a thread. The running one ends at its next suspension. */
CMI_API void CthFree(CthThread thread);
CMI_API void CthExit(void) __attribute__((noreturn));
CMI_API void CthSetStrategy(CthThread thread, CthAwkFn awaken, CthThFn next);
CMI_API void CthSetStrategyDefault(CthThread thread);
CMI_API void CthSetNext(CthThread thread, CthThread next);
CMI_API CthThread CthGetNext(CthThread thread);
CMI_API CthThreadToken* CthGetToken(CthThread thread);
CMI_API void CthSetSuspendable(CthThread thread, int value);
CMI_API int CthIsSuspendable(CthThread thread);
CMI_API int CthImplemented(void);

#ifdef __cplusplus
}
#endif
#endif
