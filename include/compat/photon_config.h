/**
 * What photon_init() is told.
 */
#ifndef PHOTON_COMPAT_PHOTON_CONFIG_H
#define PHOTON_COMPAT_PHOTON_CONFIG_H

#include "photon_attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** photon_config_t::meta_exch: how ranks find each other. */
#define PHOTON_EXCH_TCP 0x0000 /* the launcher's own exchange; also of a zeroed configuration */
#define PHOTON_EXCH_MPI 0x0001 /* MPI_COMM_WORLD of the program, which has called MPI_Init() */
#define PHOTON_EXCH_PMI 0x0002 /* as PHOTON_EXCH_TCP */
#define PHOTON_EXCH_XSP 0x0004 /* as PHOTON_EXCH_TCP */
#define PHOTON_EXCH_EXTERNAL 0x0008 /* photon_config_t::exch */

/** photon_config_t::attr.comp_order: of remote completions. */
#define PHOTON_ORDER_DEFAULT 0x0000 /* as PHOTON_ORDER_STRICT */
#define PHOTON_ORDER_NONE 0x0001
#define PHOTON_ORDER_STRICT 0x0002

PHOTON_UNUSED static const char *const PHOTON_ORDER_TO_STRING[] = {"default", "none", "strict",
                                                                   "INVALID_COMP_ORDER"};

/**
 * The network: how ranks of other hosts are reached. VERBS and FI: by libfabric; DEFAULT: the
 * library chooses (tcp); the variable PHOTON_NETWORK counts for more. Ranks of one host meet by
 * shared memory in any case. UGNI is refused.
 */
typedef enum PHOTON_ENUM_OF_INT {
  PHOTON_BACKEND_DEFAULT = 0,
  PHOTON_BACKEND_VERBS,
  PHOTON_BACKEND_UGNI,
  PHOTON_BACKEND_FI,
  PHOTON_BACKEND_MAX
} photon_cfg_backend_t;

PHOTON_UNUSED static const char *const PHOTON_BACKEND_TO_STRING[] = {"default", "verbs", "ugni",
                                                                     "fi", "INVALID_BACKEND"};

/** How collectives are carried out; the library chooses in any case. */
typedef enum PHOTON_ENUM_OF_INT {
  PHOTON_COLL_IFACE_DEFAULT = 0,
  PHOTON_COLL_IFACE_PWC,
  PHOTON_COLL_IFACE_NBC,
  PHOTON_COLL_IFACE_MAX
} photon_cfg_coll_iface_t;

PHOTON_UNUSED static const char *const PHOTON_COLL_IFACE_TO_STRING[] = {
    "default", "pwc", "nbc", "INVALID_COLLECTIVE_INTERACE"};

/**
 * Only the fields that docs/classic.md names are read; all others may be garbage. Its size is part
 * of the interface: callers pass it uninitialised but for the fields they know.
 */
struct photon_config_t {
  int address; /**< This rank. */
  int nproc;   /**< Ranks in the job. */

  struct {
    const char *eth_dev;
    const char *ib_dev;
    int use_cma;
    int use_ud;
    int num_srq;
    const char *ud_gid_prefix;
  } ibv;

  struct {
    const char *eth_dev;
    int bte_thresh;
  } ugni;

  struct {
    const char *eth_dev;
    const char *domain;
    const char *node;
    const char *service;
    const char *provider;
  } fi;

  struct {
    int use_forwarder;
    char **forwarder_eids;
  } forwarder;

  /** Zero or less: the default, which is the first number here. */
  struct {
    int max_cid_size;   /**< Bytes of the longest id; 8, at most 1024. */
    int eager_buf_size; /**< Not read. */
    int pwc_buf_size;   /**< Not read. */
    int small_msg_size; /**< Not read: small_pwc_size says what of a send buffer comes along. */
    int small_pwc_size; /**< Bytes of a put whose source is reusable at once; 192 at least. */
    int ledger_entries; /**< Remote ids under way to one peer; 65536. */
    int max_rd;         /**< Operations under way: the setting `requests`; 1048576. */
    int default_rd;     /**< Not read. */
    int num_cq;         /**< Not read. */
    int use_rcq;        /**< Not read. */
  } cap;

  struct {
    int comp_order;
  } attr;

  /** PHOTON_EXCH_EXTERNAL: both return 0 for success, and are called with null as the first. */
  struct {
    int (*barrier)(void *);
    int (*allgather)(void *, void *, void *, int);
  } exch;

  void *comm; /**< Not read. */
  int meta_exch;
  photon_cfg_backend_t backend;
  photon_cfg_coll_iface_t coll;
};

typedef struct photon_config_t *photonConfig;

#ifdef __cplusplus
}
#endif
#endif
