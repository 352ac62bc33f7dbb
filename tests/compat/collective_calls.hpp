// Collectives as the tests prepare and join them.
// Owner: none.
#pragma once

#include "classic_job.hpp"

namespace photon::test {

inline constexpr int kAnyone = PHOTON_ANY_SOURCE;
inline photon_coll_op sum_op = PHOTON_COLL_OP_SUM;

inline photon_rid prepared(photon_coll kind, photon_cid id = u64(1), int flags = 0) {
  photon_rid rid = 0;
  EXPECT_EQ(photon_collective_init(kind, id, &rid, flags), PHOTON_OK);
  return rid;
}

inline photon_rid prepared_among(std::vector<int> active, int total, photon_coll kind) {
  photon_rid rid = 0;
  EXPECT_EQ(photon_collective_init_new_comm(active.data(), static_cast<int>(active.size()), total,
                                            kind, u64(1), &rid, 0),
            PHOTON_OK);
  return rid;
}

inline int join_sum(photon_rid rid, std::int32_t& in, std::int32_t& out) {
  return photon_collective_join(rid, &in, &out, 1, PHOTON_INT32, &sum_op);
}

inline int join_barrier(photon_rid rid) {
  return photon_collective_join(rid, nullptr, nullptr, 0, PHOTON_INT8, nullptr);
}

}  // namespace photon::test
