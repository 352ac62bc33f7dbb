/*
 * What programs were compiled against: sizes, offsets and values of the classic API, asserted.
 * Included by a C++ file of the library, and by a C one of the tests (tests/classic/abi.c).
 */
#ifndef PHOTON_COMPAT_ABI_CHECK_H
#define PHOTON_COMPAT_ABI_CHECK_H

#include <photon.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define PHOTON_ASSERT(fact) static_assert(fact, #fact)
#else
#define PHOTON_ASSERT(fact) _Static_assert(fact, #fact)
#endif
/* A member stands at that byte. */
#define PHOTON_AT(type, member, at) PHOTON_ASSERT(offsetof(type, member) == (at))

PHOTON_ASSERT(PHOTON_OK == 0 && PHOTON_ERROR_NOINIT == 1 && PHOTON_ERROR == 2 &&
              PHOTON_ERROR_RESOURCE == 4 && PHOTON_SHUTDOWN == 8);
PHOTON_ASSERT(PHOTON_EXCH_TCP == 0 && PHOTON_EXCH_MPI == 1 && PHOTON_EXCH_PMI == 2 &&
              PHOTON_EXCH_XSP == 4 && PHOTON_EXCH_EXTERNAL == 8);
PHOTON_ASSERT(PHOTON_SEND_LEDGER == 0 && PHOTON_RECV_LEDGER == 1);
PHOTON_ASSERT(PHOTON_REQ_NIL == 0 && PHOTON_REQ_COMPLETED == 1 && PHOTON_REQ_PWC_NO_LCE == 2 &&
              PHOTON_REQ_PWC_NO_RCE == 4);
PHOTON_ASSERT(PHOTON_AMO_FADD == 1 && PHOTON_AMO_CSWAP == 2);
PHOTON_ASSERT(PHOTON_PROBE_ANY == 0xffff && PHOTON_PROBE_EVQ == 1 && PHOTON_PROBE_LEDGER == 2);
PHOTON_ASSERT(PHOTON_ANY_TAG == -1 && PHOTON_ANY_SOURCE == -1 && PHOTON_ANY_SIZE == -1);
PHOTON_ASSERT(PHOTON_ORDER_DEFAULT == 0 && PHOTON_ORDER_NONE == 1 && PHOTON_ORDER_STRICT == 2);
PHOTON_ASSERT(PHOTON_BACKEND_DEFAULT == 0 && PHOTON_BACKEND_VERBS == 1 &&
              PHOTON_BACKEND_UGNI == 2 && PHOTON_BACKEND_FI == 3 && PHOTON_BACKEND_MAX == 4);
PHOTON_ASSERT(PHOTON_COLL_IFACE_DEFAULT == 0 && PHOTON_COLL_IFACE_PWC == 1 &&
              PHOTON_COLL_IFACE_NBC == 2 && PHOTON_COLL_IFACE_MAX == 3);
PHOTON_ASSERT(PHOTON_COLL_BARRIER == 1 && PHOTON_COLL_REDUCE == 2 && PHOTON_COLL_ALLREDUCE == 3 &&
              PHOTON_COLL_SCAN == 4 && PHOTON_COLL_IBARRIER == 5 && PHOTON_COLL_IALLREDUCE == 6 &&
              PHOTON_COLL_ISCAN == 7 && PHOTON_COLL_MAXVAL == 8);
PHOTON_ASSERT(PHOTON_COLL_OP_SUM == 1 && PHOTON_COLL_OP_MIN == 2 && PHOTON_COLL_OP_MAX == 3 &&
              PHOTON_COLL_OP_PROD == 4 && PHOTON_COLL_TYPE == 5);
PHOTON_ASSERT(PHOTON_COLL_ALGO_RING == 1 && PHOTON_COLL_ALGO_TREE == 2 &&
              PHOTON_COLL_ALGO_REC_DOUBLING == 3);
