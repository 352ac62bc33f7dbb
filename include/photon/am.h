/**
 * Active messages: a handler, named by a number, runs where the message arrives.
 * Source of the idea: Zhao, Buntinas, Zounmevo, Dinan, Goodell, Balaji, Thakur, Afsahi and Gropp,
 * "Towards Asynchronous and MPI-Interoperable Active Messages", sections III.B (a large message is
 * handled part by part while the rest comes), IV and VI. docs/active-messages.md says what was
 * chosen, and why.
 *
 *   sender: accepted -- the target has a slot free --> sent -- its handler has returned --> over
 *                    -- none, or others wait --> queued -- a slot --> sent
 *           any -- the target is lost --> over, with PH_ERR_PEER or PH_ERR_DEPARTED
 *   target: arrived -- header handler --> over                     (it used the payload in place)
 *                                     --> lands -- all is there --> completion handler --> over
 *
 * Promises:
 *  - A message is handled once, or its sender's rank is lost to the target, or either has left.
 *  - Header handlers of one lane of one source begin in the order in which it sent. Completion
 *    handlers come when their bytes are there, those of one message in the order of its bytes.
 *  - Two handlers of one lane never run at the same time, whichever threads run them; what one has
 *    written the next one sees. Lanes are independent: for handlers in parallel, open lanes.
 *  - Handlers run without any lock of the library, in calls of the target that make progress on
 *    that lane: probe, test, wait, flush, the taking of mailbox events and the like, ph_am_poll(),
 *    ph_am_quiesce(), ph_am_unregister(). With the setting am=threaded they run in the progress
 *    thread as well, while the caller is silent. Posting never runs a handler.
 *
 * In a handler of a lane these are allowed on that lane: sending, replying, put, get, notify, all
 * other calls that post, and probe and test, which then run no handler. Calls that wait,
 * ph_am_quiesce_begin(), ph_am_unregister(), ph_barrier(), ph_allgather(), closing the lane and
 * finalizing return PH_ERR_STATE. A handler must not let a C++ exception out: the process ends with
 * a message that names the id.
 *
 * Errors of a message that was accepted (docs/active-messages.md, "Ends and errors"): nobody has
 * registered the id (PH_ERR_NOT_FOUND; register before a barrier), a handler returned an error, a
 * landing was wrong. With PH_DELIVERED they are the status of its completion; without, a late
 * completion brings them: PH_LOCAL, with the local id, or with id 0 if the message had none.
 *
 * Threads: any thread may make any of these calls. None blocks but ph_am_quiesce() and
 * ph_am_unregister(). Each may also say PH_ERR_STATE (no context, or a finalized one) and
 * PH_ERR_FORKED. Calls that name a rank may say PH_ERR_RANK, PH_ERR_PEER, PH_ERR_DEPARTED,
 * PH_ERR_PROTOCOL and PH_ERR_NOT_FOUND, as any first contact. Structs that are passed are the
 * caller's again on return.
 */
#ifndef PHOTON_AM_H
#define PHOTON_AM_H

#include "request.h"
#include "rma.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PH_AM_MAX_ID = 65535,
  PH_AM_SMALL_BYTES = 48,    /**< Most that ph_am_send_small() takes. */
  PH_AM_HEADER_BYTES = 4096, /**< Longest header. */
  PH_AM_BLOCKS = 1024        /**< Most blocks of a payload, or of a landing. */
};

/** Flag: a reply is wanted. Its sender reserves the room for it, so it can never be refused. */
#define PH_AM_REPLY 0x100000U

/**
 * Flag: the message may wait for others to the same rank and go with them (aggregation). It goes
 * when `am_aggregate_bytes` are full, `am_aggregate_us` microseconds after the first of them (as
 * seen by the next call that makes progress, or by the progress thread), before any other message
 * to that rank, and before anything sleeps: wait, flush, quiesce, finalize. A permission, not an
 * order: a message that wants a reply, PH_DELIVERED or much room goes at once.
 */
#define PH_AM_MAY_WAIT 0x200000U

