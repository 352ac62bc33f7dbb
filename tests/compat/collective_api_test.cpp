// Collectives: communicators, ids, requests, refusals, and peers that are gone.
#include <algorithm>
#include <array>

#include "collective_calls.hpp"

namespace photon::test {
namespace {

class CollectiveUse : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, CollectiveUse, testing::Values(Ground::shm, Ground::sim),
                         ground_name);

TEST_P(CollectiveUse, sub_communicators_reduce_among_their_ranks_in_their_order) {
  ClassicJob job(5, GetParam());
  job.run([&](int rank) {
    const std::vector<int> odd{3, 1}, even{4, 0, 2};
    const std::vector<int>& mine = rank % 2 == 0 ? even : odd;
    std::int32_t in = 1 << rank, out = 0;
    EXPECT_EQ(join_sum(prepared_among(mine, 5, PHOTON_COLL_ALLREDUCE), in, out), PHOTON_OK);
    EXPECT_EQ(out, rank % 2 == 0 ? 0b10101 : 0b01010);
    out = 0;
    EXPECT_EQ(join_sum(prepared_among(mine, 5, PHOTON_COLL_SCAN), in, out), PHOTON_OK);
    std::int32_t wanted = 0;
    for (const int one : mine) {
      wanted += 1 << one;
      if (one == rank) break;
    }
    EXPECT_EQ(out, wanted);
    out = 0;
    EXPECT_EQ(join_sum(prepared_among(mine, 5, PHOTON_COLL_REDUCE), in, out), PHOTON_OK);
    EXPECT_EQ(out, rank != mine.front() ? 0 : rank % 2 == 0 ? 0b10101 : 0b01010);
    EXPECT_EQ(join_barrier(prepared_among(mine, 5, PHOTON_COLL_BARRIER)), PHOTON_OK);
  });
}

TEST_P(CollectiveUse, a_communicator_that_was_made_serves_in_place_of_its_ranks) {
  ClassicJob job(4, GetParam());
  job.run([&](int rank) {
    if (rank == 3) return;
    std::array<int, 3> active{2, 0, 1};
    photon_coll_comm comm = nullptr;
    ASSERT_EQ(photon_collective_comm_create(active.data(), 3, 4, &comm), PHOTON_OK);
    ASSERT_NE(comm, nullptr);
    active = {9, 9, 9};
    for (int round = 0; round < 3; ++round) {
      photon_rid rid = 0;
      ASSERT_EQ(photon_collective_init_new_comm(comm, 3, 4, PHOTON_COLL_ALLREDUCE, u64(1), &rid, 0),
                PHOTON_OK);
      std::int32_t in = rank + round, out = 0;
      EXPECT_EQ(join_sum(rid, in, out), PHOTON_OK);
      EXPECT_EQ(out, 3 + 3 * round);
    }
  });
}

// Ranks meet in different communicators at once, each in another order.
TEST_P(CollectiveUse, overlapping_communicators_do_not_mix) {
  ClassicJob job(3, GetParam());
  job.run([&](int rank) {
    const std::vector<std::vector<int>> pairs{{0, 1}, {1, 2}, {2, 0}, {0, 1, 2}, {2, 1, 0}};
    std::vector<photon_rid> rids;
    std::array<std::int32_t, 5> in{}, out{};
    for (const auto& pair : pairs) {
      const bool is_in = std::find(pair.begin(), pair.end(), rank) != pair.end();
      rids.push_back(is_in ? prepared_among(pair, 3, PHOTON_COLL_IALLREDUCE) : 0);
    }
    for (std::size_t n = 0; n < pairs.size(); ++n) {
      const std::size_t i = (n + static_cast<std::size_t>(rank)) % pairs.size();
      in[i] = static_cast<std::int32_t>(100 * i) + rank;
      if (rids[i] != 0) {
        EXPECT_EQ(join_sum(rids[i], in[i], out[i]), PHOTON_OK);
      }
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (rids[i] == 0) continue;
      EXPECT_EQ(photon_wait(rids[i]), PHOTON_OK);
      std::int32_t wanted = 0;
      for (const int one : pairs[i]) wanted += static_cast<std::int32_t>(100 * i) + one;
      EXPECT_EQ(out[i], wanted) << i;
    }
    EXPECT_EQ(probe().flag, 0) << "what was waited for is not probed as well";
  });
}

TEST_P(CollectiveUse, a_rid_can_be_tested_and_waited_for) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    int flag = 7, type = 7;
    std::int32_t in = rank, out = -1;
    const photon_rid tested = prepared(PHOTON_COLL_IALLREDUCE, u64(1), PHOTON_REQ_PWC_NO_LCE);
    EXPECT_EQ(photon_test(tested, &flag, &type, nullptr), 0);
    EXPECT_EQ(flag, 0);
    EXPECT_EQ(photon_wait(tested), PHOTON_ERROR) << "nobody has joined it";
    EXPECT_EQ(join_sum(tested, in, out), PHOTON_OK);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(probe().flag, 0) << "it was to give no id";
    while (flag == 0) ASSERT_EQ(photon_test(tested, &flag, &type, nullptr), 0);
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(type, 0);
    EXPECT_EQ(out, 1);
    EXPECT_EQ(photon_test(tested, &flag, &type, nullptr), 1);
    const photon_rid awaited = prepared(PHOTON_COLL_IBARRIER);
    EXPECT_EQ(join_barrier(awaited), PHOTON_OK);
    EXPECT_EQ(photon_cancel(prepared(PHOTON_COLL_IBARRIER), 0), PHOTON_OK);
    EXPECT_EQ(photon_wait(awaited), PHOTON_OK);
    EXPECT_EQ(photon_wait(awaited), PHOTON_ERROR);
  });
}

