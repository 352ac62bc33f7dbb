/** Reductions and quiescence: a part of converse.h. */
#ifndef CONVERSE_COLLECT_H
#define CONVERSE_COLLECT_H

#include "converse.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Merges `count` remote parts into the local one. *size is that of the local one, and of the
 * result. Returns the local one or a new one; the remote ones are freed behind it.
 */
typedef void* (*CmiReduceMergeFn)(int* size, void* local, void** remote, int count);
/** Measures, packs or unpacks a structure (pup_c.h). */
typedef void (*CmiReducePupFn)(void* pup, void* data);
typedef void (*CmiReduceDeleteFn)(void* data);

/**
 * Contribute a message. The k-th calls of all PEs are one reduction; its result goes to PE 0, to
 * the handler that it names.
 */
CMI_API void CmiReduce(void* message, int size, CmiReduceMergeFn merge);
/**
 * Contribute a structure. Remote parts are packed as `pup` packs them; the local one, and the
 * result, are not. `destination` runs on PE 0 with the result; `remove` frees a structure that has
 * gone up.
 */
CMI_API void CmiReduceStruct(void* data, CmiReducePupFn pup, CmiReduceMergeFn merge,
                             CmiHandler destination, CmiReduceDeleteFn remove);
/** The same over processes: one PE of each calls. */
CMI_API void CmiNodeReduce(void* message, int size, CmiReduceMergeFn merge);
CMI_API void CmiNodeReduceStruct(void* data, CmiReducePupFn pup, CmiReduceMergeFn merge,
                                 CmiHandler destination, CmiReduceDeleteFn remove);

/** Call a function once on this PE, when no message is left and none is under way anywhere. */
typedef void (*CmiQdFn)(void* user);
CMI_API void CmiStartQD(CmiQdFn function, void* user);

#ifdef __cplusplus
}
#endif
#endif
