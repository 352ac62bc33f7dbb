/**
 * The launcher protocol: what a rank and the process that started it say to each other.
 * photonrun speaks it; any other launcher may. Plain C11 structs, native byte order (both ends are
 * on one host; ranks of other hosts have a launcher there). docs/launcher.md shows the exchange in
 * pictures.
 *
 * The channel. The launcher gives each rank one end of a socketpair(AF_UNIX, SOCK_SEQPACKET), as an
 * inherited descriptor whose number stands in PHOTON_LAUNCH_FD. PHOTON_RANK and PHOTON_SIZE are
 * there for scripts; the library believes only WELCOME. The descriptor is not close-on-exec, so
 * that it passes through wrappers (env, sh -c, unshare --fork). The first library instance that
 * opens it claims it by bind()ing it to a random abstract name, which the kernel lets happen once
 * per socket, and sets close-on-exec, so that programs started by the rank do not hold it.
 *
 * Each packet is one ph_launch_header and body_bytes of body. Fields a type does not use are zero.
 *
 *   rank -> launcher   HELLO    first; may carry one descriptor, a pidfd of the sender, so that the
 *                               launcher sees the rank end even behind a wrapper
 *   launcher -> rank   WELCOME  body: ph_launch_welcome, then runs of hosts (ph_launch_host_run)
 *                      REFUSED  body: ph_launch_refused; nothing else follows, except after
 *                               PH_LAUNCH_SIZES_DIFFER, which ends one gather only
 *   rank -> launcher   FORWARD  rank = to; body <= 1024 bytes; <= 4 descriptors, none for a rank of
 *                               another host
 *   launcher -> rank   DELIVER  rank = from; body and descriptors as forwarded; order per pair kept
 *   rank -> launcher   GATHER   sequence = 1, 2, ...; body <= 64 KiB, equally long on every rank. A
 *                               rank contributes to the next one after it has all of the last. A
 *                               barrier is a gather of 0 bytes
 *                      LEAVE    the rank leaves in order (ph_finalize): however it ends now, GONE
 *                               calls it PH_LAUNCH_LEFT. Packets after it are served as before it.
 *                               May carry one descriptor: the launcher's end of a fresh pair of
 *                               sockets (SOCK_SEQPACKET), through which this rank may join the
 *                               next generation
 *                      BLAME    the errors that this rank is told are about `rank`, which it has
 *                               lost: sent before its caller is told the first of them, and thus
 *                               before the process can end because of it. If it fails now, the
 *                               launcher takes that for a consequence of the other's end
 *   launcher -> rank   GATHERED sequence; body = contributions of ranks rank .. rank + count - 1,
 *                               one after the other; as many packets as needed, in rank order
 *   launcher -> rank   GONE     rank's process ended or closed its channel; nothing more comes from
 *                               it. sequence = gathers it contributed to. body: ph_launch_gone
 *
 * Generations. Who has left may join again, through the channel that it handed over with LEAVE: it
 * says HELLO there, and is a rank of the job's next generation, which has its own secret, gathers,
 * messages and ends: its ranks hear nothing of those who have not left the one before, but that one
 * ended, or closed its channel without handing over another: it will not come. A launcher need not
 * answer a HELLO while others are many generations behind. The library puts its end of the new pair
 * in the old one's place, the number in PHOTON_LAUNCH_FD, close-on-exec; that it is one it sees by
 * the name of the other end, which it gave: PH_LAUNCH_NEXT_NAME, the number of its process, a dash
 * and random bytes, abstract.
 *
 * Nobody blocks: both ends use non-blocking calls and queue what the socket does not take. A
 * malformed packet ends the channel it came through. The job's secret goes through the socket only:
 * arguments and environment are readable by others in /proc.
 */
#ifndef PHOTON_LAUNCH_H
#define PHOTON_LAUNCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The variable that holds the number of the channel's descriptor. */
#define PH_LAUNCH_FD_VARIABLE "PHOTON_LAUNCH_FD"
/** Begins the name of the launcher's end of a channel that a rank has made, after the byte 0. */
#define PH_LAUNCH_NEXT_NAME "photon-next-"
/** The rank's number and the job's size, for scripts. */
#define PH_LAUNCH_RANK_VARIABLE "PHOTON_RANK"
#define PH_LAUNCH_SIZE_VARIABLE "PHOTON_SIZE"

