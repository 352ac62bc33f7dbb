/**
 * RVMA: the calls of Grant, Levenhagen, Dosanjh and Widener, "RVMA: Remote Virtual Memory Access",
 * sections III.C and IV, over Photon's mailboxes (<photon/mailbox.h>). docs/rvma.md says what the
 * paper leaves open, what was chosen, and which call became which.
 *
 * A window is a mailbox: a virtual address under which a receiver posts buffers. A sender names a
 * node and that address, and never memory. When a buffer is complete, the library writes its length
 * and then its address to where its notification pointer stands.
 *
 *   buffer: posted -- those before it are complete --> current -- epoch_threshold is reached,
 *           RVMA_Win_inc_epoch() or RVMA_Close_Win() --> complete: *notification_ptr is its address
 *
 * Who makes progress: there is no NIC that counts. A pointer is written when the receiving process
 * makes progress: in RVMA_Test(), RVMA_Wait() and any other call of Photon, or by the progress
 * thread, which RVMA_Init() starts. So a program that polls the pointer alone, as the paper's does,
 * sees it change; RVMA_Test() in place of the bare load sees it sooner.
 *
 * Status: RVMA_OK, RVMA_AGAIN or RVMA_TIMEOUT; errors are negative, and are Photon's
 * (<photon/types.h>); RVMA_Error() has the words.
 * Threads: any thread may make any call, unless it says otherwise.
 */
#ifndef PHOTON_COMPAT_RVMA_H
#define PHOTON_COMPAT_RVMA_H

#include <stddef.h>
#include <stdint.h>

#define PHOTON_RVMA_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

struct ph_context;

/** RVMA_OK, RVMA_AGAIN, RVMA_TIMEOUT, or a negative ph_status. */
typedef int RVMA_Status;

enum {
  RVMA_OK = 0,
  RVMA_AGAIN = 1,  /**< Nothing was done: make progress (RVMA_Test()), then call again. */
  RVMA_TIMEOUT = 2 /**< The time given ran out; nothing was lost. */
};

/** A window of this process; the paper spells the type both ways. */
typedef uint64_t RVMA_Win;
typedef RVMA_Win RVMA_win;

/** No window: RVMA_Init_window() has failed. */
enum { RVMA_WIN_NULL = 0 };

