/**
 * Mailboxes: the receiver owns its memory. A sender names a mailbox of a rank and an offset, never
 * an address; the receiver posts buffers, says when one is complete, and nothing that comes late
 * can touch what it has got back, or what was posted instead.
 * Source of the idea: Grant, Levenhagen, Dosanjh and Widener, "RVMA: Remote Virtual Memory Access".
 * docs/mailbox.md says what the paper leaves open, and what was chosen.
 *
 *   buffer: posted -- those before it are handed over --> current -- threshold reached, or
 *           ph_mailbox_inc_epoch(), or ph_mailbox_close() --> handed over: an event tells, and the
 *           memory is the owner's again
 *
 * Promises (docs/mailbox.md):
 *  - A message lands in one epoch, whole (but PH_MAILBOX_SPLIT), and is counted when its last byte
 * is in place; or it is refused, touches nothing, and its sender hears of it.
 *  - What was handed over changes no more, whatever its senders do.
 *  - Messages of one lane to one mailbox land in the order of their calls, but that one which names
 *    a later epoch may wait while others land; epochs are handed over in order.
 *  - A mailbox without a buffer delays no other mailbox, put or get: a message that waits there
 *    uses up no credit of its sender.
 * A message lands when its receiver makes progress: in any probe, test or wait, or by its progress
 * thread. It never waits for ids that the receiver has not probed.
 */
#ifndef PHOTON_MAILBOX_H
#define PHOTON_MAILBOX_H

#include "mailbox_types.h"
#include "rma.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Opens a mailbox of this lane.
 * Effect:  messages to `address` land in the buffers that are posted to it; those that came before
 *          the first buffer, and after the call, are kept up to `mailbox_early_bytes` a peer. A
 *          reopened address is a new incarnation, and its epochs go on where they ended.
 * Status:  PH_ERR_ARGUMENT (an unknown unit, placing or flag; too many retained; what the flags do
 *          not allow; a steered mailbox that lingers), PH_ERR_RANK (`source`), PH_ERR_STATE (the
 *          address is open; the lane has a catch-all; finalized), PH_ERR_MEMORY, PH_ERR_FORKED.
 * Threads: any, as of all calls here. Never blocks.
 */
PH_API ph_status ph_mailbox_open(ph_context *context, const ph_mailbox_args *args, ph_mailbox *box);

/**
 * Posts a buffer: it is filled after all that were posted before.
 * Ownership: the buffer, and where its pointer stands, are the library's until the event. The list
 *            of segments is the caller's again at once.
 * Status:    PH_ERR_ARGUMENT (no bytes, null, a pointer that is not at a multiple of 64, a
 *            threshold that is 0 or that the buffer can never count; segments that are empty, wrap
 *            around, overlap each other or are too many; both segments and `data`), PH_ERR_STATE
 *            (it overlaps a buffer that this mailbox has or retains; the handle is closed or
 *            another lane's), PH_ERR_MEMORY.
 */
PH_API ph_status ph_mailbox_post(ph_context *context, ph_mailbox box,
                                 const ph_mailbox_buffer *buffer);

/**
 * Makes progress and takes an event of that mailbox, or, if `box` is zero, of any of this lane:
 * PH_OK; else PH_AGAIN, and `event` is unchanged. Events of one mailbox come in the order of its
 * epochs. PH_ERR_ARGUMENT: `event` is null. PH_ERR_STATE: closed, and no event is left.
 */
PH_API ph_status ph_mailbox_take(ph_context *context, ph_mailbox box, ph_mailbox_event *event);

/** ph_mailbox_take() that sleeps as ph_wait() does; PH_TIMEOUT after timeout_us (or PH_FOREVER). */
PH_API ph_status ph_mailbox_wait(ph_context *context, ph_mailbox box, ph_mailbox_event *event,
                                 int64_t timeout_us);

/**
 * Hands the current buffer over as it is: messages that have not landed whole land in the next,
 * which is current at once. The event comes when nothing writes to the buffer any more: at once,
 * but where a network is reading a large message into it. Status: PH_AGAIN: there is no buffer.
 * PH_ERR_STATE: as ph_mailbox_post().
 */