/** ph_am_message: this is a reply. */
#define PH_AM_IS_REPLY 0x400000U

/** ph_am_landing: the payload is not wanted: `done` is called once, with all of its size. */
#define PH_AM_DROP 0x800000U

/** ph_am_landing: the buffer is a ring of chunks, filled again and again (see there). */
#define PH_AM_CYCLE 0x1000000U

/** ph_am_poll(): by a thread whose lane it is not, if nobody is inside. */
#define PH_AM_VISIT 0x2000000U

/**
 * A message, as its handlers see it. It is the library's, and means something only inside the
 * handler that was called with it.
 */
typedef struct ph_am_message {
  size_t size;         /**< sizeof(ph_am_message) of the library: later versions may have more. */
  ph_context *context; /**< The lane on which it came. */
  ph_rank source;
  uint32_t id;
  uint32_t flags;         /**< PH_AM_REPLY: a reply is wanted. PH_AM_IS_REPLY. */
  uint32_t header_bytes;  /**< 0 in a completion handler. */
  const void *header;     /**< At a multiple of 8. Until its header handler returns. */
  uint64_t immediate;     /**< 0 if none was sent. */
  const void *payload;    /**< At a multiple of 8; until its header handler returns. Null: it is
                               not here (nor in a completion handler), and a landing is needed. */
  uint64_t payload_bytes; /**< Of the whole payload, here or not. */
} ph_am_message;

/** What a completion handler is told of. */
typedef struct ph_am_part {
  uint64_t offset;     /**< In the payload. */
  uint64_t size_bytes; /**< 0 if status is an error. */
  void *data;          /**< Where it lies; null where the landing has several blocks, or dropped. */
  ph_status status;    /**< PH_OK, or why the rest of the payload will not come. */
  int is_last;         /**< Not 0: the landing is the application's again, and no call follows. */
} ph_am_part;

/**
 * A completion handler: the bytes of that part are in the landing. It is called for each part, in
 * order, and exactly once with is_last, also when the source dies, the payload's memory is gone or
 * the landing was wrong (then with an error). It returns PH_OK, or an error, which the sender
 * hears; if that was not the last part it is called once more, with is_last and its own error, when
 * nothing writes to the landing any more. It may reply to `message`.
 * When the lane is closed no handler runs: what had not landed then is dropped without a call, and
 * the landing is the application's again when the close has returned.
 */
typedef ph_status (*ph_am_done)(void *argument, const ph_am_message *message,
                                const ph_am_part *part);

/**
 * Where a payload shall land. The library hands it empty to the header handler; one that is left
 * so says: I have used the payload in place. Either `buffer`, or `blocks`, or PH_AM_DROP; of a
 * payload of no bytes `done` alone is enough, and is called.
 * Sum:       buffer_bytes, or that of all blocks, is at least payload_bytes. Else the message ends
 *            with PH_ERR_RANGE; with PH_ERR_ARGUMENT where the payload is not here and no landing
 *            is named, where a pointer is null, or where several are named. `done`, if it is named,
 *            is called once with that error, and the sender hears the error, too.
 * Parts:     chunk_bytes 0: `done` is called once, when all is there. Else after each part of so
 *            many bytes (the last may have less), while several of those behind it are under way.
 * PH_AM_CYCLE: `buffer` holds 2 to 65,536 whole chunks, and chunk i lands in place i modulo their
 *            number: it may be smaller than the payload. A place is filled again when `done` has
 *            returned for the chunk that lay there.
 * Ownership: the memory is the library's until `done` was called with is_last; it needs no
 *            registration. The list of blocks is read when the header handler has returned, so it
 *            must not lie on its stack; it may change from the next call of any handler on.
 */
typedef struct ph_am_landing {
  size_t size;    /**< sizeof(ph_am_landing) of the library, which sets it. */
  uint32_t flags; /**< PH_AM_DROP, PH_AM_CYCLE. */
  uint32_t blocks_count;
  void *buffer;
  uint64_t buffer_bytes;
  const ph_block *blocks;
  uint64_t chunk_bytes;
  ph_am_done done; /**< May be null. */
  void *argument;  /**< Of `done`. */
} ph_am_landing;

