/**
 * The calls of the classic API. All return a status unless they say otherwise; before photon_init()
 * and after photon_finalize() that is PHOTON_ERROR_NOINIT, and the first such call of a process
 * says so on stderr. Any thread may make any call.
 */
#ifndef PHOTON_COMPAT_PHOTON_API_H
#define PHOTON_COMPAT_PHOTON_API_H

#include <stdint.h>

#include "photon_atomics.h"
#include "photon_attributes.h"
#include "photon_collectives.h"
#include "photon_config.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Statuses. */
#define PHOTON_OK 0x0000
#define PHOTON_ERROR_NOINIT 0x0001
#define PHOTON_ERROR 0x0002
#define PHOTON_ERROR_RESOURCE 0x0004 /* nothing was started: probe, then call again */
#define PHOTON_SHUTDOWN 0x0008

/** Kinds of ledger of photon_probe_ledger(). */
#define PHOTON_SEND_LEDGER 0x0000 /* send buffers and send requests that peers announced */
#define PHOTON_RECV_LEDGER 0x0001 /* receive buffers that peers announced */

/** Flags of requests. */
#define PHOTON_REQ_NIL 0x0000
#define PHOTON_REQ_COMPLETED 0x0001
#define PHOTON_REQ_PWC_NO_LCE 0x0002
#define PHOTON_REQ_PWC_NO_RCE 0x0004
/* Not libphoton's. A get's local id waits until the owner's ledger has taken the remote one. */
#define PHOTON_REQ_PWC_NOTICE 0x0008
#define PHOTON_AMO_FADD 0x0001
#define PHOTON_AMO_CSWAP 0x0002

/** Flags of photon_probe_completion(). */
#define PHOTON_PROBE_ANY 0xffff
#define PHOTON_PROBE_EVQ 0x0001    /* local ids */
#define PHOTON_PROBE_LEDGER 0x0002 /* remote ids */

#define PHOTON_ANY_TAG (-1)
#define PHOTON_ANY_SOURCE (-1)
#define PHOTON_ANY_SIZE (-1)

/** Names an operation until it was taken; 0 names none. */
typedef uint64_t photon_rid;

/** A completion id by value: `u64` if size is 0, else `size` bytes at `data`. */
typedef struct photon_cid_t {
  PHOTON_EXTENSION union {
    uint64_t u64;
    void *data;
  };
  uint32_t size;
} photon_cid;

typedef union photon_addr_t {
  uint8_t raw[16];
  unsigned long s_addr;
  struct {
    uint64_t prefix;
    uint64_t proc_id;
  } global;
  struct {
    uint32_t blk0;
    uint32_t blk1;
    uint32_t blk2;
    uint32_t blk3;
  } blkaddr;
} photon_addr;

struct photon_status_t {
  union photon_addr_t src_addr;
  photon_rid request;
  uint64_t size;
  int tag;
  int count;
  int error;
};

/** What opens registered memory to peers. Plain data: its owner sends it to them. */
struct photon_buffer_priv_t {
  uint64_t key0;
  uint64_t key1;
};

struct photon_buffer_t {
  uintptr_t addr;
  uint64_t size;
  struct photon_buffer_priv_t priv;
};

typedef union photon_addr_t *photonAddr;
typedef struct photon_status_t *photonStatus;
typedef struct photon_buffer_priv_t *photonBufferPriv;
typedef struct photon_buffer_t *photonBuffer;

/** 1 between photon_init() and photon_finalize(), else 0: a truth value and no status. */
PHOTON_API int photon_initialized(void);

/**
 * *seconds since the epoch, by the system's clock, to a microsecond or better. Needs no session.
 * The underscore is Fortran's, which calls with addresses.
 * Status: PHOTON_ERROR for a null address.
 */
PHOTON_API int photon_gettime_(double *seconds);

/**
 * Join the job. Collective.
 * Effect:  as docs/classic.md says which fields of *cfg count; *cfg is not kept. A second call
 *          warns and is PHOTON_OK. In a fork's child there is no session, and this opens its own.
 * Status:  PHOTON_ERROR (stderr says why).
 * Threads: one. Blocks for the exchange.
 */
PHOTON_API int photon_init(photonConfig cfg);

/**
 * Take an operation back if nothing of it has gone, or forget one that is over.
 * Status: PHOTON_ERROR for an unknown rid, and for one on its way: it stays.
 */
PHOTON_API int photon_cancel(photon_rid request, int flags);

/**
 * Leave the job; photon_init() may follow. A program may also end without it, or call it in the
 * destructor of a global.
 */
PHOTON_API int photon_finalize(void);

/**
 * Open memory to peers. Calls for the same range are counted; ranges may nest and overlap.
 * Ownership: the caller's; it has to stay mapped until the last photon_unregister_buffer().
 */
