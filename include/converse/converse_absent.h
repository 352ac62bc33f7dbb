/**
 * Names of the original that are not there: a call of one is an error of the compiler that says so.
 * A part of converse.h; docs/converse.md, "Names that are not there", has the reasons.
 */
#ifndef CONVERSE_ABSENT_H
#define CONVERSE_ABSENT_H

#ifdef __cplusplus
extern "C" {
#define CONVERSE_ANY_ARGUMENTS ...
#else
#define CONVERSE_ANY_ARGUMENTS
#endif

#ifndef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#endif

#define CONVERSE_ABSENT(type, name)                                        \
  type name(CONVERSE_ANY_ARGUMENTS)                                        \
      __attribute__((error(#name "() of Converse is absent from Photon's " \
                                 "converse.h: docs/converse.md says why")))

CONVERSE_ABSENT(int, CldEnqueue);
CONVERSE_ABSENT(int, CldEnqueueGroup);
CONVERSE_ABSENT(int, CldEnqueueMulti);
CONVERSE_ABSENT(int, CldNodeEnqueue);
CONVERSE_ABSENT(int, CldRegisterInfoFn);
CONVERSE_ABSENT(int, CldRegisterPackFn);
CONVERSE_ABSENT(int, CmiDeliverSpecificMsg);
CONVERSE_ABSENT(void*, CmiGetDynamicReduction);
CONVERSE_ABSENT(int, CmiGetGlobalReduction);
CONVERSE_ABSENT(void*, CmiGetNonLocal);
CONVERSE_ABSENT(int, CmiGetXHandler);
CONVERSE_ABSENT(int, CmiGroupReduce);
CONVERSE_ABSENT(int, CmiListReduce);
CONVERSE_ABSENT(int, CmiReduceID);
CONVERSE_ABSENT(int, CmiReduceStructID);
CONVERSE_ABSENT(int, CmiSetXHandler);
CONVERSE_ABSENT(void*, CmmGet);
CONVERSE_ABSENT(void*, CmmNew);
CONVERSE_ABSENT(void*, CmmProbe);
CONVERSE_ABSENT(int, CmmPut);
CONVERSE_ABSENT(void*, CqsCreate);
CONVERSE_ABSENT(int, CqsDequeue);
CONVERSE_ABSENT(int, CqsEnqueue);
CONVERSE_ABSENT(int, CqsEnqueueGeneral);
CONVERSE_ABSENT(int, CthAddListener);
CONVERSE_ABSENT(int, CthMigratable);
CONVERSE_ABSENT(void*, CthPup);
CONVERSE_ABSENT(int, CthSetThreadID);

#undef CONVERSE_ABSENT
#undef CONVERSE_ANY_ARGUMENTS

#ifdef __cplusplus
}
#else
#pragma GCC diagnostic pop
#endif
#endif
