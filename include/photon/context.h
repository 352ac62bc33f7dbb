/**
 * Joining and leaving a job. A context is one rank; several in one process are several ranks.
 * There is no global state: every call names its context.
 *
 *   create -> [running] -- ph_finalize --> [finalized] -- ph_context_destroy --> gone
 */
#ifndef PHOTON_CONTEXT_H
#define PHOTON_CONTEXT_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How ranks find each other when no launcher does it. Both callbacks return 0 for success, are
 * collective over the job, and are called only inside ph_context_create(), ph_allgather(),
 * ph_barrier(), from the calling thread. They make no call of that context, whose peers a thread of
 * Photon's serves meanwhile, and end the process, if at all, by _exit() or a signal.
 */
typedef struct ph_bootstrap {
  void *user;    /**< Handed to the callbacks. */
  ph_rank rank;  /**< This rank, below `size`. */
  uint32_t size; /**< Ranks in the job, at least 1. */
  /** Gather size_bytes from every rank into `all` (size * size_bytes, in rank order). */
  int (*allgather)(void *user, const void *mine, void *all, size_t size_bytes);
  /** Return when every rank has called. */
  int (*barrier)(void *user);
} ph_bootstrap;

/** One setting by name, e.g. {"ledger_slots", "128"}; names and meanings: ph_setting_at(). */
typedef struct ph_option {
  const char *name;
  const char *value;
} ph_option;

/**
 * What ph_context_create() may be told. Set `size` to sizeof(ph_config) and the rest to zero for
 * defaults. Precedence of a setting: `options` here, then the environment PHOTON_<NAME>, then the
 * built-in default.
 */
typedef struct ph_config {
  size_t size;                   /**< sizeof(ph_config) of the caller. */
  const ph_bootstrap *bootstrap; /**< Null: the launcher's environment, else a job of one rank. */
  const ph_option *options;      /**< May be null. Read during the call only. */
  size_t options_count;
} ph_config;

/**
 * Join the job.
 * Effect:     *context becomes a running rank. Under photonrun the launcher says who we are; with
 *             `bootstrap` the callbacks do; otherwise the job has one rank. Peers are contacted
 *             only when first used. Under photonrun a process is one rank, and has one context from
 *             the launcher at a time; when that was finalized (destroyed is not enough), it may
 *             create the next, as a rank of a new job of all those that do so; what is sent to one
 *             that has not done so yet waits for it.
 * Ownership:  the context is the caller's: ph_finalize(), then ph_context_destroy().
 * Status:     PH_ERR_CONFIG (a setting's name or value), PH_ERR_BOOTSTRAP (no launcher answer,
 *             ranks disagree on settings or versions), PH_ERR_MEMORY, PH_ERR_SYSTEM,
 *             PH_ERR_ARGUMENT. On failure *context is null and *error (may be null) says why.
 * Threads:    any; blocks for the exchange; allocates.
 */
PH_API ph_status ph_context_create(const ph_config *config, ph_context **context, ph_error *error);

/**
 * Leave the job: complete every accepted operation, tell the peers, release connections.
 * Effect:     no new operation is accepted; what was accepted is delivered, as long as its peers
 *             live and make progress; a peer that takes nothing for `finalize_timeout_ms` is given
 *             up. Needs no barrier.
 *             Completions not yet probed are discarded. ph_alloc() memory is released. Puts to a
 *             rank that had not yet answered our first contact are checked by that rank: finalize
 *             waits for its verdict, within the same time; none by then is no error.
 * Status:     PH_OK; PH_ERR_... (an accepted operation failed and its error was never probed: the
 *             status is its own, but for PH_ERR_DEPARTED: peers leave when they like; or what had
 *             gone to a rank that was lost, and may live, may not have arrived, and no ph_flush()
 *             said so); PH_TIMEOUT (peers did not take what was sent, or, by ofi, did not say that
 *             they have it: the error says who and how much); PH_ERR_STATE (already finalized);
 *             PH_ERR_FORKED.
 * Threads:    one caller; other threads' calls then return PH_ERR_STATE, those on lanes (lane.h) of
 *             the context too. Blocks.
 */
PH_API ph_status ph_finalize(ph_context *context);

/**
 * Free the handle. Null is ignored. A context still running is dropped without draining: its
 * peers see it die. In a forked child only the child's copy of the handle is freed.
 * Threads: no other call on this context may be in progress or follow.
 */
PH_API void ph_context_destroy(ph_context *context);

/** This rank's number; PH_ANY_RANK for a null context. Any thread, never blocks. */
PH_API ph_rank ph_rank_of(const ph_context *context);

/** Ranks in the job; 0 for a null context. Any thread, never blocks. */
PH_API uint32_t ph_size_of(const ph_context *context);