PHOTON_ASSERT(PHOTON_COLL_NODE_ROOT == 1 && PHOTON_COLL_NODE_INNER == 2 &&
              PHOTON_COLL_NODE_LEAF == 3);
PHOTON_ASSERT(PHOTON_COLL_DATA_IN == 1 && PHOTON_COLL_DATA_OUT == 2);
PHOTON_ASSERT(PHOTON_INT8 == 0 && PHOTON_UINT8 == 1 && PHOTON_INT16 == 2 && PHOTON_UINT16 == 3 &&
              PHOTON_INT32 == 4 && PHOTON_UINT32 == 5 && PHOTON_INT64 == 6 && PHOTON_UINT64 == 7 &&
              PHOTON_FLOAT == 8 && PHOTON_DOUBLE == 9 && PHOTON_FLOAT_COMPLEX == 10 &&
              PHOTON_DOUBLE_COMPLEX == 11 && PHOTON_LONG_DOUBLE == 12 &&
              PHOTON_LONG_DOUBLE_COMPLEX == 13 && PHOTON_DATATYPE_LAST == 14);
PHOTON_ASSERT(PHOTON_ATOMIC_MIN == 1 && PHOTON_ATOMIC_MAX == 2 && PHOTON_ATOMIC_SUM == 3 &&
              PHOTON_ATOMIC_LAST == 4);

PHOTON_ASSERT(sizeof(photon_rid) == 8 && (photon_rid)-1 > 0);
PHOTON_ASSERT(sizeof(photon_coll_comm) == sizeof(void*));
PHOTON_ASSERT(sizeof(photon_coll) == 4 && sizeof(photon_coll_op) == 4 &&
              sizeof(photon_coll_algo) == 4 && sizeof(photon_coll_node) == 4 &&
              sizeof(photon_coll_data) == 4 && sizeof(photon_datatype) == 4 &&
              sizeof(photon_atomic_op) == 4);
PHOTON_ASSERT(sizeof(photon_cfg_backend_t) == 4 && sizeof(photon_cfg_coll_iface_t) == 4);

PHOTON_ASSERT(sizeof(photon_cid) == 16);
PHOTON_AT(photon_cid, u64, 0);
PHOTON_AT(photon_cid, data, 0);
PHOTON_AT(photon_cid, size, 8);

PHOTON_ASSERT(sizeof(photon_addr) == 16);
PHOTON_AT(photon_addr, raw, 0);
PHOTON_AT(photon_addr, s_addr, 0);
PHOTON_AT(photon_addr, global.prefix, 0);
PHOTON_AT(photon_addr, global.proc_id, 8);
PHOTON_AT(photon_addr, blkaddr.blk0, 0);
PHOTON_AT(photon_addr, blkaddr.blk1, 4);
PHOTON_AT(photon_addr, blkaddr.blk2, 8);
PHOTON_AT(photon_addr, blkaddr.blk3, 12);

PHOTON_ASSERT(sizeof(struct photon_buffer_priv_t) == 16);
PHOTON_AT(struct photon_buffer_priv_t, key0, 0);
PHOTON_AT(struct photon_buffer_priv_t, key1, 8);
PHOTON_ASSERT(sizeof(struct photon_buffer_t) == 32);
PHOTON_AT(struct photon_buffer_t, addr, 0);
PHOTON_AT(struct photon_buffer_t, size, 8);
PHOTON_AT(struct photon_buffer_t, priv, 16);
PHOTON_ASSERT(sizeof(struct photon_status_t) == 48);
PHOTON_AT(struct photon_status_t, src_addr, 0);
PHOTON_AT(struct photon_status_t, request, 16);
PHOTON_AT(struct photon_status_t, size, 24);
PHOTON_AT(struct photon_status_t, tag, 32);
PHOTON_AT(struct photon_status_t, count, 36);
PHOTON_AT(struct photon_status_t, error, 40);