/**
 * A header handler. It returns PH_OK, or an error, which the sender hears (a positive status counts
 * as PH_ERR_ARGUMENT); then the landing is ignored. What it sees of the message ends when it
 * returns, and with that the slot which the message holds is free for its sender.
 */
typedef ph_status (*ph_am_handler)(void *user, const ph_am_message *message,
                                   ph_am_landing *landing);

/** What ph_am_send() and ph_am_reply() take. Zero what you do not use. */
typedef struct ph_am_args {
  size_t size; /**< sizeof(ph_am_args) of the caller. */
  uint32_t id;
  uint32_t flags;               /**< PH_NO_LCE, PH_DELIVERED, PH_AM_REPLY, PH_AM_MAY_WAIT. */
  const void *header;           /**< May be null if header_bytes is 0. */
  size_t header_bytes;          /**< At most PH_AM_HEADER_BYTES. */
  uint64_t immediate;           /**< Handed over as it is. */
  const void *payload;          /**< One block; or null and `blocks`. */
  size_t payload_bytes;         /**< Of `payload`. */
  const ph_const_block *blocks; /**< The payload is these, one behind the other. */
  size_t blocks_count;          /**< At most PH_AM_BLOCKS; none may be null and have bytes. */
  ph_id local;
  ph_request *request; /**< As in ph_put_args. */
} ph_am_args;

/** A span to be filled: ph_am_prepare(). Plain data; copies of it name the same slot. */
typedef struct ph_am_slot {
  ph_context *context;
  void *data;          /**< At a multiple of 64. */
  uint64_t size_bytes; /**< As much may be filled. */
  uint64_t token;
  ph_rank rank;
} ph_am_slot;

/**
 * From now on `handler` runs for messages with that id which come to this lane.
 * Effect:    local: every rank registers its own. A message that finds no handler when its turn
 *            comes is refused, so register on all ranks before a barrier, and then send.
 * Ownership: whatever `user` points to stays until ph_am_unregister() has returned, or the lane is
 *            closed.
 * Status:    PH_ERR_ARGUMENT (null handler, id over PH_AM_MAX_ID), PH_ERR_STATE (the id is taken),
 *            PH_ERR_MEMORY.
 * Threads:   any; also from a handler.
 */
PH_API ph_status ph_am_register(ph_context *context, uint32_t id, ph_am_handler handler,
                                void *user);

/**
 * The handler of that id runs no more.
 * Effect:  messages that have not begun are refused from now on (PH_ERR_NOT_FOUND at their sender).
 *          Returns when the handler does not run and no completion handler that it has named is
 *          still to be called. Serves the peers, and runs other handlers, meanwhile.
 * Status:  PH_ERR_ARGUMENT (id over PH_AM_MAX_ID), PH_ERR_NOT_FOUND (nobody is registered; another
 *          thread unregisters it), PH_ERR_STATE (called in a handler of this lane: nothing was
 *          done).
 * Threads: any, outside handlers of this lane. Blocks as long as those handlers run.
 */
PH_API ph_status ph_am_unregister(ph_context *context, uint32_t id);

/**
 * Sends a message whose payload has at most PH_AM_SMALL_BYTES: the fast path, one line.
 * Ownership:  the bytes are copied at the call.
 * Completion: none. An error that the target finds comes as a late completion with id 0.
 * Status:     PH_OK: accepted. PH_AGAIN: nothing was sent: as ph_am_send(). PH_ERR_ARGUMENT (id
 *             over PH_AM_MAX_ID, too many bytes, null with bytes), PH_ERR_MEMORY: as ph_am_send().
 * Threads:    any. Never blocks; allocates only where it queues. Order: that of the calls, with
 *             ph_am_send(), ph_am_commit() and ph_am_reply() to the same rank.
 */
PH_API ph_status ph_am_send_small(ph_context *context, ph_rank rank, uint32_t id,
                                  ph_const_block bytes);