/**
 * Gather `size_bytes` (at most 64 KiB) from every rank into `all`, in rank order; for set-up
 * (exchanging regions), not for speed. Collective; one thread a rank calls it, and no other call of
 * that context gets in before it returns. Blocks, and serves peers meanwhile: while a
 * callback runs, a thread of Photon's does (a process that may start none serves no one then).
 * Status: PH_OK, PH_ERR_ARGUMENT, PH_ERR_BOOTSTRAP, PH_ERR_STATE, PH_ERR_FORKED.
 */
PH_API ph_status ph_allgather(ph_context *context, const void *mine, void *all, size_t size_bytes);

/** Return when every rank of the job has called. As ph_allgather() otherwise. */
PH_API ph_status ph_barrier(ph_context *context);

/**
 * The latest error in this context, whichever thread met it; status PH_OK if none. Those of calls
 * that a handler makes (ph_echo_listen()) can be asked for until it returns: then the one before
 * them is the latest again, so that the call that ran the handler keeps its own.
 */
PH_API void ph_last_error(const ph_context *context, ph_error *error);

/** A setting: one row of the table that yields options, environment and documentation. */
typedef struct ph_setting {
  size_t size;             /**< Set by the caller: sizeof(ph_setting). */
  const char *name;        /**< As in ph_option; the variable is PHOTON_ + upper case. */
  const char *environment; /**< The variable's name. */
  const char *help;        /**< One sentence with the unit. */
  const char *origin;      /**< "default", "environment", "option", "derived". */
  char value[64];          /**< In force. */
} ph_setting;

/**
 * The setting number `index`, 0 upward; PH_ERR_NOT_FOUND past the end. With a null context the
 * values are what a context created now, without options, would use.
 * Strings are static or owned by the library; any thread.
 */
PH_API ph_status ph_setting_at(const ph_context *context, size_t index, ph_setting *setting);

/** How a peer is reached, and why so. */
typedef struct ph_path {
  size_t size;           /**< Set by the caller: sizeof(ph_path). */
  const char *transport; /**< "shm", "tcp", "sim", "self": of this peer. */
  const char *state;     /**< "unknown", "connecting", "connected", "departed", "dead". */
  int same_process;      /**< Direct copies are plain memcpy. */
  int cma;               /**< process_vm_readv/writev to this peer was tried and works. */
  int arena_mapped;      /**< Its ph_alloc memory is mapped here. */
  char reason[256];      /**< Why each path was or was not chosen, in words. */
} ph_path;

/** Describe the path to `rank`. Status: PH_OK, PH_ERR_RANK, PH_ERR_ARGUMENT, PH_ERR_STATE. */
PH_API ph_status ph_path_to(ph_context *context, ph_rank rank, ph_path *path);

/** What is known of a peer. */
typedef enum ph_contact_state {
  PH_PEER_UNKNOWN = 0,    /**< Never met, and nothing was heard of its end. */
  PH_PEER_CONNECTING = 1, /**< Contact was made here, and the peer has not answered yet. */
  PH_PEER_CONNECTED = 2,  /**< Both have met. */
  PH_PEER_DEPARTED = 3,   /**< It has finalized, or closed this lane. */
  PH_PEER_DEAD = 4        /**< It ended without a word, or it was cut off. */
} ph_contact_state;

/**
 * Make first contact with `rank` without sending anything, so that this rank hears of its end: no
 * id is posted, and nothing completes.
 * Effect:    PH_OK says that the link was made or existed; whether the peer has answered
 *            ph_peer_state() tells after probes of both. A rank that was contacted hears our
 *            bye when we finalize, and its end is an error of a wait for it alone.
 * Status:    PH_OK, PH_ERR_RANK, PH_ERR_PEER and PH_ERR_DEPARTED (it has ended), PH_ERR_NOT_FOUND
 *            (its address is not known here: ph_connect() takes it), PH_ERR_MEMORY, PH_ERR_SYSTEM,
 *            PH_ERR_STATE, PH_ERR_FORKED.
 * Threads:   any. Never blocks; allocates at the first contact. Contact is a lane's own (lane.h).
 */
PH_API ph_status ph_contact(ph_context *context, ph_rank rank);

/**
 * Tells what this lane knows of `rank` now: the state that ph_path_to() tells in words. Makes no
 * progress: it changes with probes, waits and other calls that do. The end of a rank that was never
 * met need not be known; ph_contact() has it told.
 * Status:    PH_OK, PH_ERR_RANK, PH_ERR_ARGUMENT (state is null), PH_ERR_STATE, PH_ERR_FORKED.
 * Threads:   any. Never blocks; allocates nothing but the words of an error.
 */
PH_API ph_status ph_peer_state(ph_context *context, ph_rank rank, ph_contact_state *state);

#ifdef __cplusplus
}
#endif
#endif
