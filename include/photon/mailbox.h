/**
 * Mailboxes: the receiver owns its memory. A sender names a mailbox of a rank and an offset, never
 * an address of memory; the receiver posts buffers and says when one is complete, and nothing that
 * comes late can touch what it has got back, or what was posted instead.
 * Source of the idea: Grant, Levenhagen, Dosanjh and Widener, "RVMA: Remote Virtual Memory Access".
 * docs/mailbox.md says what the paper leaves open, and what was chosen.
 *
 *   buffer: posted -- those before it are handed over --> current -- threshold reached, or
 *           ph_mailbox_inc_epoch(), or ph_mailbox_close() --> handed over: an event tells, and the
 *           memory is the owner's again
 *
 * Promises (docs/mailbox.md):
 *
 *  - A message lands in one epoch, whole (but PH_MAILBOX_SPLIT), and is counted when its last byte
 *    is in place; or it is refused and counts nowhere, and its sender hears of it (but
 *    PH_MAILBOX_SILENT_CLOSE and the setting `mailbox_refusals`). Bytes of a buffer in which
 *    nothing has landed are undefined.
 *  - A buffer that was handed over changes no more, whatever its senders do.
 *  - Messages of one lane to one mailbox get their epochs and places in the order of their calls,
 *    but that one which names a later epoch may wait while others land. In a managed mailbox they
 *    land in that order, too; in a steered one a large message, which its receiver reads, may land
 *    behind later ones. Epochs are handed over in order.
 *  - A mailbox without a buffer delays no other mailbox, put or get: a message that waits there
 *    uses up no credit of its sender. (It may hold one of the sender's `requests`, and a large one
 *    is one of the 1,024 that may be under way to a rank; docs/mailbox.md, Known limits.)
 *
 * A message lands when its receiver makes progress: in any probe, test or wait, or by its progress
 * thread. It never waits for ids that the receiver has not probed.
 *
 * Threads: any thread may make any of these calls. None blocks but ph_mailbox_wait(). Each may also
 * say PH_ERR_STATE (no context, or a finalized one), PH_ERR_FORKED, or PH_ERR_ARGUMENT (a pointer
 * is null that must not be, `size` of a struct is wrong). A handle means something only in the lane
 * that opened it. Structs that are passed are the caller's again on return.
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
 * Effect:    messages to `address` land in the buffers that are posted to it; those that come after
 *            the call and before there is a buffer are kept, up to `mailbox_early_bytes` of each
 *            peer. An address that is opened again is a new incarnation, and its epochs go on where
 *            they ended.
 * Ownership: *box is a plain value, and good until the mailbox is closed and its last event was
 *            taken.
 * Status:    PH_ERR_ARGUMENT (an unknown unit, placing or flag; too many retained; flags that do
 *            not go together; a steered mailbox that lingers), PH_ERR_RANK (`source`), PH_ERR_STATE
 *            (the address is open; the lane has a catch-all), PH_ERR_MEMORY.
 */
PH_API ph_status ph_mailbox_open(ph_context *context, const ph_mailbox_args *args, ph_mailbox *box);

/**
 * Posts a buffer: it is filled after all that were posted before.
 * Effect:    messages that wait for it are judged at once, in the order in which they came, so its
 *            event may be there on return; large ones are read from then on.
 * Ownership: the buffer, and the place of its pointer, are the library's until its event is there
 *            or its pointer was written. A retained buffer is its owner's as well, but gets read
 *            it, and it may be posted again only after ph_mailbox_release(), or when it is retained
 *            no more. The list of segments is the caller's again on return.
 * Status:    PH_ERR_ARGUMENT (no bytes, null, a pointer that is not at a multiple of 64, a
 *            threshold that is 0 or that the buffer can never count; segments that are empty, wrap
 *            around, overlap each other or are too many; both segments and `data`), PH_ERR_STATE
 *            (it overlaps a buffer that this mailbox has or retains; the handle is closed or
 *            another lane's), PH_ERR_MEMORY. Overlap with buffers of other mailboxes is not looked
 *            for.
 */
PH_API ph_status ph_mailbox_post(ph_context *context, ph_mailbox box,
                                 const ph_mailbox_buffer *buffer);

/**
 * Makes progress and takes an event of that mailbox, or, if `box` is zero, of any of this lane.
 * Effect:  *event tells of one buffer that was handed over; it is unchanged unless PH_OK is said.
 * Order:   events of one mailbox come in the order of its epochs; those of a ph_mailbox_rewind()
 *          come behind all that were there before it.
 * Status:  PH_OK; PH_AGAIN: there is none yet. PH_ERR_STATE: the mailbox is closed, and its last
 *          event was taken (a zero `box` says PH_AGAIN); or the handle is another lane's.
 * Threads: any number; each event is given once.
 */