/**
 * Sends a message.
 * Effect:     the header, and a payload of up to `am_carried_max` bytes, are copied at the call.
 *             The library tells the target of a larger payload. The target reads it from this
 *             rank's memory when its
 *             header handler has named a landing. The memory needs no registration: where none
 *             covers it, one is made until then.
 * Ownership:  the header is yours on return; so is a payload that was copied. A larger one is lent
 *             until the local completion.
 * Completion: local = the payload may be reused. PH_DELIVERED: its header handler has returned, and
 *             its completion handler, if it has named one, for the last time; the status is theirs.
 *             PH_NO_LCE: of a payload that is lent only ph_am_quiesce() tells. ph_flush() does not
 *             wait for messages that queue here, nor for handlers.
 * Status:     PH_AGAIN (nothing was sent): outside handlers, when `requests` messages queue to that
 *             rank, or half of `am_queue_bytes` is used, or, of a message that has a completion or
 *             is read from here, when `requests` operations are under way. In a handler of this
 *             lane a message queues in these cases, and PH_ERR_MEMORY says that `am_queue_bytes`
 *             are used up. With PH_AM_REPLY: also when `am_slots` replies of that rank are still
 *             to come; in a handler each further one takes `am_carried_max` + 4,096 bytes of
 *             `am_queue_bytes`.
 *             PH_ERR_ARGUMENT (args null or of another size, id over PH_AM_MAX_ID, an unknown flag,
 *             a header over PH_AM_HEADER_BYTES, too many blocks, a null pointer with bytes, sizes
 *             whose sum wraps around, `payload` and `blocks` both, a request with PH_NO_LCE),
 *             PH_ERR_ID_SIZE, PH_ERR_MEMORY (also: `max_regions`).
 * Cancel:     ph_cancel() says PH_TOO_LATE.
 * Threads:    any. Never blocks. Order: as ph_am_send_small().
 */
PH_API ph_status ph_am_send(ph_context *context, ph_rank rank, const ph_am_args *args);

/**
 * Gives a span to fill with a payload, in the ring to that rank where it can, so that the bytes are
 * written where the target reads them (negotiated payload).
 * Effect:    slot->size_bytes is from `least` to `most`; the span is in private memory where the
 *            ring has not so much room now. One slot is open per rank. Until ph_am_commit() or
 *            ph_am_cancel() everything that this rank sends to that one through the bulk ring
 *            waits, answers to its gets included; records of lines go on. So hold a slot briefly.
 *            The message counts as sent, and takes its place in the order, at commit.
 * Ownership: the span is yours to write until commit or cancel, also when that rank is lost.
 * Status:    PH_AGAIN (a slot is open to that rank), PH_ERR_ARGUMENT (slot null; least 0, over most
 *            or over `am_carried_max`), PH_ERR_MEMORY. slot->data is null then.
 * Threads:   any; the span may be filled without a lock, by any thread. Never blocks.
 */
PH_API ph_status ph_am_prepare(ph_context *context, ph_rank rank, uint64_t least, uint64_t most,
                               ph_am_slot *slot);

/**
 * Sends what was filled: the first size_bytes of the span, which may be 0, behind a header.
 * Effect:  the slot is closed, whatever the status, but for PH_AGAIN and PH_ERR_ARGUMENT.
 * Status:  PH_AGAIN and PH_ERR_MEMORY as ph_am_send(); PH_ERR_ARGUMENT (slot null, more bytes than
 *          the span has, id over PH_AM_MAX_ID, a header over PH_AM_HEADER_BYTES), PH_ERR_STATE (it
 *          was committed or cancelled before, or was never given), PH_ERR_PEER, PH_ERR_DEPARTED,
 *          PH_ERR_PROTOCOL: that rank is lost, and nothing was sent.
 * Threads: one for each slot. Order: as ph_am_send_small().
 */
PH_API ph_status ph_am_commit(const ph_am_slot *slot, uint32_t id, ph_const_block header,
                              uint64_t size_bytes);

