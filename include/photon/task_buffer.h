/**
 * Buffers: memory of the program that other PEs read and write where it is kept, without being
 * packed into messages. Both sides hear by a message when that is over (docs/tasks.md, "The life of
 * a buffer").
 *
 *   the owner of the data                          who wants it
 *   ph_task_buffer_make()                          ph_task_buffer_make()
 *   ph_task_buffer_describe() --> message -------> ph_task_get()
 *   its done-handler: it was read  <-------------> its done-handler: it is there
 *
 * A buffer is known to the PE that made it alone; messages carry its descriptor, 48 bytes of plain
 * data. No copy of either ever learns anything: all state is at that PE.
 *
 * Each operation that a call has accepted ends with two dones, also if it fails: one at the PE of
 * the source, one at that of the destination. A done is a message: the handler that the buffer
 * names runs with it, in its turn and never inside the call. Where both PEs are the same one, that
 * of the source comes first; between two PEs there is no order.
 */
#ifndef PHOTON_TASK_BUFFER_H
#define PHOTON_TASK_BUFFER_H

#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Names a buffer at the PE that made it; a copy means the same one. 0 names none. */
typedef uint64_t ph_task_buffer;

/** ph_task_buffer_args: there is no handler. */
#define PH_TASK_NO_HANDLER 0xffffffffU

/** When a buffer is registered, so that other processes can reach it. */
enum {
  PH_TASK_REG = 0,    /**< By ph_task_buffer_make(). */
  PH_TASK_UNREG = 1,  /**< When it has to be. A peer's operation on it is issued from here. */
  PH_TASK_PREREG = 2, /**< It lies in a registration that stays: ph_alloc(), ph_register(). */
  PH_TASK_NOREG = 3   /**< Never: operations on it are refused. */
};

/** When a registration is given back. */
enum {
  PH_TASK_DEREG = 0,  /**< When an operation on the buffer is over, before its done-handler. */
  PH_TASK_NODEREG = 1 /**< By ph_task_buffer_deregister() and ph_task_buffer_free(). */
};

/** Which side of an operation a buffer was. */
enum { PH_TASK_SOURCE = 1, PH_TASK_DESTINATION = 2 };

/** What ph_task_buffer_make() takes. */
typedef struct ph_task_buffer_args {
  size_t size;   /**< sizeof(ph_task_buffer_args) of the caller. */
  void *address; /**< May be null if size_bytes is 0. */
  uint64_t size_bytes;
  uint32_t registration;     /**< PH_TASK_REG and the like. */
  uint32_t deregistration;   /**< PH_TASK_DEREG or PH_TASK_NODEREG. */
  uint32_t source_done;      /**< Number of a handler, or PH_TASK_NO_HANDLER. */
  uint32_t destination_done; /**< The same. */
  void *user;                /**< Comes back in each ph_task_done. */
} ph_task_buffer_args;

/** A buffer as messages carry it: plain data, for any PE. Nobody but the library changes it. */
typedef struct ph_task_descriptor {
  uint64_t address;
  uint64_t size_bytes;
  uint64_t key;        /**< 0: it is not registered. */
  uint32_t pe;         /**< The one that made the buffer. */
  uint32_t slot;       /**< Of its table. */
  uint32_t generation; /**< Of that slot. */
  uint8_t registration;
  uint8_t deregistration;
  uint8_t version;
  uint8_t zero;
  uint64_t reserved; /**< 0 */
} ph_task_descriptor;

/** The body of a done. */
typedef struct ph_task_done {
  ph_task_buffer buffer;
  void *user;           /**< Of its ph_task_buffer_args. */
  uint64_t moved_bytes; /**< 0 where an error says so, or nobody knows. */
  ph_status status;     /**< Of the bytes: PH_OK, and all of them. */
  uint32_t side;        /**< PH_TASK_SOURCE or PH_TASK_DESTINATION. */
  uint32_t other_pe;    /**< The PE of the other side. */
  uint32_t is_own;      /**< 1: the operation was begun here. */
  /** The other side; all zero where the operation was begun there, which only it can tell. */
  ph_task_descriptor other;
} ph_task_done;

/**
 * Make a buffer of the memory [address, address + size_bytes).
 * Ownership: the memory stays the program's. It must remain until the buffer is free and all
 *            operations on it are over.
 * Status:    PH_ERR_ARGUMENT (null, a wrap-around, unknown modes, a handler that is not
 *            registered), PH_ERR_RANGE (2^62 bytes or more), PH_ERR_NOT_FOUND (PH_TASK_PREREG, and
 *            no registration holds it, or the smallest one that does is that of another buffer of
 *            this PE, which gives it back), PH_ERR_MEMORY (16,777,152 buffers, the setting
 *            `max_regions`, or no memory). *buffer is 0 then.
 * Threads:   that of the PE, as of all calls here.
 */
PH_API ph_status ph_task_buffer_make(ph_task_pe *pe, const ph_task_buffer_args *args,
                                     ph_task_buffer *buffer);

/**
 * Give a buffer up. Its registration is given back, and descriptors of it are stale: later
 * operations of PEs of this process are refused with PH_ERR_KEY, and those of other processes fail
 * with it as soon as the memory is registered no more. It stays registered in a range of
 * ph_task_keep() until ph_task_unkeep() at the latest, as PH_TASK_PREREG, and while another
 * ph_register() of the same range holds it. Until then such an operation moves its bytes and ends
 * with PH_OK over there; its done here is dropped (`stale_dones` of the counters). A peer's
 * operation that is under way may still read or write the memory, too: free a buffer that peers
 * know when its done has come.
 * Status:    PH_ERR_NOT_FOUND (there is no such buffer here), PH_ERR_STATE (an operation that was
 *            begun here is not over).
 */