PH_API ph_status ph_mailbox_take(ph_context *context, ph_mailbox box, ph_mailbox_event *event);

/**
 * ph_mailbox_take() that sleeps as ph_wait() does; PH_TIMEOUT after timeout_us microseconds (0: do
 * not sleep; PH_FOREVER: never). The loss of a sender does not end it, and neither does ph_wake().
 * When the mailbox is closed it ends with the last event, or with PH_ERR_STATE.
 */
PH_API ph_status ph_mailbox_wait(ph_context *context, ph_mailbox box, ph_mailbox_event *event,
                                 int64_t timeout_us);

/**
 * Hands the current buffer over as it is (PH_MAILBOX_EARLY).
 * Effect: messages that have not landed whole land in the next one, which is current at once. The
 *         event comes when nothing writes to the buffer any more. That is at once, but where a
 *         network is reading a large message into it, or its one source is just storing into it
 *         (PH_MAILBOX_GRANT_AHEAD). Another call before that takes the buffer behind it.
 * Status: PH_AGAIN: there is no buffer, and nothing was done. PH_ERR_STATE: as ph_mailbox_post().
 */
PH_API ph_status ph_mailbox_inc_epoch(ph_context *context, ph_mailbox box);

/**
 * Tells which epoch is handed over next, and the incarnation. That is the epoch of the current
 * buffer, unless one before it still waits for what is landing in it. PH_ERR_STATE: closed.
 */
PH_API ph_status ph_mailbox_epoch(ph_context *context, ph_mailbox box, uint64_t *epoch,
                                  uint32_t *incarnation);

/**
 * Gives a retained buffer back before its time: it may be posted again, gets do not find it any
 * more, and ph_mailbox_rewind() cannot return to it. PH_ERR_STATE: the epoch is not retained, or
 * the mailbox is closed.
 */
PH_API ph_status ph_mailbox_release(ph_context *context, ph_mailbox box, uint64_t epoch);

/**
 * Makes `epoch`, which has to be retained, the last complete one again.
 * Effect: buffers of later epochs that are retained come back by events, as void
 *         (PH_MAILBOX_REWOUND); those that are posted start empty, the current one as epoch + 1;
 *         the mailbox has a new incarnation, and messages that name an older one, waiting ones
 *         included, are refused (PH_ERR_EPOCH). Completion pointers that were written stay.
 * Events: a buffer whose event was not taken before the call comes twice, first by that event
 *         (PH_MAILBOX_COMPLETE, say), and then by PH_MAILBOX_REWOUND. Both have the incarnation in
 *         which the buffer was handed over. So compare: an event of a later epoch than `epoch`
 *         whose incarnation is not that of ph_mailbox_epoch() is void; post its buffer again when
 *         the second one comes.
 * Status: PH_AGAIN: messages are landing; make progress and call again. PH_ERR_STATE: the epoch is
 *         not retained, or the mailbox is closed. PH_ERR_MEMORY.
 */
PH_API ph_status ph_mailbox_rewind(ph_context *context, ph_mailbox box, uint64_t epoch);

/**
 * Lists the retained buffers, newest first: at most `capacity`; *count says how many there are. The
 * event of each is repeated, as it was given when the buffer was handed over. PH_ERR_STATE: closed.
 */
PH_API ph_status ph_mailbox_retained(ph_context *context, ph_mailbox box, ph_mailbox_event *events,
                                     size_t capacity, size_t *count);

/**
 * Lists what has landed in the buffer of that epoch, which is current, posted or retained, in a
 * mailbox with PH_MAILBOX_COUNT_ONCE or PH_MAILBOX_REFUSE_OVERLAP: ranges in order, none of which
 * touches another. PH_ERR_STATE: the mailbox keeps no ranges or is closed, or the epoch has no such
 * buffer.
 */
PH_API ph_status ph_mailbox_ranges(ph_context *context, ph_mailbox box, uint64_t epoch,
                                   ph_mailbox_range_list *list);

/**
 * Lists the buffers that a mailbox has and has not handed over, in the order of their epochs: at
 * most `capacity`; *count says how many there are. Source of the idea: RVMA_Win_get_buf_ptrs() of
 * the paper. PH_ERR_STATE: closed.
 */