PHOTON_ASSERT(sizeof(struct photon_config_t) == 208);
PHOTON_AT(struct photon_config_t, address, 0);
PHOTON_AT(struct photon_config_t, nproc, 4);
PHOTON_ASSERT(sizeof(((struct photon_config_t*)0)->ibv) == 40);
PHOTON_AT(struct photon_config_t, ibv, 8);
PHOTON_AT(struct photon_config_t, ibv.eth_dev, 8);
PHOTON_AT(struct photon_config_t, ibv.ib_dev, 16);
PHOTON_AT(struct photon_config_t, ibv.use_cma, 24);
PHOTON_AT(struct photon_config_t, ibv.use_ud, 28);
PHOTON_AT(struct photon_config_t, ibv.num_srq, 32);
PHOTON_AT(struct photon_config_t, ibv.ud_gid_prefix, 40);
PHOTON_ASSERT(sizeof(((struct photon_config_t*)0)->ugni) == 16);
PHOTON_AT(struct photon_config_t, ugni, 48);
PHOTON_AT(struct photon_config_t, ugni.eth_dev, 48);
PHOTON_AT(struct photon_config_t, ugni.bte_thresh, 56);
PHOTON_ASSERT(sizeof(((struct photon_config_t*)0)->fi) == 40);
PHOTON_AT(struct photon_config_t, fi, 64);
PHOTON_AT(struct photon_config_t, fi.eth_dev, 64);
PHOTON_AT(struct photon_config_t, fi.domain, 72);
PHOTON_AT(struct photon_config_t, fi.node, 80);
PHOTON_AT(struct photon_config_t, fi.service, 88);
PHOTON_AT(struct photon_config_t, fi.provider, 96);
PHOTON_ASSERT(sizeof(((struct photon_config_t*)0)->forwarder) == 16);
PHOTON_AT(struct photon_config_t, forwarder, 104);
PHOTON_AT(struct photon_config_t, forwarder.use_forwarder, 104);
PHOTON_AT(struct photon_config_t, forwarder.forwarder_eids, 112);
PHOTON_ASSERT(sizeof(((struct photon_config_t*)0)->cap) == 40);
PHOTON_AT(struct photon_config_t, cap, 120);
PHOTON_AT(struct photon_config_t, cap.max_cid_size, 120);
PHOTON_AT(struct photon_config_t, cap.eager_buf_size, 124);
PHOTON_AT(struct photon_config_t, cap.pwc_buf_size, 128);
PHOTON_AT(struct photon_config_t, cap.small_msg_size, 132);
PHOTON_AT(struct photon_config_t, cap.small_pwc_size, 136);
PHOTON_AT(struct photon_config_t, cap.ledger_entries, 140);
PHOTON_AT(struct photon_config_t, cap.max_rd, 144);
PHOTON_AT(struct photon_config_t, cap.default_rd, 148);
PHOTON_AT(struct photon_config_t, cap.num_cq, 152);
PHOTON_AT(struct photon_config_t, cap.use_rcq, 156);
PHOTON_ASSERT(sizeof(((struct photon_config_t*)0)->attr) == 4);
PHOTON_AT(struct photon_config_t, attr, 160);
PHOTON_AT(struct photon_config_t, attr.comp_order, 160);
PHOTON_ASSERT(sizeof(((struct photon_config_t*)0)->exch) == 16);
PHOTON_AT(struct photon_config_t, exch, 168);
PHOTON_AT(struct photon_config_t, exch.barrier, 168);
PHOTON_AT(struct photon_config_t, exch.allgather, 176);
PHOTON_AT(struct photon_config_t, comm, 184);
PHOTON_AT(struct photon_config_t, meta_exch, 192);
PHOTON_AT(struct photon_config_t, backend, 196);
PHOTON_AT(struct photon_config_t, coll, 200);

#undef PHOTON_AT
#undef PHOTON_ASSERT

#endif