/** What epoch_threshold counts. */
#if defined __cplusplus && __cplusplus >= 201103L
typedef enum epoch_type
    : int { /* any int may stand in it, as in C */
#else
typedef enum epoch_type {
#endif
            EPOCH_BYTES = 0, /**< Bytes that have landed; those that land twice count twice. */
            EPOCH_OPS = 1    /**< Operations that have landed, those without bytes included. */
    } epoch_type;

/** A node: a rank of the job, and so the paper's pair of network and process. */
struct addr_in {
  uint32_t rank;
};

enum {
  RVMA_RETAINED = 16, /**< Epochs that RVMA_Init_window() retains. */
  /** RVMA_Init(): starts no progress thread. */
  RVMA_NO_PROGRESS_THREAD = 1 << 0,
  /** RVMA_Win_options: the receiver places messages, one behind the other (section IV.B). */
  RVMA_MANAGED = 1 << 0,
  /** RVMA_Win_options: a message that finds no buffer is refused instead of being kept. */
  RVMA_REFUSE_EARLY = 1 << 1,
  /** RVMA_Win_options: takes what names no open window (section III.C); epoch_threshold is 0 or one
   * operation, and each buffer gets one message. A process (or lane) has one such window. */
  RVMA_CATCH_ALL = 1 << 2,
  /** RVMA_Win_options: for RVMA_Get(), which counts; messages are refused. */
  RVMA_READ = 1 << 3
};

/**
 * Room for a notification pointer and the length of its buffer, in a cache line of its own.
 * RVMA_Post_buffer() gets the address of `buffer`.
 */
typedef struct RVMA_Notification {
  void *buffer;    /**< Null until the buffer is complete, then its address. */
  uint64_t length; /**< One past the highest byte that has landed. Written first. */
  uint8_t rest[48];
} __attribute__((aligned(64))) RVMA_Notification;

/** What RVMA_Init_window_with() may be told. Zero what you do not use. */
typedef struct RVMA_Win_options {
  size_t size;                  /**< sizeof(RVMA_Win_options) of the caller. */
  const struct addr_in *source; /**< Alone may send here; null: any. */
  uint32_t flags;               /**< RVMA_MANAGED and the like. */
  uint32_t retained;            /**< Epochs that RVMA_Win_rewind() may return to; at most 65,536. */
} RVMA_Win_options;

/** What RVMA_Put_with() is told. Zero what you do not use. */
typedef struct RVMA_Put_args {
  size_t size; /**< sizeof(RVMA_Put_args) of the caller. */
  const void *send_buffer;
  int64_t size_bytes;
  void *virtual_addr;
  uint64_t offset;      /**< Into the buffer; of an append: 0. */
  const int64_t *epoch; /**< The epoch that is meant; null: the one that is current. */
  int32_t key;          /**< The key that RVMA_Init_window() gave, or 0: any. */
  int32_t appends;      /**< Not 0: to a window with RVMA_MANAGED. */
  uint64_t *request;    /**< Null, or where a ph_request goes. It ends when the message has landed
                           (PH_OK), or was refused. */
} RVMA_Put_args;

/** What RVMA_Get() is told. Zero what you do not use. */
typedef struct RVMA_Get_args {
  size_t size; /**< sizeof(RVMA_Get_args) of the caller. */
  void *receive_buffer;
  int64_t size_bytes;
  void *virtual_addr;
  uint64_t offset;      /**< Into the buffer. */
  const int64_t *epoch; /**< One that is retained or posted; null: the one that is current. */
  int32_t key;          /**< The key that RVMA_Init_window() gave, or 0: any. */
  uint64_t *request;    /**< Where a ph_request goes, which ends when the bytes are here (PH_OK), or
                           with the reason why not. Not null. */
} RVMA_Get_args;

/**
 * From now on the RVMA calls of this process are those of this rank.
 * Effect:    starts the progress thread of the context (or lane) unless it is told not to. Calls
 *            may be mixed with any other of Photon's.
 * Ownership: the context stays the caller's, who calls RVMA_Finalize() before ph_finalize().
 * Status:    PH_ERR_ARGUMENT (null, an unknown flag), PH_ERR_STATE (there is one already, or this
 *            one is finalized), PH_ERR_SYSTEM (no thread can be had), PH_ERR_MEMORY, PH_ERR_FORKED.
 */
PHOTON_RVMA_API RVMA_Status RVMA_Init(struct ph_context *context, int flags);

/**
 * From now on the RVMA calls of this thread are those of that rank or lane, whatever RVMA_Init()
 * was told; null: those of the process again. For processes of several ranks, and for lanes.
 */
PHOTON_RVMA_API RVMA_Status RVMA_Use(struct ph_context *context);

/**
 * Ends what RVMA_Init() began; windows stay open as mailboxes of the context until it is finalized.
 * No call of RVMA may be under way in another thread. Status: PH_ERR_STATE: there was none.
 */
PHOTON_RVMA_API RVMA_Status RVMA_Finalize(void);

/**
 * The latest error of an RVMA call of this thread, in words; "" if there was none. Valid until the
 * thread's next call.
 */
PHOTON_RVMA_API const char *RVMA_Error(void);

/**
 * Opens a window under `virtual_addr`, any number, of which this rank has one window at a time.
 * Effect:    messages to it land in the buffers that are posted. Any rank may send; the sender says
 *            where bytes land; RVMA_RETAINED epochs are retained.
 * key:       may be null. Becomes the window's key, which RVMA_Put_with() may name: when the window
 *            is rewound, or closed and opened again, messages with the old key are refused.
 * epoch_threshold: at least 1, or 0 with EPOCH_BYTES: the size of each buffer.
 * Returns:   RVMA_WIN_NULL if it cannot: PH_ERR_ARGUMENT, PH_ERR_STATE (the address is open; no
 *            RVMA_Init()), PH_ERR_MEMORY. Never blocks, as all calls but RVMA_Wait(), RVMA_Flush().
 */
PHOTON_RVMA_API RVMA_win RVMA_Init_window(void *virtual_addr, int32_t *key, int64_t epoch_threshold,
                                          epoch_type type);

/** The same with more to say. */
PHOTON_RVMA_API RVMA_win RVMA_Init_window_with(void *virtual_addr, int32_t *key,
                                               int64_t epoch_threshold, epoch_type type,
                                               const RVMA_Win_options *options);

/**
 * Adds a buffer to the list of a window.
 * Effect:    *notification_ptr becomes null, and the buffer's address when it is complete; the
 *            length stands behind it, in the next 8 bytes. Epochs that are retained in this memory
 *            are given up.
 * Ownership: the buffer and those 16 bytes are the library's until then.
 * Status:    PH_ERR_ARGUMENT (null, no bytes, a notification_ptr that is not at a multiple of 64,
 *            a threshold that this buffer can never count), PH_ERR_STATE (it overlaps a buffer that
 *            is posted; the window is closed), PH_ERR_MEMORY; nothing has changed then, but that
 *            after PH_ERR_STATE epochs that are retained in this memory may be given up.
 */
PHOTON_RVMA_API RVMA_Status RVMA_Post_buffer(void *buffer, int64_t size, void **notification_ptr,
                                             RVMA_Win win);

/**
 * Prevents further operations to the window's address; all buffers come back by their notification
 * pointers, with the length that has landed. What is sent to it from then on is discarded, and its
 * sender is told (a NACK: RVMA_Put()). Status: PH_ERR_STATE.
 */
PHOTON_RVMA_API RVMA_Status RVMA_Close_Win(RVMA_Win win);

/** Completes the current buffer as it is. Status: RVMA_AGAIN: there is none. PH_ERR_STATE. */
PHOTON_RVMA_API RVMA_Status RVMA_Win_inc_epoch(RVMA_Win win);

/** How many epochs are complete, and so the number of the current one; an error is negative. */
PHOTON_RVMA_API int64_t RVMA_Win_get_epoch(RVMA_Win win);

/**
 * The notification pointers of the epochs that are retained, newest first: those of buffers that
 * are complete and were not posted again.
 * Returns: how many were written to notification_ptrs, at most `count`; an error is negative.
 */
PHOTON_RVMA_API int RVMA_Win_get_buf_ptrs(RVMA_Win win, void *notification_ptrs[], int count);

/**
 * Makes `epoch`, which has to be retained, the last complete one again (section IV.F).
 * Effect: buffers of later epochs are the caller's, their contents void, and their notification
 *         pointers stay as they are; the current buffer starts empty, as epoch + 1; the window has
 *         a new key, which goes to *key (may be null).
 * Status: RVMA_AGAIN: messages are landing. PH_ERR_STATE: the epoch is not retained, or the window
 *         is closed. PH_ERR_MEMORY.
 */
PHOTON_RVMA_API RVMA_Status RVMA_Win_rewind(RVMA_Win win, int64_t epoch, int32_t *key);

/**
 * Tells of a retained epoch, by its notification pointer, who sent the message that landed last
 * (RVMA_CATCH_ALL: the only one) and which address that named. Each may be null.
 * Status: PH_ERR_NOT_FOUND: no retained epoch has that pointer, or nothing has landed in it.
 */
PHOTON_RVMA_API RVMA_Status RVMA_Win_get_sender(RVMA_Win win, void **notification_ptr,
                                                struct addr_in *from, void **virtual_addr);

/**
 * What stands at a notification pointer, after a turn of progress if that is null: what a loop
 * calls in the place of a load. Who sees the address sees the length and all bytes of the buffer.
 */
PHOTON_RVMA_API void *RVMA_Test(void **notification_ptr);

/**
 * Sleeps until *notification_ptr, of a buffer of that window, is not null.
 * Status: RVMA_TIMEOUT after timeout_us (-1: never); PH_ERR_STATE: the window is closed, and the
 *         pointer null. Any number of threads may wait.
 */
PHOTON_RVMA_API RVMA_Status RVMA_Wait(RVMA_Win win, void **notification_ptr, int64_t timeout_us);

/**
 * Sends to a node's window: to the start of its current buffer.
 * Ownership: a source of up to 1 KiB may be reused at once; a larger one after RVMA_Flush().
 * Status:    RVMA_AGAIN: too much is under way to that node. PH_ERR_ARGUMENT (null, a negative
 *            size, more than the setting `mailbox_carried_max`: that is for RVMA_Put_with() and a
 *            request, which says when its receiver has read it), PH_ERR_RANK, PH_ERR_PEER,
 *            PH_ERR_DEPARTED, PH_ERR_STATE, PH_ERR_FORKED.
 * NACK:      a message that is refused is a completion of kind PH_LOCAL of ph_probe(), with the
 *            reason for its status and virtual_addr for its id. One that is never probed makes
 *            ph_finalize() return its status.
 */
PHOTON_RVMA_API RVMA_Status RVMA_Put(void *send_buffer, int64_t size, struct addr_in *dest_addr,
                                     void *virtual_addr);

/** The same to `offset` in that buffer. */
PHOTON_RVMA_API RVMA_Status RVMA_Put_offset(void *send_buffer, int64_t size,
                                            struct addr_in *dest_addr, void *virtual_addr,
                                            uint64_t offset);

/** The same to a window with RVMA_MANAGED: it lands behind what came before. */
PHOTON_RVMA_API RVMA_Status RVMA_Append(void *send_buffer, int64_t size, struct addr_in *dest_addr,
                                        void *virtual_addr);

/**
 * The same with an epoch, a key, or a request that ends with the verdict. With a request it may
 * have any size, and the source stays as it is until then.
 */
PHOTON_RVMA_API RVMA_Status RVMA_Put_with(struct addr_in *dest_addr, const RVMA_Put_args *args);

/**
 * Reads from a node's window: from the current buffer, or from that of an epoch.
 * Effect: all bytes are of one epoch. Where the window was opened with RVMA_READ the get counts;
 *         of one of more than `mailbox_carried_max` bytes each part counts its bytes at once, so
 *         that it may reach a threshold of EPOCH_BYTES before its end: use EPOCH_OPS there.
 * Status: as RVMA_Put(). The request ends with PH_ERR_NOT_FOUND, PH_ERR_RANGE, PH_ERR_EPOCH or
 *         PH_ERR_NO_BUFFER where there is nothing to be read.
 */
PHOTON_RVMA_API RVMA_Status RVMA_Get(struct addr_in *source_addr, const RVMA_Get_args *args);

/**
 * Waits until all that was sent to that node before has left, and its sources may be reused; null:
 * to all nodes. Status: RVMA_TIMEOUT after timeout_us (-1: never), RVMA_AGAIN, as RVMA_Put().
 */
PHOTON_RVMA_API RVMA_Status RVMA_Flush(struct addr_in *dest_addr, int64_t timeout_us);

#ifdef __cplusplus
}
#endif
#endif
