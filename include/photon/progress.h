/**
 * This header says who serves a rank's peers while it computes and how its waits end: the
 * progress thread, waking, and one descriptor for all news. Each call takes a context or a lane,
 * and concerns that lane only.
 */
#ifndef PHOTON_PROGRESS_H
#define PHOTON_PROGRESS_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Start the progress thread of this lane, as the setting `progress_thread` does at its opening.
 * Effect:     from now on a thread of Photon's serves the peers of this lane while the application
 *             makes no calls. It is one already: nothing is done. Lanes that are opened later have
 *             one if the context's own has. It may run where the caller may (it inherits that set
 *             of cores).
 * Status:     PH_OK; PH_ERR_SYSTEM (no thread can be had: the error says which limit);
 *             PH_ERR_MEMORY; PH_ERR_STATE (finalized, closed); PH_ERR_FORKED.
 * Threads:    any but one that the progress thread itself runs code in. Waits for a
 *             ph_progress_stop() of another thread that is under way. Allocates.
 */
PH_API ph_status ph_progress_start(ph_context *context);

/**
 * Stop it. When this returns the thread has ended, and peers are served by calls only. There is
 * none: nothing is done. ph_finalize() and ph_lane_close() do so by themselves.
 * Status:     PH_OK; PH_ERR_STATE (finalized, closed); PH_ERR_FORKED.
 * Threads:    any, but no handler or callback that the thread may run. Blocks until the thread has
 *             ended, microseconds as a rule.
 */
PH_API ph_status ph_progress_stop(ph_context *context);

/**
 * Wake this lane: a ph_wait() of it that sleeps, or else the next one, returns PH_OK, though what
 * it waits for may not have come; and a descriptor of ph_event_fd() that is armed becomes readable.
 * Effect:     one ph_wait() returns for it, however often this was called before that; one that
 *             returns PH_OK for what it waits for may use it up, too. Else ph_event_arm() uses it
 *             up, and returns PH_AGAIN. Other calls that wait (ph_wait_request(), ph_wait_buffer(),
 *             ph_flush() and their kin) go on, and use up nothing.
 * Order:      what this thread did before is seen by whoever returns for it.
 * Status:     PH_OK; PH_ERR_STATE (finalized, closed); PH_ERR_FORKED.
 * Threads:    any. While nobody sleeps it is one store: it takes no lock and makes no system call.
 *             While somebody does, it takes the lane's lock, as any call, and may wait for a
 *             collective that another thread is in.
 */
PH_API ph_status ph_wake(ph_context *context);

/**
 * The descriptor that tells of news of this lane: for poll(2), epoll(7), io_uring, an event loop.
 * Effect:     *fd is readable unless ph_event_arm() has said PH_OK and nothing has come since.
 * Ownership:  the library's: do not read, write or close it. It is the same at each call, and is
 *             closed by ph_finalize(), ph_lane_close() or ph_context_destroy(): before that, take
 *             it out of what you wait for.
 * Status:     PH_OK; PH_ERR_NOT_FOUND (this transport has none: sim); PH_ERR_SYSTEM (no descriptor
 *             can be had); PH_ERR_ARGUMENT (fd is null); PH_ERR_MEMORY; PH_ERR_STATE;
 *             PH_ERR_FORKED. *fd is -1 then.
 * Threads:    any. The first call of a lane makes three descriptors.
 */
PH_API ph_status ph_event_fd(ph_context *context, int *fd);

/**
 * Before waiting for the descriptor: look for news once more, and have it tell of what comes.
 *
 *   for (;;) {
 *     probe and test for all you wait for;
 *     if (ph_event_arm(context) == PH_OK) poll(the descriptor);
 *   }
 *
 * Effect:     PH_OK: armed, and nothing has come since the call before. The descriptor becomes
 *             readable when there is something to do: a record of a peer or what it wants of us (a
 *             get to serve), credit for what is queued, the end of an operation or of a peer, a
 *             moment that the library has to act in, ph_wake(), a call of another thread. Then
 *             probe: any call that makes progress disarms it. It may be readable for nothing.
 *             PH_AGAIN: not armed; something has come, perhaps before this call. Look at all you
 *             wait for, then call again.
 *             While it is armed whoever waits for it serves this lane: the progress thread stands
 *             back. Posts do not disarm.
 * Status:     PH_OK; PH_AGAIN; PH_ERR_NOT_FOUND (no ph_event_fd() before); PH_ERR_SYSTEM;
 *             PH_ERR_MEMORY; PH_ERR_STATE; PH_ERR_FORKED. Not armed but for PH_OK.
 * Threads:    any; never blocks. Costs some system calls: a loop that is busy probes on instead.
 */
PH_API ph_status ph_event_arm(ph_context *context);

#ifdef __cplusplus
}
#endif
#endif
