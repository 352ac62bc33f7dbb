/** The scheduler, priorities, timers and conditions: a part of converse.h. */
#ifndef CONVERSE_SCHEDULE_H
#define CONVERSE_SCHEDULE_H

#include "converse.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Strategies. Smaller priorities first; FIFO goes behind its equals, LIFO before them. */
#define CQS_QUEUEING_FIFO  2
#define CQS_QUEUEING_LIFO  3
#define CQS_QUEUEING_IFIFO 4
#define CQS_QUEUEING_ILIFO 5
#define CQS_QUEUEING_BFIFO 6
#define CQS_QUEUEING_BLIFO 7
#define CQS_QUEUEING_LFIFO 8
#define CQS_QUEUEING_LLIFO 9

/**
 * Put a message of CmiAlloc() into the queue of this PE, or of this process.
 * Ownership: the queue has it. The priority is not copied; usually it lies in the message.
 */
CMI_API void CsdEnqueueGeneral(void* message, int strategy, int bits, unsigned int* priority);
CMI_API void CsdNodeEnqueueGeneral(void* message, int strategy, int bits, unsigned int* priority);
CMI_API void CsdEnqueue(void* message);
CMI_API void CsdEnqueueFifo(void* message);
CMI_API void CsdEnqueueLifo(void* message);
CMI_API void CsdNodeEnqueue(void* message);
CMI_API void CsdNodeEnqueueFifo(void* message);
CMI_API void CsdNodeEnqueueLifo(void* message);
#define CsdEnqueueGeneralPrio CsdEnqueueGeneral

/**
 * Run messages: below 0 until CsdExitScheduler(), 0 until none is left, else that many.
 * Returns how many were not run of them.
 */
CMI_API int CsdScheduler(int count);
CMI_API void CsdScheduleForever(void);
CMI_API int CsdScheduleCount(int count);
CMI_API void CsdSchedulePoll(void);
/** All runs of the scheduler that are under way on this PE, nested ones too, end. */
CMI_API void CsdExitScheduler(void);
CMI_API int CsdLength(void);
CMI_API int CsdEmpty(void);
CMI_API int CmiDeliverMsgs(int count);

/** The second argument is the time in seconds, which functions of one argument do not see. */
#ifdef __cplusplus
typedef void (*CcdVoidFn)(void* user, double time);
#else
/* Without a prototype, so that functions of both kinds fit. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
typedef void (*CcdVoidFn)();
#pragma GCC diagnostic pop
#endif
typedef CcdVoidFn CcdCondFn;

enum {
  CcdPROCESSOR_BEGIN_BUSY = 0,
  CcdPROCESSOR_END_IDLE = 0,
  CcdPROCESSOR_BEGIN_IDLE = 1,
  CcdPROCESSOR_END_BUSY = 1,
  CcdPROCESSOR_STILL_IDLE = 2,
  CcdPROCESSOR_LONG_IDLE = 3,
  CcdSCHEDLOOP = 4,
  CcdPERIODIC = 16,
  CcdPERIODIC_10ms = 17,
  CcdPERIODIC_100ms = 18,
  CcdPERIODIC_1second = 19,
  CcdPERIODIC_1s = 19,
  CcdPERIODIC_5s = 20,
  CcdPERIODIC_5seconds = 20,
  CcdPERIODIC_10s = 21,
  CcdPERIODIC_10seconds = 21,
  CcdPERIODIC_1minute = 22,
  CcdPERIODIC_2minute = 23,
  CcdPERIODIC_5minute = 24,
  CcdPERIODIC_10minute = 25,
  CcdPERIODIC_1hour = 26,
  CcdPERIODIC_12hour = 27,
  CcdPERIODIC_1day = 28,
  CcdQUIESCENCE = 30,
  CcdTOPOLOGY_AVAIL = 31,
  CcdSIGUSR1 = 32,
  CcdSIGUSR2 = 33,
  CcdUSER = 48,
  CcdUSERMAX = 128,
  CcdIGNOREPE = -2 /* as `pe`: whichever */
};

/** Once, the next time; each time. Returns the name of the call, for CcdCancelCallOnCondition(). */
CMI_API int CcdCallOnCondition(int condition, CcdVoidFn function, void* user);
CMI_API int CcdCallOnConditionKeep(int condition, CcdVoidFn function, void* user);
CMI_API int CcdCallOnConditionOnPE(int condition, CcdVoidFn function, void* user, int pe);
CMI_API int CcdCallOnConditionKeepOnPE(int condition, CcdVoidFn function, void* user, int pe);
CMI_API void CcdCancelCallOnCondition(int condition, int name);
CMI_API void CcdCancelCallOnConditionKeep(int condition, int name);
CMI_API void CcdRaiseCondition(int condition);
/** Once, when so many milliseconds have passed. */
CMI_API void CcdCallFnAfter(CcdVoidFn function, void* user, double milliseconds);
CMI_API void CcdCallFnAfterOnPE(CcdVoidFn function, void* user, double milliseconds, int pe);
CMI_API void CcdCallBacks(void);

#ifdef __cplusplus
}

/* Functions that take the argument alone, as newer programs write them: the time is in a register
   that they do not read. */
inline CcdVoidFn CcdWithTime(void (*function)(void*)) {
  return reinterpret_cast<CcdVoidFn>(reinterpret_cast<void (*)()>(function));
}
inline int CcdCallOnCondition(int condition, void (*function)(void*), void* user) {
  return CcdCallOnCondition(condition, CcdWithTime(function), user);
}
inline int CcdCallOnConditionKeep(int condition, void (*function)(void*), void* user) {
  return CcdCallOnConditionKeep(condition, CcdWithTime(function), user);
}
inline int CcdCallOnConditionOnPE(int condition, void (*function)(void*), void* user, int pe) {
  return CcdCallOnConditionOnPE(condition, CcdWithTime(function), user, pe);
}
inline int CcdCallOnConditionKeepOnPE(int condition, void (*function)(void*), void* user, int pe) {
  return CcdCallOnConditionKeepOnPE(condition, CcdWithTime(function), user, pe);
}
inline void CcdCallFnAfter(void (*function)(void*), void* user, double milliseconds) {
  CcdCallFnAfter(CcdWithTime(function), user, milliseconds);
}
inline void CcdCallFnAfterOnPE(void (*function)(void*), void* user, double milliseconds, int pe) {
  CcdCallFnAfterOnPE(CcdWithTime(function), user, milliseconds, pe);
}
#endif
#endif