void check_word(photon_cid id) {
  EXPECT_EQ(id.size, 0u);
  EXPECT_EQ(id.u64, 33u);
}
void check_bytes(photon_cid id) {
  EXPECT_EQ(id.size, 20u);
  EXPECT_EQ(first_wrong(static_cast<unsigned char*>(id.data), 20, 3), 20u);
}
void check_bytes_of_a_word(photon_cid id) { EXPECT_EQ(id.size, 8u); }

TEST_P(CollectiveUse, local_ids_of_any_size_come_as_those_of_puts_do) {
  ClassicJob job(2, GetParam(), [](photon_config_t& config) { config.cap.max_cid_size = 32; });
  job.run([&](int) {
    std::array<unsigned char, 20> bytes{};
    fill(bytes.data(), bytes.size(), 3);
    const std::pair<photon_cid, void (*)(photon_cid)> cases[] = {
        {u64(33), check_word},
        {bytes_id(bytes.data(), 20), check_bytes},
        {bytes_id(bytes.data(), 8), check_bytes_of_a_word}};
    for (const photon_coll kind : {PHOTON_COLL_IBARRIER, PHOTON_COLL_BARRIER})
      for (const auto& [id, check] : cases) {
        fill(bytes.data(), bytes.size(), 3);
        const photon_rid rid = prepared(kind, id);
        bytes.fill(0);  // they were copied
        EXPECT_EQ(join_barrier(rid), PHOTON_OK);
        int flag = 0;
        while (flag == 0)
          ASSERT_EQ(photon_probe_completion(kAnyone, &flag, nullptr, nullptr, nullptr, check,
                                            PHOTON_PROBE_EVQ),
                    PHOTON_OK);
      }
    photon_rid rid = 0;
    std::array<unsigned char, 40> long_id{};
    EXPECT_EQ(photon_collective_init(PHOTON_COLL_IBARRIER, bytes_id(long_id.data(), 40), &rid, 0),
              PHOTON_ERROR);
  });
}