PH_API ph_status ph_mailbox_inc_epoch(ph_context *context, ph_mailbox box);

/** How many epochs were handed over: the number of the current one. PH_ERR_STATE: closed. */
PH_API ph_status ph_mailbox_epoch(ph_context *context, ph_mailbox box, uint64_t *epoch,
                                  uint32_t *incarnation);

/**
 * Gives a retained buffer back before its time: it may be posted again. PH_ERR_STATE: the epoch is
 * not retained.
 */
PH_API ph_status ph_mailbox_release(ph_context *context, ph_mailbox box, uint64_t epoch);

/**
 * Makes `epoch`, which has to be retained, the last complete one again.
 * Effect: buffers of later epochs that are retained come back by events, as void
 *         (PH_MAILBOX_REWOUND); the current buffer starts empty, as epoch + 1; the mailbox has a
 * new incarnation, and messages that name an older one are refused (PH_ERR_EPOCH).
 */
PH_API ph_status ph_mailbox_rewind(ph_context *context, ph_mailbox box, uint64_t epoch);

/**
 * The retained buffers, newest first: at most `capacity`; *count says how many there are. The event
 * of each is repeated.
 */
PH_API ph_status ph_mailbox_retained(ph_context *context, ph_mailbox box, ph_mailbox_event *events,
                                     size_t capacity, size_t *count);

/**
 * What has landed in the buffer of that epoch, which is current, posted or retained, in a mailbox
 * with PH_MAILBOX_COUNT_ONCE or PH_MAILBOX_REFUSE_OVERLAP: ranges in order, none of which touches
 * another. PH_ERR_STATE: the mailbox keeps no ranges, or the epoch has no such buffer.
 */
PH_API ph_status ph_mailbox_ranges(ph_context *context, ph_mailbox box, uint64_t epoch,
                                   ph_mailbox_range_list *list);

/**
 * The buffers that a mailbox has and has not handed over, in the order of their epochs: at most
 * `capacity`; *count says how many there are. Source of the idea: RVMA_Win_get_buf_ptrs() of the
 * paper. PH_ERR_STATE: closed.
 */
PH_API ph_status ph_mailbox_buf_ptrs(ph_context *context, ph_mailbox box,
                                     ph_mailbox_posted *buffers, size_t capacity, size_t *count);

/**
 * Closes a mailbox. All buffers come back by events, the current one with what has landed; messages
 * that were kept, and all that come later, are refused (PH_ERR_NOT_FOUND), or dropped
 * (PH_MAILBOX_SILENT_CLOSE). Events that were not
 * taken stay, and ph_mailbox_take() of the handle finds them.
 */
PH_API ph_status ph_mailbox_close(ph_context *context, ph_mailbox box);

/**
 * Sends a message to a steered mailbox of `rank`.
 * Ownership:  the source is yours again with the local completion; unchanged until then.
 * Completion: local = the source may be reused: of more than `mailbox_carried_max` bytes that is
 *             when the receiver has read them, or refused the message. With a request: when the
 * message has landed (PH_OK), or was refused. Of a message that was over, a refusal comes as one
 * more local completion with the error, as of a put. Refusals:   PH_ERR_NOT_FOUND (no such
 * mailbox), PH_ERR_ACCESS (it is for another source), PH_ERR_RANGE (it leaves the buffer, or
 * overlaps what is there: PH_MAILBOX_REFUSE_OVERLAP), PH_ERR_MEMORY (the receiver finds no memory
 * for its ranges),
 * PH_ERR_EPOCH (the epoch or the incarnation that it names is over), PH_ERR_NO_BUFFER (there is
 * none, and it is not kept), PH_ERR_ARGUMENT (an offset into a managed mailbox, an append to a
 * steered one, an empty append). Status:     PH_AGAIN: nothing was sent; `mailbox_early_bytes` are
 * under way to that rank, or 1,024 large messages, or `requests` operations, or there is no room.
 *             PH_ERR_ARGUMENT (unknown flags, a null source, an offset that wraps), PH_ERR_RANK,
 *             PH_ERR_ID_SIZE, PH_ERR_MEMORY, PH_ERR_PEER, PH_ERR_DEPARTED, PH_ERR_STATE,
 *             PH_ERR_FORKED.
 * Abort:      ph_cancel() of the request asks the receiver for the message (PH_TOO_LATE: it has
 *             gone). The request ends with the verdict: PH_OK, it had landed, and counts
 *             (`landed_in`); PH_ERR_NOT_FOUND, it had not, nothing of it counts or will, and the
 *             source is yours; PH_ERR_PEER, the receiver was lost, and nobody knows. Any other
 *             error: it was refused. What PH_MAILBOX_SPLIT has begun to land goes on.
 * Order:      as above. Threads: any. Never blocks.
 */