PHOTON_API int photon_register_buffer(void *buf, uint64_t size);

/**
 * Take one registration of just this range back; others around or within it stay.
 * Status: PHOTON_ERROR: this range was not registered. PHOTON_ERROR_RESOURCE: a stopped peer holds
 *         a copy open: keep the memory, and call again.
 */
PHOTON_API int photon_unregister_buffer(void *buf, uint64_t size);

/**
 * The keys of the smallest registration that contains the range.
 * Ownership: *pbuf is the library's, valid until that registration is taken back.
 * Status:    PHOTON_ERROR, and *pbuf null, if there is none.
 */
PHOTON_API int photon_get_buffer_private(void *buf, uint64_t size,
                                         const struct photon_buffer_priv_t **pbuf);

/**
 * The peer's buffer that a rid of photon_wait_recv_buffer_rdma() and the like stands for.
 * What it says of a small send buffer serves gets of this rank alone.
 */
PHOTON_API int photon_get_buffer_remote(photon_rid request, photonBuffer ret_buf);

/**
 * Rendezvous: announce a buffer (post), meet one (wait), move bytes (os), say so (FIN).
 * The owner's rid is over on the peer's FIN; the peer's when what it has moved is there, and it is
 * gone when that was told and its FIN was sent (PHOTON_REQ_COMPLETED: at once).
 * Wildcards: PHOTON_ANY_SOURCE, PHOTON_ANY_SIZE, negative tags where a buffer is waited for.
 * Returns:   photon_wait_send_request_rdma(): the rank that wants to send, or -1.
 * Status:    PHOTON_ERROR also if the peer has left or is lost; the waits end then.
 *            PHOTON_ERROR_RESOURCE: nothing was started; test or wait, then call again.
 */
PHOTON_API int photon_post_recv_buffer_rdma(int proc, void *ptr, uint64_t size, int tag,
                                            photon_rid *request);
PHOTON_API int photon_post_send_buffer_rdma(int proc, void *ptr, uint64_t size, int tag,
                                            photon_rid *request);
PHOTON_API int photon_post_send_request_rdma(int proc, uint64_t size, int tag, photon_rid *request);
PHOTON_API int photon_wait_recv_buffer_rdma(int proc, uint64_t size, int tag, photon_rid *request);
PHOTON_API int photon_wait_send_buffer_rdma(int proc, uint64_t size, int tag, photon_rid *request);
PHOTON_API int photon_wait_send_request_rdma(int tag);
PHOTON_API int photon_post_os_put(photon_rid request, int proc, void *ptr, uint64_t size, int tag,
                                  uint64_t r_offset);
PHOTON_API int photon_post_os_get(photon_rid request, int proc, void *ptr, uint64_t size, int tag,
                                  uint64_t r_offset);
PHOTON_API int photon_send_FIN(photon_rid request, int proc, int flags);

/**
 * Write, or read, memory of `proc`; *request (may be null: nobody asks) is over when the bytes are
 * there. The v forms move nbuf pieces under one rid.
 * Status: PHOTON_ERROR_RESOURCE: nothing was started; probe, then call again.
 */
PHOTON_API int photon_post_os_put_direct(int proc, void *ptr, uint64_t size, photonBuffer rbuf,
                                         int flags, photon_rid *request);
PHOTON_API int photon_post_os_get_direct(int proc, void *ptr, uint64_t size, photonBuffer rbuf,
                                         int flags, photon_rid *request);
PHOTON_API int photon_post_os_putv_direct(int proc, void *ptr[], uint64_t size[],
                                          photonBuffer rbuf[], int nbuf, int flags,
                                          photon_rid *request);
PHOTON_API int photon_post_os_getv_direct(int proc, void *ptr[], uint64_t size[],
                                          photonBuffer rbuf[], int nbuf, int flags,
                                          photon_rid *request);

/**
 * Write lbuf to rbuf of `proc`, then post `remote` to its ledger (put), or read rbuf into lbuf
 * (get).
 * Effect:  size 0: the ids alone; both buffers may be null. Bytes of ids are copied.
 *          flags: PHOTON_REQ_PWC_NO_LCE, PHOTON_REQ_PWC_NO_RCE; of a get PHOTON_REQ_PWC_NOTICE.
 * Status:  PHOTON_ERROR_RESOURCE: nothing was started; probe, then call again.
 * Threads: any; also within a callback. Never blocks, but for a put of more than 1,024 bytes that
 *          cap.small_pwc_size makes reusable: one in 64 waits for those before it, for at most
 *          two seconds.
 */
