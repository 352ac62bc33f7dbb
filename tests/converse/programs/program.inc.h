/* What these programs share: words for what is wrong, bytes that can be checked, and an end that
   all PEs reach together. */
#pragma once

#include "converse.h"

static inline void expect(int holds, const char* what) {
  if (!holds) CmiAbort("PE %d: %s", CmiMyPe(), what);
}

static inline void expect_equal(long got, long wanted, const char* what) {
  if (got != wanted) CmiAbort("PE %d: %s: %ld instead of %ld", CmiMyPe(), what, got, wanted);
}

static inline char pattern_byte(int seed, int place) {
  return (char)(seed * 31 + place * 7 + (place >> 8));
}

static inline void fill_pattern(char* bytes, int size, int seed) {
  for (int i = 0; i < size; ++i) bytes[i] = pattern_byte(seed, i);
}

static inline void expect_pattern(const char* bytes, int size, int seed, const char* what) {
  for (int i = 0; i < size; ++i)
    if (bytes[i] != pattern_byte(seed, i))
      CmiAbort("PE %d: %s: byte %d of %d is %d instead of %d", CmiMyPe(), what, i, size, bytes[i],
               pattern_byte(seed, i));
}

/* The next number of a sequence that is the same everywhere. */
static inline int draw(unsigned* state, int below) {
  *state = *state * 1664525u + 1013904223u;
  return (int)((*state >> 8) % (unsigned)below);
}

typedef struct FinishMessage {
  char header[CmiMsgHeaderSizeBytes];
} FinishMessage;

CpvStaticDeclare(const char*, finish_name);
CpvStaticDeclare(int, finish_count);
CpvStaticDeclare(int, finish_here);
CpvStaticDeclare(int, finish_everywhere);

static inline void finish_everywhere_handler(void* message) {
  CmiFree(message);
  CsdExitScheduler();
}

static inline void finish_here_handler(void* message) {
  CmiFree(message);
  CpvAccess(finish_count) += 1;
  expect(CpvAccess(finish_count) <= CmiNumPes(), "a PE is ready twice");
  if (CpvAccess(finish_count) < CmiNumPes()) return;
  CmiPrintf("ok %s\n", CpvAccess(finish_name));
  FinishMessage* end = (FinishMessage*)CmiAlloc(sizeof(FinishMessage));
  CmiSetHandler(end, CpvAccess(finish_everywhere));
  CmiSyncBroadcastAllAndFree(sizeof(FinishMessage), end);
}

/* Each PE calls it first. */
static inline void begin_program(const char* name) {
  CpvInitialize(const char*, finish_name);
  CpvInitialize(int, finish_count);
  CpvInitialize(int, finish_here);
  CpvInitialize(int, finish_everywhere);
  CpvAccess(finish_name) = name;
  CpvAccess(finish_count) = 0;
  CpvAccess(finish_here) = CmiRegisterHandler((CmiHandler)finish_here_handler);
  CpvAccess(finish_everywhere) = CmiRegisterHandler((CmiHandler)finish_everywhere_handler);
}

/* Once for each PE, when it has nothing left to do. It goes on serving the others. */
static inline void finish_pe(void) {
  FinishMessage* ready = (FinishMessage*)CmiAlloc(sizeof(FinishMessage));
  CmiSetHandler(ready, CpvAccess(finish_here));
  CmiSyncSendAndFree(0, sizeof(FinishMessage), ready);
}