TEST_P(CollectiveUse, what_init_cannot_do_is_refused) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    photon_rid rid = 5;
    const auto kind = PHOTON_COLL_BARRIER;
    EXPECT_EQ(photon_collective_init(kind, u64(1), nullptr, 0), PHOTON_ERROR);
    for (const int unknown : {-1, 0, static_cast<int>(PHOTON_COLL_MAXVAL), 99})
      EXPECT_EQ(photon_collective_init(static_cast<photon_coll>(unknown), u64(1), &rid, 0),
                PHOTON_ERROR);
    EXPECT_EQ(photon_collective_init(kind, bytes_id(nullptr, 4), &rid, 0), PHOTON_ERROR);
    EXPECT_EQ(rid, 0u);
    const auto refused = [&](std::vector<int> active, int count, int total) {
      photon_coll_comm comm = &rid;
      EXPECT_EQ(photon_collective_init_new_comm(active.data(), count, total, kind, u64(1), &rid, 0),
                PHOTON_ERROR);
      EXPECT_EQ(photon_collective_comm_create(active.data(), count, total, &comm), PHOTON_ERROR);
      EXPECT_EQ(comm, nullptr);
    };
    refused({1 - rank}, 1, 2);  // not active
    refused({rank, 2}, 2, 2);   // no such rank
    refused({rank, -1}, 2, 2);
    refused({rank, rank}, 2, 2);
    refused({rank}, 0, 2);
    refused({rank}, -3, 2);
    refused({0, 1, 2}, 3, 3);  // more than there are
    EXPECT_EQ(photon_collective_init_new_comm(nullptr, 2, 2, kind, u64(1), &rid, 0), PHOTON_ERROR);
    int active[] = {0, 1};
    EXPECT_EQ(photon_collective_comm_create(active, 2, 2, nullptr), PHOTON_ERROR);
    EXPECT_EQ(join_barrier(prepared(kind)), PHOTON_OK) << "refusals do not count";
  });
}

TEST_P(CollectiveUse, what_join_cannot_do_is_refused_and_may_be_joined_properly_after) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    EXPECT_EQ(join_barrier(0), PHOTON_ERROR);
    EXPECT_EQ(join_barrier(12345), PHOTON_ERROR);
    std::int32_t in = rank, out = -1;
    const photon_rid rid = prepared(PHOTON_COLL_ALLREDUCE);
    const auto join = [&](void* from, void* to, int count, int type, int op) {
      auto what = static_cast<photon_coll_op>(op);
      return photon_collective_join(rid, from, to, count, static_cast<photon_datatype>(type),
                                    &what);
    };
    EXPECT_EQ(join(&in, &out, 1, PHOTON_DATATYPE_LAST, PHOTON_COLL_OP_SUM), PHOTON_ERROR);
    EXPECT_EQ(join(&in, &out, 1, -1, PHOTON_COLL_OP_SUM), PHOTON_ERROR);
    for (const int op : {-1, 0, static_cast<int>(PHOTON_COLL_TYPE)})
      EXPECT_EQ(join(&in, &out, 1, PHOTON_INT32, op), PHOTON_ERROR);
    for (const int op : {PHOTON_COLL_OP_MIN, PHOTON_COLL_OP_MAX})
      for (const int type :
           {PHOTON_FLOAT_COMPLEX, PHOTON_DOUBLE_COMPLEX, PHOTON_LONG_DOUBLE_COMPLEX})
        EXPECT_EQ(join(&in, &out, 1, type, op), PHOTON_ERROR);
    EXPECT_EQ(join(nullptr, &out, 1, PHOTON_INT32, PHOTON_COLL_OP_SUM), PHOTON_ERROR);
    EXPECT_EQ(join(&in, nullptr, 1, PHOTON_INT32, PHOTON_COLL_OP_SUM), PHOTON_ERROR);
    EXPECT_EQ(join(&in, &out, -1, PHOTON_INT32, PHOTON_COLL_OP_SUM), PHOTON_ERROR);
    EXPECT_EQ(photon_collective_join(rid, &in, &out, 1, PHOTON_INT32, nullptr), PHOTON_ERROR);
    EXPECT_EQ(out, -1);
    EXPECT_EQ(join_sum(rid, in, out), PHOTON_OK);
    EXPECT_EQ(out, 1);
    EXPECT_EQ(join_sum(rid, in, out), PHOTON_ERROR) << "it is over";
    EXPECT_EQ(photon_collective_join(prepared(PHOTON_COLL_ALLREDUCE), nullptr, nullptr, 0,
                                     PHOTON_INT32, &sum_op),
              PHOTON_OK);
  });
}