PHOTON_API int photon_put_with_completion(int proc, uint64_t size, photonBuffer lbuf,
                                          photonBuffer rbuf, photon_cid local, photon_cid remote,
                                          int flags);
PHOTON_API int photon_get_with_completion(int proc, uint64_t size, photonBuffer lbuf,
                                          photonBuffer rbuf, photon_cid local, photon_cid remote,
                                          int flags);

/**
 * Make progress and take one completion, of `proc` or of PHOTON_ANY_SOURCE.
 * Effect:  *flag is 1 if there was one; *comp its id, *src its peer (of a ledger event) or `proc`;
 *          *remaining the operations to `proc`, and the collectives, that are not over or whose
 *          local id was not probed. Each may be null. A callback gets the id in this thread,
 *          outside all locks; it may post and probe. Bytes of a long id are valid until this thread
 *          probes again.
 * Status:  PHOTON_ERROR, flag 1: the operation of this id failed. PHOTON_ERROR, flag 0, and words
 * on stderr: one without an id did (posted without a rid); the callback is not called.
 */
PHOTON_API int photon_probe_completion(int proc, int *flag, int *remaining, photon_cid *comp,
                                       int *src, void (*cb)(photon_cid), int flags);

/**
 * Collectives: prepare, then join. A non-blocking one is over when `local_id` is probed; a blocking
 * one when join returns, and `local_id` is probed all the same (PHOTON_REQ_PWC_NO_LCE: of neither).
 * `op` points to a photon_coll_op, which is read at the call; barriers do not look at it.
 */
PHOTON_API int photon_collective_comm_create(void *active, int num_active, int total,
                                             photon_coll_comm *new_comm);
PHOTON_API int photon_collective_init_new_comm(void *active, int num_active, int total,
                                               photon_coll type, photon_cid local_id,
                                               photon_rid *request, int flags);
PHOTON_API int photon_collective_init(photon_coll type, photon_cid local_id, photon_rid *request,
                                      int flags);
PHOTON_API int photon_collective_join(photon_rid request, void *in, void *out, int count,
                                      photon_datatype datatype, void *op);

/**
 * photon_collective_join() of LibPhotonNBC: the same with its arguments in one place, which is read
 * at the call. In those of a barrier nothing is read; they may be null.
 */
PHOTON_API int photon_collective_run(photon_rid request, const photon_coll_parameters *parameters);

/**
 * The word at rbuf of `proc` becomes itself SUM, MIN or MAX the word at lbuf. `local` is probed
 * when that was carried out, `remote` at the peer after it; flags: PHOTON_REQ_PWC_NO_LCE, _NO_RCE.
 * Status: PHOTON_ERROR, and words on stderr, for types and operations that are not known:
 *         INT32, UINT32, INT64, UINT64 know all; FLOAT and DOUBLE know SUM.
 */
PHOTON_API int photon_atomic(int proc, photonBuffer lbuf, photonBuffer rbuf,
                             photon_datatype datatype, photon_atomic_op op, photon_rid local,
                             photon_rid remote, int flags);

/**
 * Is it over? Then it is taken.
 * Returns: 0, *flag says whether; -1 it failed; 1 and *flag -1: unknown, or there is no session.
 *          *type (may be null): 0 event, 1 ledger, 2 send or receive. `status` may be null.
 */
PHOTON_API int photon_test(photon_rid request, int *flag, int *type, photonStatus status);

/** Return when it is over, and take it. No other completion is taken. */
PHOTON_API int photon_wait(photon_rid request);

/**
 * Return when one is over, and take it: a direct operation, what was posted under a buffer that was
 * met, or a send request; (ledger) a buffer of ours that was announced. No collectives.
 */
PHOTON_API int photon_wait_any(int *ret_proc, photon_rid *ret_req);
PHOTON_API int photon_wait_any_ledger(int *ret_proc, photon_rid *ret_req);

/** PHOTON_OK and *flag 1 if a buffer that `proc` announced waits to be met; it is not taken. */
PHOTON_API int photon_probe_ledger(int proc, int *flag, int type, photonStatus status);

/** Of an experiment that has ended: each returns PHOTON_ERROR, and says so once. */
PHOTON_API int photon_probe(photonAddr addr, int *flag, photonStatus status);
PHOTON_API int photon_send(photonAddr addr, void *ptr, uint64_t size, int flags, uint64_t *request);
PHOTON_API int photon_recv(uint64_t request, void *ptr, uint64_t size, int flags);
PHOTON_API int photon_register_addr(photonAddr addr, int af);
PHOTON_API int photon_unregister_addr(photonAddr addr, int af);
PHOTON_API int photon_get_dev_addr(int af, photonAddr addr);
PHOTON_API int photon_get_dev_name(char *ibname);

#ifdef __cplusplus
}
#endif
#endif