PH_API ph_status ph_mailbox_buf_ptrs(ph_context *context, ph_mailbox box,
                                     ph_mailbox_posted *buffers, size_t capacity, size_t *count);

/**
 * Closes a mailbox.
 * Effect: all buffers come back by events, the current one with what has landed
 *         (PH_MAILBOX_CLOSED), and nothing is retained any more. As of ph_mailbox_inc_epoch() the
 *         event of a buffer that is still written to comes later. Messages that were kept, and all
 *         that come later, are refused (PH_ERR_NOT_FOUND), or dropped (PH_MAILBOX_SILENT_CLOSE).
 *         Events that were not taken stay, and ph_mailbox_take() of the handle finds them.
 * Status: PH_ERR_STATE: it is closed already, or the handle is another lane's. PH_ERR_MEMORY.
 */
PH_API ph_status ph_mailbox_close(ph_context *context, ph_mailbox box);

/**
 * Sends a message to a steered mailbox of `rank`.
 *
 * Ownership:  the source is unchanged until the local completion, and yours again with it; one of
 *             at most 1 KiB is yours on return, if `mailbox_carried_max` is not less and the
 *             mailbox grants nothing ahead. Under PH_NO_LCE a larger one is yours after a
 *             ph_flush() of `rank`.
 *
 * Completion: local = the source may be reused. Of more than `mailbox_carried_max` bytes, and of
 *             what is stored ahead (PH_MAILBOX_GRANT_AHEAD), that is when the receiver has read or
 *             counted the message, or refused it. With a request: the message has landed (PH_OK),
 *             or was refused. If a message is refused whose completion was given, or that was to
 *             have none (PH_NO_LCE), one more local completion with its id and the error says so,
 *             as of a put.
 *
 * Refusals:   these come by the completion or the request.
 *
 *             - PH_ERR_NOT_FOUND: there is no such mailbox, or it was called back.
 *             - PH_ERR_ACCESS: the mailbox is for another source, or for reading.
 *             - PH_ERR_RANGE: it leaves the buffer, or overlaps what is there
 *               (PH_MAILBOX_REFUSE_OVERLAP).
 *             - PH_ERR_EPOCH: the epoch or the incarnation that it names is over.
 *             - PH_ERR_NO_BUFFER: there is no buffer for it, and it is not kept.
 *             - PH_ERR_ARGUMENT: a put to a managed mailbox, an append to a steered one, an append
 *               without bytes or with an offset.
 *             - PH_ERR_MEMORY: the receiver finds no memory for it or its ranges.
 *             - PH_ERR_DEPARTED, PH_ERR_PEER: the receiver has left, or was lost.
 *             - Any other error: the receiver could not read the source of a large message.
 *
 * Credit:     a message that is kept at its receiver for want of a buffer gives its credit back. So
 *             nothing holds up a sender that is faster than the buffers of a mailbox, until its
 *             messages reach the receiver's `mailbox_early_bytes` and are refused
 *             (PH_ERR_NO_BUFFER). Bound your messages yourself: give them requests, and let so many
 *             be without a verdict as the receiver keeps buffers for.
 *
 * Status:     these come from the call, and then nothing was sent.
 *
 *             - PH_AGAIN: `mailbox_early_bytes` are under way to that rank, or 1,024 large
 *               messages, or 1,048,576 messages, kept ones included, or `requests` operations of
 *               this rank, or there is no room. Make progress, take completions, and call again.
 *             - PH_ERR_ARGUMENT: unknown flags, a null source, a range that wraps around, PH_NO_LCE
 *               with a request or with a large message, `landed_in` without a request.
 *             - PH_ERR_RANK, PH_ERR_ID_SIZE, PH_ERR_MEMORY (of a large message also the setting
 *               `max_regions`), PH_ERR_PEER, PH_ERR_DEPARTED, PH_ERR_STATE, PH_ERR_FORKED.
 *
 * Abort:      ph_cancel() of the request asks the receiver for the message (PH_TOO_LATE: it has
 *             gone). The request ends with the verdict: PH_OK, it had landed, and counts
 *             (`landed_in`); PH_ERR_NOT_FOUND, it had not, nothing of it counts or will, and the
 *             source is yours; PH_ERR_PEER, the receiver was lost, and nobody knows. Any other
 *             error: it was refused. What PH_MAILBOX_SPLIT has begun to land goes on.
 *
 * Order:      see the promises above.
 *
 * Threads:    any. Never blocks; the bytes beyond 1 KiB of a carried message may leave in later
 *             progress of this rank.
 */
