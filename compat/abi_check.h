/*
 * What programs were compiled against: sizes, offsets and values of the classic API, asserted.
 * Included by a C++ file of the library, and by a C one of the tests (tests/classic/abi.c).
 */
#pragma once

#include <assert.h>
#include <photon.h>
#include <stddef.h>
#include <stdint.h>

static_assert(PHOTON_OK == 0 && PHOTON_ERROR_NOINIT == 1 && PHOTON_ERROR == 2 &&
                  PHOTON_ERROR_RESOURCE == 4 && PHOTON_SHUTDOWN == 8,
              "");
static_assert(PHOTON_EXCH_TCP == 0 && PHOTON_EXCH_MPI == 1 && PHOTON_EXCH_PMI == 2 &&
                  PHOTON_EXCH_XSP == 4 && PHOTON_EXCH_EXTERNAL == 8,
              "");
static_assert(PHOTON_SEND_LEDGER == 0 && PHOTON_RECV_LEDGER == 1, "");
static_assert(PHOTON_REQ_NIL == 0 && PHOTON_REQ_COMPLETED == 1 && PHOTON_REQ_PWC_NO_LCE == 2 &&
                  PHOTON_REQ_PWC_NO_RCE == 4,
              "");
static_assert(PHOTON_AMO_FADD == 1 && PHOTON_AMO_CSWAP == 2, "");
static_assert(PHOTON_PROBE_ANY == 0xffff && PHOTON_PROBE_EVQ == 1 && PHOTON_PROBE_LEDGER == 2, "");
static_assert(PHOTON_ANY_TAG == -1 && PHOTON_ANY_SOURCE == -1 && PHOTON_ANY_SIZE == -1, "");
static_assert(PHOTON_ORDER_DEFAULT == 0 && PHOTON_ORDER_NONE == 1 && PHOTON_ORDER_STRICT == 2, "");
static_assert(PHOTON_BACKEND_DEFAULT == 0 && PHOTON_BACKEND_VERBS == 1 &&
                  PHOTON_BACKEND_UGNI == 2 && PHOTON_BACKEND_FI == 3 && PHOTON_BACKEND_MAX == 4,
              "");
static_assert(PHOTON_COLL_IFACE_DEFAULT == 0 && PHOTON_COLL_IFACE_PWC == 1 &&
                  PHOTON_COLL_IFACE_NBC == 2 && PHOTON_COLL_IFACE_MAX == 3,
              "");
static_assert(PHOTON_COLL_BARRIER == 1 && PHOTON_COLL_REDUCE == 2 && PHOTON_COLL_ALLREDUCE == 3 &&
                  PHOTON_COLL_SCAN == 4 && PHOTON_COLL_IBARRIER == 5 &&
                  PHOTON_COLL_IALLREDUCE == 6 && PHOTON_COLL_ISCAN == 7 && PHOTON_COLL_MAXVAL == 8,
              "");
static_assert(PHOTON_COLL_OP_SUM == 1 && PHOTON_COLL_OP_MIN == 2 && PHOTON_COLL_OP_MAX == 3 &&
                  PHOTON_COLL_OP_PROD == 4 && PHOTON_COLL_TYPE == 5,
              "");
static_assert(PHOTON_COLL_ALGO_RING == 1 && PHOTON_COLL_ALGO_TREE == 2 &&
                  PHOTON_COLL_ALGO_REC_DOUBLING == 3,
              "");
static_assert(PHOTON_COLL_NODE_ROOT == 1 && PHOTON_COLL_NODE_INNER == 2 &&
                  PHOTON_COLL_NODE_LEAF == 3,
              "");