// Who joined properly hears of it too where he depends on it.
TEST_P(CollectiveUse, counts_that_differ_end_in_an_error_everywhere) {
  ClassicJob job(3, GetParam());
  testing::internal::CaptureStderr();
  job.run([&](int rank) {
    std::vector<std::int32_t> in(5000), out(5000, -1);
    const photon_rid rid = prepared(PHOTON_COLL_ALLREDUCE);
    EXPECT_EQ(photon_collective_join(rid, in.data(), out.data(), rank == 0 ? 5000 : 4999,
                                     PHOTON_INT32, &sum_op),
              PHOTON_ERROR);
    EXPECT_EQ(out[0], -1);
    EXPECT_EQ(join_barrier(prepared(PHOTON_COLL_BARRIER)), PHOTON_OK) << "others go on";
  });
  // Who has met it and who has heard of it, both name the cause.
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("it has joined with another count or datatype"), std::string::npos) << said;
  EXPECT_NE(said.find("joined with different counts or datatypes"), std::string::npos) << said;
  EXPECT_EQ(said.find("died"), std::string::npos) << said;
}

// Also of a blocking one, for a program that waits for the id and does not look at join's status.
void expect_failed(std::uint64_t id) {
  const Probed found = take(kAnyone, PHOTON_PROBE_EVQ);
  EXPECT_EQ(found.status, PHOTON_ERROR);
  EXPECT_EQ(found.flag, 1);
  EXPECT_EQ(found.id.u64, id);
}

// Rank 1 leaves in the midst of the chain: those after it, and by the result those before.
TEST_P(CollectiveUse, a_rank_that_left_ends_the_others_collectives_with_an_error) {
  for (const int count : {1, 200000}) {
    ClassicJob job(4, GetParam());
    job.run_bare([&](int rank) {
      photon_config_t config = job.configuration(rank);
      ASSERT_EQ(photon_init(&config), PHOTON_OK);
      EXPECT_EQ(join_barrier(prepared(PHOTON_COLL_BARRIER, u64(6))), PHOTON_OK);
      EXPECT_EQ(take(kAnyone, PHOTON_PROBE_EVQ).id.u64, 6u);
      if (rank != 1) {
        std::vector<std::int32_t> in(static_cast<std::size_t>(count)), out(in.size());
        photon_rid rid = prepared(PHOTON_COLL_ALLREDUCE, u64(7));
        EXPECT_EQ(photon_collective_join(rid, in.data(), out.data(), count, PHOTON_INT32, &sum_op),
                  PHOTON_ERROR);
        expect_failed(7);
        rid = prepared(PHOTON_COLL_IBARRIER, u64(8));
        EXPECT_EQ(join_barrier(rid), PHOTON_OK);
        expect_failed(8);
      }
      static_cast<void>(photon_finalize());
    });
  }
}

// On shm alone: sim may miss that a rank ended while it was spoken to for the first time.
TEST(CollectivePeers, a_rank_that_never_made_one_and_left_is_an_error_too) {
  ClassicJob job(3);
  job.run_bare([&](int rank) {
    photon_config_t config = job.configuration(rank);
    ASSERT_EQ(photon_init(&config), PHOTON_OK);
    if (rank != 0) {
      EXPECT_EQ(join_barrier(prepared(PHOTON_COLL_BARRIER)), PHOTON_ERROR);
    }
    static_cast<void>(photon_finalize());
  });
}

TEST_P(CollectiveUse, several_threads_of_a_rank_have_collectives_of_their_own_communicators) {
  ClassicJob job(3, GetParam());
  job.run([&](int rank) {
    std::vector<std::thread> threads;
    const std::vector<std::vector<int>> orders{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
    for (const auto& order : orders)
      threads.push_back(ClassicJob::in_same_rank([rank, order] {
        for (std::int32_t round = 0; round < 100; ++round) {
          std::int32_t in = rank * round, out = -1;
          ASSERT_EQ(join_sum(prepared_among(order, 3, PHOTON_COLL_ALLREDUCE), in, out), PHOTON_OK);
          ASSERT_EQ(out, 3 * round);
        }
      }));
    for (std::thread& thread : threads) thread.join();
  });
}

}  // namespace
}  // namespace photon::test