PH_API ph_status ph_mailbox_put(ph_context *context, ph_rank rank, const ph_mailbox_put_args *args);

/**
 * ph_mailbox_put() to a managed mailbox: the receiver says where it lands. The catch-all takes both
 * puts and appends.
 */
PH_API ph_status ph_mailbox_append(ph_context *context, ph_rank rank,
                                   const ph_mailbox_put_args *args);

/**
 * ph_mailbox_put() of any epoch and under PH_NO_LCE, with arguments in registers; at most
 * `mailbox_carried_max` bytes. It has no id, so a refusal is a local completion without one.
 */
PH_API ph_status ph_mailbox_put_u64(ph_context *context, ph_rank rank, uint64_t address,
                                    uint64_t offset, ph_const_block source);

/**
 * Says that so many bytes and operations will not come.
 *
 * Effect:     they count for the threshold of the current buffer, or of that of the epoch which is
 *             named, as messages would, but nothing lands. If the threshold is so reached the
 *             buffer is handed over (PH_MAILBOX_INCOMPLETE); its event says what has landed, and
 *             how much was withdrawn. What passes the threshold counts for no other epoch.
 *
 * Completion: as ph_mailbox_put() of no bytes. Its request can be called back while it waits.
 *
 * Refusals:   - PH_ERR_NOT_FOUND: there is no such mailbox; a catch-all takes none for others.
 *             - PH_ERR_ACCESS: the mailbox is for another source, or for reading.
 *             - PH_ERR_ARGUMENT: the mailbox is the catch-all.
 *             - PH_ERR_EPOCH: the epoch or the incarnation that it names is over.
 *             - PH_ERR_RANGE: it is more than the buffer's threshold, or the sums wrap around.
 *             - PH_ERR_NO_BUFFER: there is no buffer for it, and it is not kept.
 *
 * Status:     as ph_mailbox_put(); PH_ERR_ARGUMENT also where there are neither bytes nor
 *             operations.
 *
 * Order:      it has its turn among the messages of its lane to that mailbox.
 *
 * Threads:    any. Never blocks.
 */
PH_API ph_status ph_mailbox_withdraw(ph_context *context, ph_rank rank,
                                     const ph_mailbox_withdraw_args *args);

/**
 * Reads from a buffer of a mailbox of `rank`: the current one, or that of an epoch which is
 * retained or posted. All bytes are of one epoch, and of one moment where there are at most
 * `mailbox_carried_max`. Its owner copies them in its progress, so nothing reads a buffer that came
 * back.
 *
 * Effect:     where the mailbox was opened with PH_MAILBOX_READ the get counts for the threshold,
 *             as one operation and by its bytes: so an owner learns that its block was read N
 *             times. A get of more than `mailbox_carried_max` bytes is read in parts. The bytes of
 *             each part count at once, its operation with the last one. So it may reach a threshold
 *             in bytes with its first part; its rest then comes from the retained buffer, and if
 *             that is not retained it is refused (PH_ERR_EPOCH). Count operations where gets may be
 *             large. A get of a retained buffer counts nowhere.
 *
 * Ownership:  the destination is the library's until the completion; its contents are undefined
 *             after an error.
 *
 * Completion: local, or the request: the bytes are there, or why not.
 *
 * Refusals:   - PH_ERR_NOT_FOUND: there is no such mailbox; a catch-all takes none for others.
 *             - PH_ERR_ACCESS: the mailbox is for another source.
 *             - PH_ERR_RANGE: it leaves the buffer.
 *             - PH_ERR_EPOCH: the epoch is over and not retained, also in the middle of a large
 *               get, or the incarnation is.
 *             - PH_ERR_NO_BUFFER: none is posted for that epoch; a get does not wait for one.
 *             - PH_ERR_MEMORY: its owner finds none.
 *             - PH_ERR_DEPARTED, PH_ERR_PEER: its owner has left, or was lost.
 *
 * Status:     PH_AGAIN: nothing was asked for; `requests` operations of this rank are under way, or
 *             there is no room. PH_ERR_ARGUMENT (unknown flags, a null destination, a range that
 *             wraps around, PH_NO_LCE with a request), and else as ph_mailbox_put().
 *
 * Order:      none with messages: a get may read before an earlier message has landed. Wait for the
 *             request of a message that it has to see.
 *
 * Threads:    any. Never blocks. A rank asks another one for 16 parts at a time; more wait here.
 */
PH_API ph_status ph_mailbox_get(ph_context *context, ph_rank rank, const ph_mailbox_get_args *args);

#ifdef __cplusplus
}
#endif
#endif