static_assert(PHOTON_COLL_MSG_SMALL == 1 && PHOTON_COLL_MSG_LARGE == 2, "");
static_assert(PHOTON_COLL_DATA_IN == 1 && PHOTON_COLL_DATA_OUT == 2, "");
static_assert(PHOTON_INT8 == 0 && PHOTON_UINT8 == 1 && PHOTON_INT16 == 2 && PHOTON_UINT16 == 3 &&
                  PHOTON_INT32 == 4 && PHOTON_UINT32 == 5 && PHOTON_INT64 == 6 &&
                  PHOTON_UINT64 == 7 && PHOTON_FLOAT == 8 && PHOTON_DOUBLE == 9 &&
                  PHOTON_FLOAT_COMPLEX == 10 && PHOTON_DOUBLE_COMPLEX == 11 &&
                  PHOTON_LONG_DOUBLE == 12 && PHOTON_LONG_DOUBLE_COMPLEX == 13 &&
                  PHOTON_DATATYPE_LAST == 14,
              "");
static_assert(PHOTON_ATOMIC_MIN == 1 && PHOTON_ATOMIC_MAX == 2 && PHOTON_ATOMIC_SUM == 3 &&
                  PHOTON_ATOMIC_LAST == 4,
              "");

static_assert(sizeof(photon_rid) == 8 && (photon_rid)-1 > 0, "");
static_assert(sizeof(photon_coll_comm) == sizeof(void*), "");
static_assert(sizeof(photon_coll) == 4 && sizeof(photon_coll_op) == 4 &&
                  sizeof(photon_coll_algo) == 4 && sizeof(photon_coll_node) == 4 &&
                  sizeof(photon_coll_msg) == 4 && sizeof(photon_coll_data) == 4 &&
                  sizeof(photon_datatype) == 4 && sizeof(photon_atomic_op) == 4,
              "");
static_assert(sizeof(photon_cfg_backend_t) == 4 && sizeof(photon_cfg_coll_iface_t) == 4, "");

static_assert(sizeof(photon_cid) == 16, "");
static_assert(offsetof(photon_cid, u64) == 0, "");
static_assert(offsetof(photon_cid, data) == 0, "");
static_assert(offsetof(photon_cid, size) == 8, "");

static_assert(sizeof(photon_addr) == 16, "");
static_assert(offsetof(photon_addr, raw) == 0, "");
static_assert(offsetof(photon_addr, s_addr) == 0, "");
static_assert(offsetof(photon_addr, global.prefix) == 0, "");
static_assert(offsetof(photon_addr, global.proc_id) == 8, "");
static_assert(offsetof(photon_addr, blkaddr.blk0) == 0, "");
static_assert(offsetof(photon_addr, blkaddr.blk1) == 4, "");
static_assert(offsetof(photon_addr, blkaddr.blk2) == 8, "");
static_assert(offsetof(photon_addr, blkaddr.blk3) == 12, "");

static_assert(sizeof(struct photon_buffer_priv_t) == 16, "");
static_assert(offsetof(struct photon_buffer_priv_t, key0) == 0, "");
static_assert(offsetof(struct photon_buffer_priv_t, key1) == 8, "");
static_assert(sizeof(struct photon_buffer_t) == 32, "");
static_assert(offsetof(struct photon_buffer_t, addr) == 0, "");
static_assert(offsetof(struct photon_buffer_t, size) == 8, "");
static_assert(offsetof(struct photon_buffer_t, priv) == 16, "");
static_assert(sizeof(struct photon_status_t) == 48, "");
static_assert(offsetof(struct photon_status_t, src_addr) == 0, "");
static_assert(offsetof(struct photon_status_t, request) == 16, "");
static_assert(offsetof(struct photon_status_t, size) == 24, "");
static_assert(offsetof(struct photon_status_t, tag) == 32, "");
static_assert(offsetof(struct photon_status_t, count) == 36, "");
static_assert(offsetof(struct photon_status_t, error) == 40, "");

