/**
 * Variables of a PE (Cpv), of a process (Csv) and of a thread of tasks (Ctv): a part of converse.h.
 * A PE is a thread, so a variable of a PE is one of its thread.
 */
#ifndef CONVERSE_VARIABLES_H
#define CONVERSE_VARIABLES_H

#include <stddef.h>

#ifdef __cplusplus
#define CMI_THREAD_LOCAL thread_local
extern "C" {
#else
#define CMI_THREAD_LOCAL _Thread_local
#endif

/** Makes the variable of CtvInitialize() known to this PE; returns its number. */
__attribute__((visibility("default"))) unsigned CmiThreadVariable(size_t size_bytes);
/** Where that variable of the running thread lies. */
__attribute__((visibility("default"))) void* CmiThreadValue(unsigned number);

#ifdef __cplusplus
}
#endif

#define CpvDeclare(type, name)         \
  CMI_THREAD_LOCAL type CpvVar_##name; \
  CMI_THREAD_LOCAL int CpvInit_##name
#define CpvExtern(type, name)                 \
  extern CMI_THREAD_LOCAL type CpvVar_##name; \
  extern CMI_THREAD_LOCAL int CpvInit_##name
#define CpvStaticDeclare(type, name)          \
  static CMI_THREAD_LOCAL type CpvVar_##name; \
  static CMI_THREAD_LOCAL int CpvInit_##name __attribute__((unused))
#define CpvInitialize(type, name) \
  do {                            \
    CpvInit_##name = 1;           \
  } while (0)
#define CpvInitialized(name) (CpvInit_##name)
#define CpvAccess(name)      CpvVar_##name

#define CsvDeclare(type, name)       type CsvVar_##name
#define CsvExtern(type, name)        extern type CsvVar_##name
#define CsvStaticDeclare(type, name) static type CsvVar_##name
#define CsvInitialize(type, name) \
  do {                            \
  } while (0)
#define CsvInitialized(name) 1
#define CsvAccess(name)      CsvVar_##name

#define CtvDeclare(type, name) \
  typedef type CtvType_##name; \
  CMI_THREAD_LOCAL unsigned CtvNumber_##name
#define CtvExtern(type, name)  \
  typedef type CtvType_##name; \
  extern CMI_THREAD_LOCAL unsigned CtvNumber_##name
#define CtvStaticDeclare(type, name) \
  typedef type CtvType_##name;       \
  static CMI_THREAD_LOCAL unsigned CtvNumber_##name
/* 0: not yet; else the number of the variable and 1. */
#define CtvInitialize(type, name)                                                      \
  do {                                                                                 \
    if (CtvNumber_##name == 0) CtvNumber_##name = CmiThreadVariable(sizeof(type)) + 1; \
  } while (0)
#define CtvInitialized(name) (CtvNumber_##name != 0)
#define CtvAccess(name)      (*(CtvType_##name*)CmiThreadValue(CtvNumber_##name - 1))

#endif
