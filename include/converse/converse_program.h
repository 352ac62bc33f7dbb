/** Start and end, who and where, words and arguments, clocks, locks: a part of converse.h. */
#ifndef CONVERSE_PROGRAM_H
#define CONVERSE_PROGRAM_H

#include "converse.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What each PE runs first: it registers its handlers there. */
typedef void (*CmiStartFn)(int argc, char** argv);

/**
 * Start the PEs of this process and run the program.
 * Effect:  takes +p and +ppn from argv. Each PE calls `start`; then, if user_schedules is 0, it
 *          runs its scheduler until CsdExitScheduler(); then it exits as by ConverseExit().
 *          init_returns 1: on the first PE of each process this call returns instead, without
 *          having called `start`, and the program calls the scheduler and ConverseExit() itself.
 */
CMI_API void ConverseInit(int argc, char** argv, CmiStartFn start, int user_schedules,
                          int init_returns);
/**
 * End this PE. When all PEs of the job have called, each process ends by exit(status).
 * Does not return. Messages are served meanwhile, and their handlers no more.
 */
#ifdef __cplusplus
CMI_API void ConverseExit(int status = 0) __attribute__((noreturn));
#else
CMI_API void ConverseExit(int status) __attribute__((noreturn));
/* With or without a status: `0 + + 0` is 0. */
#define ConverseExit(...) (ConverseExit)(0 + __VA_ARGS__ + 0)
#endif
/**
 * End the job from one PE: this tells all PEs, and each ends when it next takes a message, or comes
 * out of a barrier. A PE in a function of the program that does not return (a loop, a lock, a call
 * that blocks) keeps its process, and with it the job. CmiAbort() waits for nobody.
 */
CMI_API void CmiExit(int status) __attribute__((noreturn));

CMI_API int CmiMyPe(void);
CMI_API int CmiNumPes(void);
CMI_API int CmiMyNode(void);
CMI_API int CmiNumNodes(void);
CMI_API int CmiMyRank(void);
CMI_API int CmiMyNodeSize(void);
CMI_API int CmiNodeOf(int pe);
CMI_API int CmiNodeFirst(int node);
CMI_API int CmiNodeSize(int node);
CMI_API int CmiRankOf(int pe);
CMI_API int CmiNumCores(void);
CMI_API int CmiNumPhysicalNodes(void);
CMI_API int CmiPhysicalNodeID(int pe);
CMI_API int CmiNumPesOnPhysicalNode(int node);
CMI_API int CmiGetFirstPeOnPhysicalNode(int node);
CMI_API int CmiPhysicalRank(int pe);
CMI_API int CmiPeOnSamePhysicalNode(int pe, int other);
CMI_API void CmiInitCPUAffinity(char** argv);
CMI_API void CmiInitCPUTopology(char** argv);
CMI_API int CmiSetCPUAffinity(int core);
CMI_API int CmiOnCore(void);

/**
 * Seconds since ConverseInit(), or since the first of these calls that came before it; of a
 * processor, by the calling thread; as the first one. Any thread may ask.
 */
CMI_API double CmiWallTimer(void);
CMI_API double CmiCpuTimer(void);
CMI_API double CmiTimer(void);
CMI_API void CmiTimerInit(char** argv);

/** One write each, so that lines of PEs do not mix. */
CMI_API int CmiPrintf(const char* format, ...) __attribute__((format(printf, 1, 2)));
CMI_API void CmiError(const char* format, ...) __attribute__((format(printf, 1, 2)));
CMI_API int CmiScanf(const char* format, ...) __attribute__((format(scanf, 1, 2)));
CMI_API void CmiAbort(const char* format, ...) __attribute__((noreturn, format(printf, 1, 2)));
CMI_API void CmiAssertFailed(const char* what, const char* file, int line)
    __attribute__((noreturn));
#define CmiAssert(expression) \
  ((void)((expression) ? 0 : (CmiAssertFailed(#expression, __FILE__, __LINE__), 0)))
#define CmiEnforce(expression)    CmiAssert(expression)
#define CmiMemcpy(to, from, size) memcpy((to), (from), (size))
#define CmiMemoryUsage()          CmiMemoryUsed()
CMI_API CmiUInt8 CmiMemoryUsed(void);

CMI_API int CmiGetArgc(char** argv);
CMI_API char** CmiCopyArgs(char** argv);
/**
 * Each removes what it finds and returns 1; else 0. Integers may be written "-n 7", "-n7", "-n-7"
 * and "-n=7": ints as in C (010 is 8, 0x10 is 16), longs as decimals. What stands behind the digits
 * is not looked at. A name that is the last argument, or has no digits of an integer behind it,
 * ends the job with words; a double that cannot be read is removed, and the call returns 0.
 */
CMI_API int CmiGetArgString(char** argv, const char* name, char** value);
CMI_API int CmiGetArgStringDesc(char** argv, const char* name, char** value, const char* words);
CMI_API int CmiGetArgInt(char** argv, const char* name, int* value);
CMI_API int CmiGetArgIntDesc(char** argv, const char* name, int* value, const char* words);
CMI_API int CmiGetArgLong(char** argv, const char* name, CmiInt8* value);
CMI_API int CmiGetArgLongDesc(char** argv, const char* name, CmiInt8* value, const char* words);
CMI_API int CmiGetArgDouble(char** argv, const char* name, double* value);
CMI_API int CmiGetArgDoubleDesc(char** argv, const char* name, double* value, const char* words);
CMI_API int CmiGetArgFlag(char** argv, const char* name);
CMI_API int CmiGetArgFlagDesc(char** argv, const char* name, const char* words);
CMI_API void CmiDeleteArgs(char** argv, int count);
CMI_API int CmiArgGivingUsage(void);
CMI_API void CmiArgGroup(const char* parent, const char* module);

typedef struct CmiNodeLockStruct* CmiNodeLock;
CMI_API CmiNodeLock CmiCreateLock(void);
CMI_API void CmiLock(CmiNodeLock lock);
CMI_API void CmiUnlock(CmiNodeLock lock);
/** 0: it is ours now. */
CMI_API int CmiTryLock(CmiNodeLock lock);
CMI_API void CmiDestroyLock(CmiNodeLock lock);
/** Of all PEs of the process, and of the job. */
CMI_API void CmiNodeBarrier(void);
CMI_API void CmiNodeAllBarrier(void);
CMI_API int CmiBarrier(void);
CMI_API int CmiBarrierZero(void);

#ifdef __cplusplus
}
#endif
#endif
