// What programs were compiled against: sizes, offsets and values of the classic API, asserted.
#include <photon.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace {

static_assert(PHOTON_OK == 0 && PHOTON_ERROR_NOINIT == 1 && PHOTON_ERROR == 2 &&
              PHOTON_ERROR_RESOURCE == 4 && PHOTON_SHUTDOWN == 8);
static_assert(PHOTON_EXCH_TCP == 0 && PHOTON_EXCH_MPI == 1 && PHOTON_EXCH_PMI == 2 &&
              PHOTON_EXCH_XSP == 4 && PHOTON_EXCH_EXTERNAL == 8);
static_assert(PHOTON_SEND_LEDGER == 0 && PHOTON_RECV_LEDGER == 1);
static_assert(PHOTON_REQ_NIL == 0 && PHOTON_REQ_COMPLETED == 1 && PHOTON_REQ_PWC_NO_LCE == 2 &&
              PHOTON_REQ_PWC_NO_RCE == 4);
static_assert(PHOTON_AMO_FADD == 1 && PHOTON_AMO_CSWAP == 2);
static_assert(PHOTON_PROBE_ANY == 0xffff && PHOTON_PROBE_EVQ == 1 && PHOTON_PROBE_LEDGER == 2);
static_assert(PHOTON_ANY_TAG == -1 && PHOTON_ANY_SOURCE == -1 && PHOTON_ANY_SIZE == -1);
static_assert(PHOTON_ORDER_DEFAULT == 0 && PHOTON_ORDER_NONE == 1 && PHOTON_ORDER_STRICT == 2);
static_assert(PHOTON_BACKEND_DEFAULT == 0 && PHOTON_BACKEND_VERBS == 1 &&
              PHOTON_BACKEND_UGNI == 2 && PHOTON_BACKEND_FI == 3 && PHOTON_BACKEND_MAX == 4);
static_assert(PHOTON_COLL_IFACE_DEFAULT == 0 && PHOTON_COLL_IFACE_PWC == 1 &&
              PHOTON_COLL_IFACE_NBC == 2 && PHOTON_COLL_IFACE_MAX == 3);
static_assert(PHOTON_COLL_BARRIER == 1 && PHOTON_COLL_REDUCE == 2 && PHOTON_COLL_ALLREDUCE == 3 &&
              PHOTON_COLL_SCAN == 4 && PHOTON_COLL_IBARRIER == 5 && PHOTON_COLL_IALLREDUCE == 6 &&
              PHOTON_COLL_ISCAN == 7 && PHOTON_COLL_MAXVAL == 8);
static_assert(PHOTON_COLL_OP_SUM == 1 && PHOTON_COLL_OP_MIN == 2 && PHOTON_COLL_OP_MAX == 3 &&
              PHOTON_COLL_OP_PROD == 4 && PHOTON_COLL_TYPE == 5);
static_assert(PHOTON_COLL_ALGO_RING == 1 && PHOTON_COLL_ALGO_TREE == 2 &&
              PHOTON_COLL_ALGO_REC_DOUBLING == 3);
static_assert(PHOTON_INT8 == 0 && PHOTON_UINT8 == 1 && PHOTON_INT16 == 2 && PHOTON_UINT16 == 3 &&
              PHOTON_INT32 == 4 && PHOTON_UINT32 == 5 && PHOTON_INT64 == 6 && PHOTON_UINT64 == 7 &&
              PHOTON_FLOAT == 8 && PHOTON_DOUBLE == 9 && PHOTON_FLOAT_COMPLEX == 10 &&
              PHOTON_DOUBLE_COMPLEX == 11 && PHOTON_LONG_DOUBLE == 12 &&
              PHOTON_LONG_DOUBLE_COMPLEX == 13 && PHOTON_DATATYPE_LAST == 14);
static_assert(PHOTON_ATOMIC_MIN == 1 && PHOTON_ATOMIC_MAX == 2 && PHOTON_ATOMIC_SUM == 3 &&
              PHOTON_ATOMIC_LAST == 4);

