/**
 * Streams: bytes between two ranks in order, each once, both ways, with an end of its own for each
 * way. They stand on mailboxes (mailbox.h) and on nothing else; docs/stream.md has the states, the
 * messages and the invariants. Source of the idea: Grant, Levenhagen, Dosanjh and Widener, "RVMA:
 * Remote Virtual Memory Access", section IV.B (receiver-managed windows for sockets).
 *
 *   connecting -- the peer accepts --> open -- ph_stream_shutdown() --> half closed
 *        any -- the peer is lost, or refuses --> failed;  any -- ph_stream_close() --> gone
 *
 * Promises:
 *  - What ph_stream_write() has taken is read by the peer in that order, each byte once, unless one
 *    of the two ranks is lost or the peer closes its end first; then a later call says so.
 *  - ph_stream_read() gives all that had come, and only then the end or the error.
 *  - A reader that reads nothing holds up its writer (PH_AGAIN) after `buffers` messages, and
 *    nothing else of that rank.
 * No call blocks, but those with a timeout. For event loops: ph_event_fd() and ph_event_arm() of
 * the context (progress.h) tell of all news of streams; read and write until PH_AGAIN, arm, poll.
 * Threads: any thread may make any call, unless it says otherwise.
 */
#ifndef PHOTON_STREAM_H
#define PHOTON_STREAM_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All streams of one context or lane. */
typedef struct ph_streams ph_streams;

/** A port that connections are accepted at. */
typedef struct ph_listener ph_listener;

/** One end of a connection. */
typedef struct ph_stream ph_stream;

/** The calls that a stream is ready for. */
enum {
  /** ph_stream_read() would not say PH_AGAIN: there are bytes, the end, or an error. */
  PH_STREAM_READABLE = 1 << 0,
  /** ph_stream_write() would not say PH_AGAIN, unless other traffic takes what room there is. */
  PH_STREAM_WRITABLE = 1 << 1
};

/** Arguments of ph_streams_open(). Zero what you do not use. */
typedef struct ph_streams_args {
  size_t size;           /**< sizeof(ph_streams_args) of the caller. */
  uint32_t buffer_bytes; /**< Of one message; 0: 16 KiB; 64 to 1 MiB. More than the setting
                            `mailbox_carried_max` is not sent at once. */
  uint32_t buffers;      /**< Messages that may wait for a reader, each way; 0: 8; at most 1,024. */
  uint32_t backlog;      /**< Connections that a port holds until they are accepted; 0: 64. */
} ph_streams_args;

/**
 * Makes a context or lane ready for streams. They use mailboxes with addresses from 0x5354 << 48 to
 * 0x5355 << 48, which are not the program's.
 * Ownership: *streams is the caller's, who calls ph_streams_close() before ph_finalize().
 * Status:    PH_ERR_ARGUMENT (args out of bounds, null; `args` itself may be null), PH_ERR_MEMORY,
 *            PH_ERR_STATE, PH_ERR_FORKED.
 */
PH_API ph_status ph_streams_open(ph_context *context, const ph_streams_args *args,
                                 ph_streams **streams);

/**
 * Closes all streams and listeners, waits until nothing of theirs is under way, and frees them all,
 * `streams` included. The handles of open streams and listeners are invalid from the call on.
 * Status:  PH_TIMEOUT after timeout_us (a peer makes no progress): `streams` stays, for this call
 *          alone. After ph_finalize(), and in a forked child, it frees at once. Null is ignored.
 * Threads: no other call on its streams and listeners may be in progress or follow.
 */
PH_API ph_status ph_streams_close(ph_streams *streams, int64_t timeout_us);

/** The latest error of these streams in words; status PH_OK if none. */
PH_API void ph_streams_error(ph_streams *streams, ph_error *error);

/** Opens a port. Status: PH_ERR_STATE (it is open here), PH_ERR_ARGUMENT, PH_ERR_MEMORY. */
PH_API ph_status ph_stream_listen(ph_streams *streams, uint32_t port, ph_listener **listener);