PH_API ph_status ph_task_buffer_free(ph_task_pe *pe, ph_task_buffer buffer);

/**
 * Fills *descriptor. A PH_TASK_REG buffer whose registration was given back by PH_TASK_DEREG is
 * registered again. A PH_TASK_UNREG buffer with PH_TASK_DEREG never has a key there, for the next
 * done takes its registration back: a peer's operation on it is issued from here.
 * Status:    PH_ERR_NOT_FOUND, PH_ERR_ARGUMENT, PH_ERR_MEMORY (registering).
 */
PH_API ph_status ph_task_buffer_describe(ph_task_pe *pe, ph_task_buffer buffer,
                                         ph_task_descriptor *descriptor);

/**
 * Give its registration back now: operations with it are refused with PH_ERR_KEY until
 * ph_task_buffer_register(), and its descriptors are stale as after ph_task_buffer_free(). Where
 * its memory stays registered an operation of another process may still end with PH_OK, and its
 * done comes here.
 * Status:    PH_ERR_NOT_FOUND, PH_ERR_STATE (an operation that was begun here is not over, or it is
 *            deregistered already), PH_ERR_ACCESS (a PH_TASK_PREREG or PH_TASK_NOREG buffer has
 *            none of its own).
 */
PH_API ph_status ph_task_buffer_deregister(ph_task_pe *pe, ph_task_buffer buffer);

/**
 * Register it, unless it is registered.
 * Status:    PH_ERR_NOT_FOUND, PH_ERR_ACCESS (as above), PH_ERR_MEMORY.
 */
PH_API ph_status ph_task_buffer_register(ph_task_pe *pe, ph_task_buffer buffer);

/**
 * Read a buffer of any PE into an own one. All of the source is moved.
 * Effect:    within a process the bytes are there on return; else they come while this PE runs
 *            tasks. In either case both dones follow.
 * Ownership: from PH_OK on the destination is the library's until its done has its turn, and so is
 *            the source until its own.
 * Status:    refused at the call, and nothing happens: PH_ERR_NOT_FOUND (no such buffer here),
 *            PH_ERR_ARGUMENT (no descriptor can be so), PH_ERR_RANK (its PE), PH_ERR_RANGE (the
 *            destination is smaller), PH_ERR_STATE (the destination is in use), PH_ERR_ACCESS (a
 *            PH_TASK_NOREG end), PH_ERR_KEY (a deregistered end; within the process also a stale
 *            descriptor), PH_ERR_MEMORY. Else in the done: PH_ERR_KEY (stale), PH_ERR_RANGE,
 *            PH_ERR_ACCESS, PH_ERR_STATE (the other side is in use), PH_ERR_PEER, PH_ERR_DEPARTED
 *            (the process of the other side is lost), as ph_get().
 */
PH_API ph_status ph_task_get(ph_task_pe *pe, ph_task_buffer destination,
                             const ph_task_descriptor *source);

/** Write an own buffer into one of any PE. As ph_task_get(), the other way round. */
PH_API ph_status ph_task_put(ph_task_pe *pe, ph_task_buffer source,
                             const ph_task_descriptor *destination);

/** The body of the message that offers a buffer of a broadcast to a PE; plain data. */
typedef struct ph_task_offer {
  ph_task_descriptor source; /**< What this process reads; of the process above it. */
  uint64_t above;            /**< The library's. */
  uint64_t word;             /**< Of the root. */
  uint32_t root_pe;
  uint32_t handler;
} ph_task_offer;

/**
 * Offer a buffer to all other processes: its bytes go down a tree of them with four branches.
 * Effect:    in each of them the PE with the rank of this one runs `handler` with a ph_task_offer,
 *            and calls ph_task_land(), there or later, once. The source-done comes when all have
 *            read. A process that is lost counts as having read, and so does one whose landing
 *            failed: the status of the done says so, and those below these may hear of nothing.
 * Ownership: the buffer is the library's until its done has its turn.
 * Status:    PH_ERR_NOT_FOUND (no such buffer here), PH_ERR_ARGUMENT (no such handler),
 *            PH_ERR_ACCESS (PH_TASK_NOREG), PH_ERR_KEY (it is deregistered), PH_ERR_STATE (another
 *            operation lands in it), PH_ERR_MEMORY.
 */
PH_API ph_status ph_task_buffer_broadcast(ph_task_pe *pe, ph_task_buffer source, uint32_t handler,
                                          uint64_t word);

/**
 * Read what was offered into an own buffer, and feed the processes below from there.
 * Effect:    its destination-done comes when the bytes are there and all below have read them.
 * Status:    as ph_task_get(); PH_ERR_ARGUMENT (no offer can be so).
 */
PH_API ph_status ph_task_land(ph_task_pe *pe, ph_task_buffer destination,
                              const ph_task_offer *offer);

/**
 * Declare that a range of memory stays, to the same pages, until ph_task_unkeep(). Registrations of
 * buffers of this PE within it are kept when they are given back, for the next buffer there; the
 * least recently used ones go when there are more than `cache_bytes` of them.
 * Status:    PH_ERR_ARGUMENT (null, no bytes, a wrap-around), PH_ERR_MEMORY.
 */
PH_API ph_status ph_task_keep(ph_task_pe *pe, void *base, uint64_t size_bytes);

/**
 * Take one ph_task_keep() of the same range back: what is kept in it is revoked now, and what a
 * buffer still has is revoked when it is given back. Call this before the memory is freed.
 * Status:    PH_ERR_NOT_FOUND (no such range was declared).
 */
PH_API ph_status ph_task_unkeep(ph_task_pe *pe, void *base, uint64_t size_bytes);

#ifdef __cplusplus
}
#endif
#endif