/**
 * Closes a slot of which nothing shall be sent. PH_ERR_STATE: it was closed before. A slot that is
 * still open when its lane closes is cancelled then, and the close says PH_ERR_STATE.
 */
PH_API ph_status ph_am_cancel(const ph_am_slot *slot);

/**
 * Answers a message that was sent with PH_AM_REPLY, from its header handler or one of its
 * completion handlers: a message to its source, whose header handler sees PH_AM_IS_REPLY.
 * Effect:  as ph_am_send() to message->source. Once for a message. A message whose last handler
 *          returns without a reply has none; its source's room is free then.
 * Status:  never PH_AGAIN, and never PH_ERR_MEMORY for want of `am_queue_bytes`. PH_ERR_ARGUMENT
 *          (as ph_am_send(); PH_AM_REPLY in args), PH_ERR_STATE (outside the handlers of `message`,
 *          none was wanted, or it was replied to), PH_ERR_PEER and the like: it is gone.
 * Threads: the one that runs the handler.
 */
PH_API ph_status ph_am_reply(const ph_am_message *message, const ph_am_args *args);

/**
 * Makes progress, and runs the handlers that are due. `flags`: 0 or PH_AM_VISIT.
 * Effect:  with PH_AM_VISIT for a thread that looks after a lane whose own thread computes: the
 *          lane stays that thread's, which enters it as fast as before. If somebody is inside,
 *          nothing is done (PH_AGAIN), and that is cheap. A visit that finds nobody costs a barrier
 *          of all threads of the process, some microseconds, so it is for whoever has nothing else
 *          to do. After handlers it waits for whoever has come inside meanwhile: for the call that
 *          is under way, or for a turn of another thread's; during a collective asleep.
 *          Handlers that post on this lane in a visit enter it as any other thread does: then it is
 *          shared, and may stay so.
 * Order:   peers that have met in shared memory are served in turns. The call looks for peers that
 *          have not been met yet, and for peers behind a connection (tcp, ofi), once in 256 calls
 *          or more often, whatever time these take, so that PH_AGAIN does not say that nothing has
 *          come. A program that polls rarely polls many times in a row, or sets `am` to threaded.
 * Status:  PH_OK: a handler ran. PH_AGAIN: none did (in a handler: always). PH_ERR_ARGUMENT,
 *          PH_ERR_MEMORY, PH_ERR_STATE, PH_ERR_FORKED.
 * Threads: any. Takes as long as the handlers that it runs.
 */
PH_API ph_status ph_am_poll(ph_context *context, uint32_t flags);

/**
 * Waits until all messages that any rank has sent on this lane before its call, and all that
 * handlers have sent because of them, were handled: replies, aggregates, queued and pulled ones
 * included. Collective over all ranks of the lane. Source: F. Mattern, "Algorithms for distributed
 * termination detection", 1987 (four counters).
 * Effect:  serves the peers and runs handlers meanwhile. Of a message that was refused its end is
 *          the refusal. Messages that threads send during the call may be waited for, or not.
 * Status:  PH_TIMEOUT after timeout_us microseconds (0: one look; PH_FOREVER: never): it is still
 *          under way, and the next call goes on with it. PH_ERR_PEER, PH_ERR_DEPARTED,
 *          PH_ERR_PROTOCOL: a rank is lost, which ph_last_error() names; all ranks hear so that are
 *          not through, and later calls on this lane say the same. PH_ERR_STATE: in a handler; one
 *          of ph_am_quiesce_begin() is under way.
 * Threads: one at a time for a lane.
 */
PH_API ph_status ph_am_quiesce(ph_context *context, int64_t timeout_us);

/**
 * The same without waiting: *request is over when all was handled.
 * Status:  PH_AGAIN (`requests` operations are under way), PH_ERR_ARGUMENT (request null),
 *          PH_ERR_STATE (in a handler; another one is under way), PH_ERR_PEER and the like as
 *          above. Cancel: PH_TOO_LATE.
 */
PH_API ph_status ph_am_quiesce_begin(ph_context *context, ph_request *request);

#ifdef __cplusplus
}
#endif
#endif