static_assert(std::is_same_v<photon_rid, std::uint64_t>);
static_assert(sizeof(photon_cid) == 16 && offsetof(photon_cid, size) == 8);
static_assert(offsetof(photon_cid, u64) == 0 && offsetof(photon_cid, data) == 0);
static_assert(sizeof(photon_addr) == 16);
static_assert(sizeof(photon_buffer_priv_t) == 16 && offsetof(photon_buffer_priv_t, key1) == 8);
static_assert(sizeof(photon_buffer_t) == 32 && offsetof(photon_buffer_t, addr) == 0 &&
              offsetof(photon_buffer_t, size) == 8 && offsetof(photon_buffer_t, priv) == 16);
static_assert(sizeof(photon_status_t) == 48 && offsetof(photon_status_t, request) == 16 &&
              offsetof(photon_status_t, size) == 24 && offsetof(photon_status_t, tag) == 32 &&
              offsetof(photon_status_t, count) == 36 && offsetof(photon_status_t, error) == 40);

using Config = photon_config_t;
static_assert(offsetof(Config, address) == 0 && offsetof(Config, nproc) == 4);
static_assert(offsetof(Config, ibv) == 8 && sizeof(Config::ibv) == 40);
static_assert(offsetof(Config, ugni) == 48 && sizeof(Config::ugni) == 16);
static_assert(offsetof(Config, fi) == 64 && sizeof(Config::fi) == 40);
static_assert(offsetof(Config, forwarder) == 104 && sizeof(Config::forwarder) == 16);
static_assert(offsetof(Config, cap) == 120 && sizeof(Config::cap) == 40);
static_assert(offsetof(Config, attr) == 160 && sizeof(Config::attr) == 4);
static_assert(offsetof(Config, exch) == 168 && sizeof(Config::exch) == 16);
static_assert(offsetof(Config, comm) == 184 && offsetof(Config, meta_exch) == 192);
static_assert(offsetof(Config, backend) == 196 && offsetof(Config, coll) == 200);
static_assert(sizeof(Config) == 208);

using Ibv = decltype(Config::ibv);
static_assert(offsetof(Ibv, eth_dev) == 0 && offsetof(Ibv, ib_dev) == 8 &&
              offsetof(Ibv, use_cma) == 16 && offsetof(Ibv, use_ud) == 20 &&
              offsetof(Ibv, num_srq) == 24 && offsetof(Ibv, ud_gid_prefix) == 32);
using Ugni = decltype(Config::ugni);
static_assert(offsetof(Ugni, eth_dev) == 0 && offsetof(Ugni, bte_thresh) == 8);
using Fi = decltype(Config::fi);
static_assert(offsetof(Fi, eth_dev) == 0 && offsetof(Fi, domain) == 8 && offsetof(Fi, node) == 16 &&
              offsetof(Fi, service) == 24 && offsetof(Fi, provider) == 32);
using Forwarder = decltype(Config::forwarder);
static_assert(offsetof(Forwarder, use_forwarder) == 0 && offsetof(Forwarder, forwarder_eids) == 8);
using Cap = decltype(Config::cap);
static_assert(offsetof(Cap, max_cid_size) == 0 && offsetof(Cap, eager_buf_size) == 4 &&
              offsetof(Cap, pwc_buf_size) == 8 && offsetof(Cap, small_msg_size) == 12 &&
              offsetof(Cap, small_pwc_size) == 16 && offsetof(Cap, ledger_entries) == 20 &&
              offsetof(Cap, max_rd) == 24 && offsetof(Cap, default_rd) == 28 &&
              offsetof(Cap, num_cq) == 32 && offsetof(Cap, use_rcq) == 36);
static_assert(offsetof(decltype(Config::attr), comp_order) == 0);
using Exch = decltype(Config::exch);
static_assert(offsetof(Exch, barrier) == 0 && offsetof(Exch, allgather) == 8);

}  // namespace