enum {
  PH_LAUNCH_MAGIC = 0x4c504850,     /**< "PHPL" in memory on a little-endian machine. */
  PH_LAUNCH_VERSION = 5,            /**< Changes when a packet changes; both ends must agree. */
  PH_LAUNCH_MAX_FORWARD = 1024,     /**< Bytes of body in FORWARD and DELIVER. */
  PH_LAUNCH_MAX_FDS = 4,            /**< Descriptors in FORWARD and DELIVER. */
  PH_LAUNCH_MAX_GATHER = 64 * 1024, /**< Bytes of body in GATHER and GATHERED. */
  PH_LAUNCH_MAX_HOST_RUNS = 1024,   /**< In WELCOME. */
  PH_LAUNCH_SECRET_BYTES = 32
};

/** What a packet is. */
typedef enum ph_launch_type {
  PH_LAUNCH_HELLO = 1,
  PH_LAUNCH_WELCOME = 2,
  PH_LAUNCH_REFUSED = 3,
  PH_LAUNCH_FORWARD = 4,
  PH_LAUNCH_DELIVER = 5,
  PH_LAUNCH_GATHER = 6,
  PH_LAUNCH_GATHERED = 7,
  PH_LAUNCH_GONE = 8,
  PH_LAUNCH_LEAVE = 9,
  PH_LAUNCH_BLAME = 10
} ph_launch_type;

/** Begins every packet. magic, version and type keep their places in all versions. */
typedef struct ph_launch_header {
  uint32_t magic;      /**< PH_LAUNCH_MAGIC */
  uint16_t version;    /**< PH_LAUNCH_VERSION */
  uint16_t type;       /**< ph_launch_type */
  uint32_t body_bytes; /**< Bytes after the header; the packet is exactly that long. */
  uint32_t rank;       /**< The other rank concerned; GATHERED: the first one in the body. */
  uint32_t count;      /**< GATHERED: ranks in the body. */
  uint32_t reserved;
  uint64_t sequence; /**< Number of a gather, from 1. */
} ph_launch_header;

/** Begins the body of WELCOME. */
typedef struct ph_launch_welcome {
  uint32_t rank;
  uint32_t size;        /**< Ranks in the job. */
  uint32_t local_size;  /**< Ranks of the job on this host: local_first and those after it. */
  uint32_t local_first; /**< local_first <= rank < local_first + local_size <= size. */
  uint8_t secret[PH_LAUNCH_SECRET_BYTES]; /**< The same on every rank, different in every job. */
} ph_launch_welcome;

/**
 * So many hosts in a row with so many ranks each. Those of WELCOME name all hosts of the job, in
 * the order of their ranks, of which each host has consecutive ones. Either all ranks of a job get
 * the same runs or none gets any. Without them nobody knows which ranks of other hosts are
 * together, as in a job of one host, where there is nothing to know, and where
 * PH_LAUNCH_MAX_HOST_RUNS are too few. Runs that do not make up the job, or in which the rank's own
 * host is another one, are malformed.
 */
typedef struct ph_launch_host_run {
  uint32_t hosts; /**< Not 0. */
  uint32_t ranks; /**< Of each; not 0. */
} ph_launch_host_run;

/** Why a rank was refused. */
typedef enum ph_launch_refusal {
  PH_LAUNCH_WRONG_VERSION = 1, /**< The launcher speaks ph_launch_refused.version. */
  PH_LAUNCH_TAKEN = 2,         /**< A second HELLO: this rank has joined already. */
  PH_LAUNCH_MALFORMED = 3,     /**< A packet made no sense; the channel is closed. */
  PH_LAUNCH_SIZES_DIFFER = 4   /**< Ranks contributed different sizes to gather `sequence`. */
} ph_launch_refusal;

/** Body of REFUSED. */
typedef struct ph_launch_refused {
  uint32_t reason;  /**< ph_launch_refusal */
  uint32_t version; /**< The launcher's. */
} ph_launch_refused;

/** How a rank ended. */
typedef enum ph_launch_end {
  PH_LAUNCH_EXITED = 1, /**< value = exit status */
  PH_LAUNCH_KILLED = 2, /**< value = signal */
  PH_LAUNCH_CLOSED = 3, /**< It closed its channel, or was cut off; value = 0 */
  PH_LAUNCH_LEFT = 4    /**< It had said LEAVE, whatever ended it then; value = 0 */
} ph_launch_end;

/** Body of GONE. */
typedef struct ph_launch_gone {
  uint32_t how; /**< ph_launch_end */
  int32_t value;
} ph_launch_gone;

#ifdef __cplusplus
}
#endif
#endif