static_assert(sizeof(struct photon_config_t) == 208, "");
static_assert(offsetof(struct photon_config_t, address) == 0, "");
static_assert(offsetof(struct photon_config_t, nproc) == 4, "");
static_assert(sizeof(((struct photon_config_t*)0)->ibv) == 40, "");
static_assert(offsetof(struct photon_config_t, ibv) == 8, "");
static_assert(offsetof(struct photon_config_t, ibv.eth_dev) == 8, "");
static_assert(offsetof(struct photon_config_t, ibv.ib_dev) == 16, "");
static_assert(offsetof(struct photon_config_t, ibv.use_cma) == 24, "");
static_assert(offsetof(struct photon_config_t, ibv.use_ud) == 28, "");
static_assert(offsetof(struct photon_config_t, ibv.num_srq) == 32, "");
static_assert(offsetof(struct photon_config_t, ibv.ud_gid_prefix) == 40, "");
static_assert(sizeof(((struct photon_config_t*)0)->ugni) == 16, "");
static_assert(offsetof(struct photon_config_t, ugni) == 48, "");
static_assert(offsetof(struct photon_config_t, ugni.eth_dev) == 48, "");
static_assert(offsetof(struct photon_config_t, ugni.bte_thresh) == 56, "");
static_assert(sizeof(((struct photon_config_t*)0)->fi) == 40, "");
static_assert(offsetof(struct photon_config_t, fi) == 64, "");
static_assert(offsetof(struct photon_config_t, fi.eth_dev) == 64, "");
static_assert(offsetof(struct photon_config_t, fi.domain) == 72, "");
static_assert(offsetof(struct photon_config_t, fi.node) == 80, "");
static_assert(offsetof(struct photon_config_t, fi.service) == 88, "");
static_assert(offsetof(struct photon_config_t, fi.provider) == 96, "");
static_assert(sizeof(((struct photon_config_t*)0)->forwarder) == 16, "");
static_assert(offsetof(struct photon_config_t, forwarder) == 104, "");
static_assert(offsetof(struct photon_config_t, forwarder.use_forwarder) == 104, "");
static_assert(offsetof(struct photon_config_t, forwarder.forwarder_eids) == 112, "");
static_assert(sizeof(((struct photon_config_t*)0)->cap) == 40, "");
static_assert(offsetof(struct photon_config_t, cap) == 120, "");
static_assert(offsetof(struct photon_config_t, cap.max_cid_size) == 120, "");
static_assert(offsetof(struct photon_config_t, cap.eager_buf_size) == 124, "");
static_assert(offsetof(struct photon_config_t, cap.pwc_buf_size) == 128, "");
static_assert(offsetof(struct photon_config_t, cap.small_msg_size) == 132, "");
static_assert(offsetof(struct photon_config_t, cap.small_pwc_size) == 136, "");
static_assert(offsetof(struct photon_config_t, cap.ledger_entries) == 140, "");
static_assert(offsetof(struct photon_config_t, cap.max_rd) == 144, "");
static_assert(offsetof(struct photon_config_t, cap.default_rd) == 148, "");
static_assert(offsetof(struct photon_config_t, cap.num_cq) == 152, "");
static_assert(offsetof(struct photon_config_t, cap.use_rcq) == 156, "");
static_assert(sizeof(((struct photon_config_t*)0)->attr) == 4, "");
static_assert(offsetof(struct photon_config_t, attr) == 160, "");
static_assert(offsetof(struct photon_config_t, attr.comp_order) == 160, "");
static_assert(sizeof(((struct photon_config_t*)0)->exch) == 16, "");
static_assert(offsetof(struct photon_config_t, exch) == 168, "");
static_assert(offsetof(struct photon_config_t, exch.barrier) == 168, "");
static_assert(offsetof(struct photon_config_t, exch.allgather) == 176, "");
static_assert(offsetof(struct photon_config_t, comm) == 184, "");
static_assert(offsetof(struct photon_config_t, meta_exch) == 192, "");
static_assert(offsetof(struct photon_config_t, backend) == 196, "");
static_assert(offsetof(struct photon_config_t, coll) == 200, "");
