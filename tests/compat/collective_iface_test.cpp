// photon_config_t.coll: the collectives over plain puts, and the library's own.
#include "collective_calls.hpp"

namespace photon::test {
namespace {

struct Iface {
  photon_cfg_coll_iface_t coll;
  const char* name;
};

class CollectiveIface : public testing::TestWithParam<Iface> {
 protected:
  static void choose(photon_config_t& config) { config.coll = GetParam().coll; }
};
INSTANTIATE_TEST_SUITE_P(
    ifaces, CollectiveIface,
    testing::Values(Iface{PHOTON_COLL_IFACE_DEFAULT, "default"},
                    Iface{PHOTON_COLL_IFACE_PWC, "pwc"}, Iface{PHOTON_COLL_IFACE_NBC, "nbc"},
                    Iface{static_cast<photon_cfg_coll_iface_t>(77), "unknown"}),
    [](const auto& one) { return one.param.name; });

TEST_P(CollectiveIface, gives_the_same_results) {
  ClassicJob job(3, Ground::shm, choose);
  job.run([&](int rank) {
    for (int round = 0; round < 50; ++round) {
      std::vector<std::int32_t> in(round % 2 == 0 ? 1 : 20000, rank + round), out(in.size(), -1);
      const auto run = [&](photon_coll kind) {
        const photon_rid rid = prepared(kind, u64(1), PHOTON_REQ_PWC_NO_LCE);
        ASSERT_EQ(photon_collective_join(rid, in.data(), out.data(), static_cast<int>(in.size()),
                                         PHOTON_INT32, &sum_op),
                  PHOTON_OK);
      };
      run(PHOTON_COLL_ALLREDUCE);
      EXPECT_EQ(out.back(), 3 + 3 * round);
      run(PHOTON_COLL_SCAN);
      EXPECT_EQ(out.back(), (rank + 1) * (rank + 2 * round) / 2);
      run(PHOTON_COLL_BARRIER);
      out.assign(in.size(), -1);
      run(PHOTON_COLL_REDUCE);
      EXPECT_EQ(out.back(), rank == 0 ? 3 + 3 * round : -1);
    }
  });
}

TEST_P(CollectiveIface, tells_non_blocking_ones_by_their_ids_among_any_ranks) {
  ClassicJob job(4, Ground::shm, choose);
  job.run([&](int rank) {
    const std::vector<int> mine = rank % 2 == 0 ? std::vector<int>{2, 0} : std::vector<int>{1, 3};
    for (std::int32_t round = 0; round < 20; ++round) {
      std::int32_t in = 1 << rank, out = 0;
      const photon_rid rid = prepared_among(mine, 4, PHOTON_COLL_IALLREDUCE);
      EXPECT_EQ(join_sum(rid, in, out), PHOTON_OK);
      EXPECT_EQ(take(kAnyone, PHOTON_PROBE_EVQ).id.u64, 1u);
      EXPECT_EQ(out, rank % 2 == 0 ? 5 : 10);
    }
    EXPECT_EQ(probe().flag, 0);
  });
}

// Rank 0 knows nothing of it: its result is right where its own part of them is over.
TEST_P(CollectiveIface, ends_with_an_error_where_a_rank_has_left) {
  ClassicJob job(3, Ground::shm, choose);
  job.run_bare([&](int rank) {
    photon_config_t config = job.configuration(rank);
    choose(config);
    ASSERT_EQ(photon_init(&config), PHOTON_OK);
    EXPECT_EQ(join_barrier(prepared(PHOTON_COLL_BARRIER, u64(1), PHOTON_REQ_PWC_NO_LCE)),
              PHOTON_OK);
    if (rank != 1) {
      std::vector<std::int32_t> in(5000), out(5000, -1);
      EXPECT_EQ(photon_collective_join(prepared(PHOTON_COLL_ALLREDUCE), in.data(), out.data(), 5000,
                                       PHOTON_INT32, &sum_op),
                PHOTON_ERROR);
      EXPECT_EQ(out[0], -1);
    }
    static_cast<void>(photon_finalize());
  });
}

TEST_P(CollectiveIface, ends_with_an_error_where_counts_differ) {
  ClassicJob job(3, Ground::shm, choose);
  job.run([&](int rank) {
    std::vector<std::int32_t> in(5000), out(5000, -1);
    EXPECT_EQ(photon_collective_join(prepared(PHOTON_COLL_ALLREDUCE), in.data(), out.data(),
                                     rank == 0 ? 5000 : 4999, PHOTON_INT32, &sum_op),
              PHOTON_ERROR);
    EXPECT_EQ(join_barrier(prepared(PHOTON_COLL_BARRIER)), PHOTON_OK) << "others go on";
  });
}

}  // namespace
}  // namespace photon::test
