// photon_collective_run(), and communicators whose ranks come at different times.
#include <atomic>

#include "collective_calls.hpp"
#include "rounds.hpp"

namespace photon::test {
namespace {

class CollectiveRun : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, CollectiveRun, testing::Values(Ground::shm, Ground::sim),
                         ground_name);

void take_word(std::uint64_t id) {
  const Probed found = take(kAnyone, PHOTON_PROBE_EVQ);
  EXPECT_EQ(found.status, PHOTON_OK);
  EXPECT_EQ(found.id.u64, id);
}

// Listings 1 and 2 of the paper on LibPhotonNBC.
TEST_P(CollectiveRun, does_what_join_does_with_its_arguments_in_one_place) {
  ClassicJob job(3, GetParam());
  job.run([&](int rank) {
    std::int64_t in[3] = {rank, 10 * rank, -rank}, out[3] = {};
    photon_coll_parameters parameters{};
    parameters.sendbuf = in;
    parameters.recvbuf = out;
    parameters.count = 3;
    parameters.datatype = PHOTON_INT64;
    parameters.op = PHOTON_COLL_OP_SUM;
    EXPECT_EQ(photon_collective_run(prepared(PHOTON_COLL_IALLREDUCE, u64(7)), &parameters),
              PHOTON_OK);
    parameters = {};  // it was read at the call
    take_word(7);
    EXPECT_EQ(out[0], 3);
    EXPECT_EQ(out[1], 30);
    EXPECT_EQ(out[2], -3);
    EXPECT_EQ(photon_collective_run(prepared(PHOTON_COLL_BARRIER, u64(8)), nullptr), PHOTON_OK);
    take_word(8);
  });
}

TEST_P(CollectiveRun, refuses_what_join_refuses_and_says_so_under_its_own_name) {
  ClassicJob job(1, GetParam());
  testing::internal::CaptureStderr();
  job.run([&](int) {
    std::int32_t in = 4, out = 0;
    const photon_rid rid = prepared(PHOTON_COLL_ALLREDUCE);
    EXPECT_EQ(photon_collective_run(rid, nullptr), PHOTON_ERROR);
    photon_coll_parameters parameters{&in, &out, -1, PHOTON_INT32, PHOTON_COLL_OP_MAX};
    EXPECT_EQ(photon_collective_run(rid, &parameters), PHOTON_ERROR);
    parameters.count = 1;
    parameters.op = 77;
    EXPECT_EQ(photon_collective_run(rid, &parameters), PHOTON_ERROR);
    parameters.op = PHOTON_COLL_OP_MAX;
    EXPECT_EQ(photon_collective_run(rid, &parameters), PHOTON_OK);
    EXPECT_EQ(out, 4);
    EXPECT_EQ(photon_collective_run(rid, &parameters), PHOTON_ERROR) << "it is over";
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("photon_collective_run: the parameters are null"), std::string::npos) << said;
}

// Nobody waits in init or in a join that does not block; who comes last makes the team complete.
TEST_P(CollectiveRun, a_join_returns_though_other_ranks_have_not_come_to_the_communicator) {
  ClassicJob job(3, GetParam());
  std::atomic<int> joined{0};
  job.run([&](int rank) {
    if (rank == 2)
      while (joined < 2) std::this_thread::yield();
    std::int32_t in = 1 << rank, out = 0, scanned = 0;
    const std::vector<int> order{2, 0, 1};
    const photon_rid first = prepared_among(order, 3, PHOTON_COLL_IALLREDUCE);
    const photon_rid left = prepared_among(order, 3, PHOTON_COLL_IBARRIER);
    const photon_rid second = prepared_among(order, 3, PHOTON_COLL_ISCAN);
    EXPECT_EQ(join_sum(second, in, scanned), PHOTON_OK);
    EXPECT_EQ(photon_cancel(left, 0), PHOTON_OK);
    EXPECT_EQ(join_sum(first, in, out), PHOTON_OK);
    ++joined;
    EXPECT_EQ(photon_wait(first), PHOTON_OK);
    EXPECT_EQ(photon_wait(second), PHOTON_OK);
    EXPECT_EQ(out, 7);
    EXPECT_EQ(scanned, rank == 2 ? 4 : rank == 0 ? 5 : 7);
  });
}

// A rank that leaves without it fails the others' collectives, also where their team was not made.
TEST(CollectiveRunPeers, a_rank_that_left_before_it_came_to_a_communicator_is_an_error) {
  ClassicJob job(3);
  job.run_bare([&](int rank) {
    photon_config_t config = job.configuration(rank);
    ASSERT_EQ(photon_init(&config), PHOTON_OK);
    EXPECT_EQ(join_barrier(prepared(PHOTON_COLL_BARRIER, u64(1), PHOTON_REQ_PWC_NO_LCE)),
              PHOTON_OK);
    if (rank != 1) {
      const photon_rid rid = prepared_among({0, 1, 2}, 3, PHOTON_COLL_BARRIER);
      EXPECT_EQ(join_barrier(rid), PHOTON_ERROR);
      const photon_rid other = prepared_among({2, 1, 0}, 3, PHOTON_COLL_BARRIER);
      EXPECT_EQ(join_barrier(other), PHOTON_ERROR);
    }
    static_cast<void>(photon_finalize());
  });
}

// Many are prepared and joined: their places in the team are given up.
TEST_P(CollectiveRun, a_hundred_thousand_of_them_leave_nothing_behind) {
  const int count = GetParam() == Ground::sim ? 2000 : static_cast<int>(rounds(100'000));
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    for (int i = 0; i < count; ++i) {
      std::int32_t in = rank + i, out = 0;
      ASSERT_EQ(join_sum(prepared(PHOTON_COLL_ALLREDUCE, u64(1), PHOTON_REQ_PWC_NO_LCE), in, out),
                PHOTON_OK);
      ASSERT_EQ(out, 2 * i + 1);
    }
  });
}

}  // namespace
}  // namespace photon::test