PH_API ph_status ph_mailbox_put(ph_context *context, ph_rank rank, const ph_mailbox_put_args *args);

/** The same to a managed mailbox: the receiver says where it lands. */
PH_API ph_status ph_mailbox_append(ph_context *context, ph_rank rank,
                                   const ph_mailbox_put_args *args);

/** ph_mailbox_put() of any epoch and under PH_NO_LCE, with arguments in registers; at most
 * `mailbox_carried_max` bytes. */
PH_API ph_status ph_mailbox_put_u64(ph_context *context, ph_rank rank, uint64_t address,
                                    uint64_t offset, ph_const_block source);

/**
 * Says that so many bytes and operations will not come.
 * Effect:     they count for the threshold of the current buffer, or of that of the epoch which is
 *             named, as messages would, but nothing lands. If the threshold is so reached the
 * buffer is handed over (PH_MAILBOX_INCOMPLETE); its event says what has landed, and how much was
 * withdrawn. What passes the threshold counts for no other epoch. Completion: as ph_mailbox_put()
 * of no bytes. Refusals: PH_ERR_NOT_FOUND (no such mailbox; a catch-all takes none), PH_ERR_ACCESS
 * (it is for another source, or for reading), PH_ERR_ARGUMENT (it is the catch-all), PH_ERR_EPOCH
 * (the epoch or the incarnation that it names is over), PH_ERR_RANGE (more than the buffer's
 * threshold, or the sums wrap), PH_ERR_NO_BUFFER (there is none, and it is not kept). Status: as
 * ph_mailbox_put(); PH_ERR_ARGUMENT also where there are no bytes nor operations. Order:      in
 * that of the messages of its lane to that mailbox. Threads: any. Never blocks.
 */
PH_API ph_status ph_mailbox_withdraw(ph_context *context, ph_rank rank,
                                     const ph_mailbox_withdraw_args *args);

/**
 * Reads from a buffer of a mailbox of `rank`: the current one, or that of an epoch which is
 * retained or posted. All bytes are of one epoch, and of one moment where there are at most
 * `mailbox_carried_max`. Its owner copies them in its progress, so nothing reads a buffer that came
 * back.
 * Effect:     where the mailbox was opened with PH_MAILBOX_READ the get counts for the threshold,
 * as one operation and by its bytes: an owner learns so that its block was read N times. Ownership:
 * the destination is the library's until the completion; what an error leaves there is undefined.
 * Completion: local, or the request: the bytes are there, or why not.
 * Refusals:   PH_ERR_NOT_FOUND (no such mailbox), PH_ERR_ACCESS (it is for another source),
 *             PH_ERR_RANGE (it leaves the buffer), PH_ERR_EPOCH (the epoch is over and not
 * retained, also in the middle of a large get, or the incarnation is), PH_ERR_NO_BUFFER (none is
 *             posted for that epoch: a get does not wait for one), PH_ERR_MEMORY (at its owner).
 * Status:     as ph_mailbox_put(). Threads: any. Never blocks.
 */
PH_API ph_status ph_mailbox_get(ph_context *context, ph_rank rank, const ph_mailbox_get_args *args);

#ifdef __cplusplus
}
#endif
#endif