/**
 * Closes a port. Streams that were accepted stay; who waits to be accepted hears PH_ERR_NOT_FOUND.
 * Threads: no other call on this listener may be in progress or follow.
 */
PH_API ph_status ph_listener_close(ph_listener *listener);

/**
 * Takes the connection that has waited longest. Sleeps up to timeout_us for one (0: never).
 * Ownership: *stream is the caller's: ph_stream_close().
 * Status:    PH_AGAIN (with timeout_us 0), PH_TIMEOUT, PH_ERR_MEMORY, PH_ERR_STATE, PH_ERR_FORKED.
 */
PH_API ph_status ph_stream_accept(ph_listener *listener, ph_stream **stream, int64_t timeout_us);

/**
 * Begins a connection to a port of `rank`, which may be this one. It is not open yet: reads and
 * writes say PH_AGAIN until the peer has accepted it, or PH_ERR_NOT_FOUND when nobody listens.
 * Ownership: *stream is the caller's: ph_stream_close().
 * Status:    PH_AGAIN (too much is under way to that rank), PH_ERR_RANK, PH_ERR_PEER,
 *            PH_ERR_DEPARTED, PH_ERR_MEMORY, PH_ERR_STATE, PH_ERR_FORKED.
 */
PH_API ph_status ph_stream_connect(ph_streams *streams, ph_rank rank, uint32_t port,
                                   ph_stream **stream);

/** The rank at the other end; PH_ANY_RANK of null. */
PH_API ph_rank ph_stream_peer(const ph_stream *stream);

/**
 * Reads what is there, up to size_bytes.
 * Effect: *count says how many bytes; PH_OK with 0, of a size that is not 0: the peer has ended its
 *         way, and all was read.
 * Status: PH_AGAIN: nothing is there yet. PH_ERR_PEER, PH_ERR_DEPARTED: the peer was lost, or has
 *         left without ending its way, and all that had come was read. PH_ERR_NOT_FOUND: the
 *         connection was refused. PH_ERR_PROTOCOL: what came is no stream's. PH_ERR_ARGUMENT.
 */
PH_API ph_status ph_stream_read(ph_stream *stream, void *data, size_t size_bytes, size_t *count);

/**
 * Takes as many bytes as there is room for, from the front.
 * Effect: *count says how many. They are copied: the source is the caller's.
 * Status: PH_AGAIN: none was taken; the peer has not read enough, or not accepted yet.
 *         PH_ERR_STATE: after ph_stream_shutdown(). PH_ERR_NOT_FOUND: the peer has closed its end,
 *         or refused. Others as ph_stream_read().
 */
PH_API ph_status ph_stream_write(ph_stream *stream, const void *data, size_t size_bytes,
                                 size_t *count);

/**
 * Ends our way: the peer reads all that was written, and then the end. Reading goes on. What cannot
 * go at once goes with later calls. Status: PH_ERR_STATE: it was ended. As ph_stream_write().
 */
PH_API ph_status ph_stream_shutdown(ph_stream *stream);

/**
 * Sleeps until the stream is ready for one of `wanted`; *ready (may be null) says for which.
 * Status: PH_TIMEOUT after timeout_us (0: one look; PH_FOREVER), PH_ERR_ARGUMENT, PH_ERR_STATE.
 *         The loss of a peer makes its streams ready, at the latest 10 ms after it is known.
 */
PH_API ph_status ph_stream_wait(ph_stream *stream, uint32_t wanted, uint32_t *ready,
                                int64_t timeout_us);

/**
 * Closes our end: the peer reads all that was written, and then the end; what it writes after that
 * is refused. What is under way goes on with calls of these streams and with ph_streams_close().
 * Null is ignored. Threads: no other call on this stream may be in progress or follow.
 */
PH_API ph_status ph_stream_close(ph_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
