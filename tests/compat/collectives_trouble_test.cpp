// Collectives beside what else a rank does: counts, sessions that end, memory that is used up.
#include <array>
#include <atomic>

#include "collective_calls.hpp"

namespace photon::test {
namespace {

class CollectiveTrouble : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, CollectiveTrouble, testing::Values(Ground::shm, Ground::sim),
                         ground_name);

TEST_P(CollectiveTrouble, remaining_counts_those_whose_id_was_not_probed) {
  ClassicJob job(2, GetParam());
  job.run([&](int) {
    EXPECT_EQ(join_barrier(prepared(PHOTON_COLL_IBARRIER, u64(1), PHOTON_REQ_PWC_NO_LCE)),
              PHOTON_OK);
    for (const std::uint64_t id : {5U, 6U})
      EXPECT_EQ(join_barrier(prepared(PHOTON_COLL_IBARRIER, u64(id))), PHOTON_OK);
    EXPECT_EQ(probe(kAnyone, PHOTON_PROBE_LEDGER).remaining, 2);
    EXPECT_EQ(take(kAnyone, PHOTON_PROBE_EVQ).remaining, 1);
    EXPECT_EQ(take(1, PHOTON_PROBE_EVQ).remaining, 0);
    EXPECT_EQ(probe().remaining, 0);
  });
}

TEST_P(CollectiveTrouble, a_blocking_one_is_done_when_join_returns_and_its_local_id_is_probed_too) {
  ClassicJob job(3, GetParam());
  job.run([&](int) {
    std::uint64_t id = 10;
    for (const photon_coll kind :
         {PHOTON_COLL_BARRIER, PHOTON_COLL_REDUCE, PHOTON_COLL_ALLREDUCE, PHOTON_COLL_SCAN})
      for (const auto& [proc, kinds] :
           {std::pair{kAnyone, PHOTON_PROBE_EVQ}, {2, PHOTON_PROBE_EVQ}, {0, PHOTON_PROBE_ANY}}) {
        std::int32_t in = 1, out = 0;
        const photon_rid rid = prepared(kind, u64(++id));
        ASSERT_EQ(join_sum(rid, in, out), PHOTON_OK);
        EXPECT_EQ(probe(kAnyone, PHOTON_PROBE_LEDGER).flag, 0);
        EXPECT_EQ(probe(kAnyone, PHOTON_PROBE_LEDGER).remaining, 1);
        const Probed found = probe(proc, kinds);
        EXPECT_EQ(found.flag, 1);
        EXPECT_EQ(found.id.u64, id);
        EXPECT_EQ(found.id.size, 0u);
        EXPECT_EQ(found.source, proc);
        EXPECT_EQ(found.remaining, 0);
        EXPECT_EQ(probe().flag, 0) << "it comes once";
        int flag = 0;
        EXPECT_EQ(photon_test(rid, &flag, nullptr, nullptr), 1) << "join has taken it";
        EXPECT_EQ(join_sum(prepared(kind, u64(1), PHOTON_REQ_PWC_NO_LCE), in, out), PHOTON_OK);
        EXPECT_EQ(probe().flag, 0) << "nobody wanted an id";
      }
  });
}

// A program that waits for no id meets none of them until it probes, and then all in order.
TEST_P(CollectiveTrouble, ids_of_blocking_ones_that_nobody_probes_are_in_nobodys_way) {
  constexpr std::uint64_t kCount = 1000;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    for (std::uint64_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(join_barrier(prepared(PHOTON_COLL_BARRIER, u64(i))), PHOTON_OK);
      ASSERT_EQ(photon_put_with_completion(1 - rank, 0, nullptr, nullptr, u64(0), u64(i),
                                           PHOTON_REQ_PWC_NO_LCE),
                PHOTON_OK);
      ASSERT_EQ(take(kAnyone, PHOTON_PROBE_LEDGER).id.u64, i);
    }
    for (std::uint64_t i = 0; i < kCount; ++i)
      ASSERT_EQ(probe(kAnyone, PHOTON_PROBE_EVQ).id.u64, i);
    EXPECT_EQ(probe().flag, 0);
  });
}

// Not without end: of more than may be queued the oldest go, which is said once.
TEST_P(CollectiveTrouble, ids_of_blocking_ones_that_nobody_probes_are_bounded) {
  constexpr std::uint64_t kKept = 64, kCount = 3 * kKept;
  ClassicJob job(2, GetParam(), [](photon_config_t& config) { config.cap.max_rd = kKept; });
  testing::internal::CaptureStderr();
  job.run([&](int) {
    for (std::uint64_t i = 0; i < kCount; ++i)
      ASSERT_EQ(join_barrier(prepared(PHOTON_COLL_BARRIER, u64(i))), PHOTON_OK);
    EXPECT_EQ(probe(kAnyone, PHOTON_PROBE_LEDGER).remaining, static_cast<int>(kKept));
    for (std::uint64_t i = kCount - kKept; i < kCount; ++i)
      ASSERT_EQ(probe(kAnyone, PHOTON_PROBE_EVQ).id.u64, i);
    EXPECT_EQ(probe().flag, 0);
  });
  const std::string said = testing::internal::GetCapturedStderr();
  std::size_t count = 0;
  for (std::size_t at = 0; (at = said.find("the oldest are dropped", at)) != std::string::npos;
       ++at)
    ++count;
  EXPECT_EQ(count, 2u) << "once by each rank: " << said;
}

// The progress thread is off, so rank 0 answers when it probes, or never. On sim alone: on shm
// threads of one process need no answer.
TEST(CollectiveProbe, that_tells_of_one_serves_the_programs_own_traffic_too) {
  const Variable no_thread("PHOTON_PROGRESS_THREAD", "off");
  ClassicJob job(2, Ground::sim);
  std::atomic<bool> landed = false;
  job.run([&](int rank) {
    Registered memory(64);
    auto all = job.exchange(memory.buffer());
    job.meet();
    if (rank == 1) {
      unsigned char into[64];
      photon_rid rid = 0;
      EXPECT_EQ(photon_post_os_get_direct(0, into, 64, &all[0], 0, &rid), PHOTON_OK);
      EXPECT_EQ(photon_wait(rid), PHOTON_OK);
      landed = true;
      return;
    }
    for (std::uint64_t i = 0; !landed; ++i) {
      photon_rid rid = 0;
      int alone = 0;
      ASSERT_EQ(
          photon_collective_init_new_comm(&alone, 1, 2, PHOTON_COLL_IBARRIER, u64(i), &rid, 0),
          PHOTON_OK);
      ASSERT_EQ(join_barrier(rid), PHOTON_OK);
      EXPECT_EQ(probe().id.u64, i) << "of one rank it is over at once";
    }
  });
}

// It is refused for what it is: its ranks are not there any more to be read.
TEST_P(CollectiveTrouble, a_communicator_of_an_earlier_session_is_refused) {
  ClassicJob job(1, GetParam());
  const auto init = [](photon_coll_comm comm) {
    photon_rid rid = 0;
    return photon_collective_init_new_comm(comm, 1, 1, PHOTON_COLL_BARRIER, u64(1), &rid, 0);
  };
  job.run_bare([&](int rank) {
    photon_coll_comm comm = nullptr;
    for (int round = 0; round < 3; ++round) {
      photon_config_t config = job.configuration(rank);
      ASSERT_EQ(photon_init(&config), PHOTON_OK);
      if (round != 0) {
        testing::internal::CaptureStderr();
        EXPECT_EQ(init(comm), PHOTON_ERROR);
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_NE(said.find("none of this session"), std::string::npos) << said;
      }
      int active = 0;
      ASSERT_EQ(photon_collective_comm_create(&active, 1, 1, &comm), PHOTON_OK);
      EXPECT_EQ(init(comm), PHOTON_OK);
      EXPECT_EQ(photon_finalize(), PHOTON_OK);
    }
  });
}

// What TSan and ASan see: the members are copied while they are there.
TEST_P(CollectiveTrouble, a_communicator_is_used_while_the_session_ends) {
  for (int round = 0; round < 20; ++round) {
    ClassicJob job(1, GetParam());
    job.run_bare([&](int rank) {
      photon_config_t config = job.configuration(rank);
      ASSERT_EQ(photon_init(&config), PHOTON_OK);
      int active = 0;
      photon_coll_comm comm = nullptr;
      ASSERT_EQ(photon_collective_comm_create(&active, 1, 1, &comm), PHOTON_OK);
      std::atomic<int> begun = 0;
      std::thread user = ClassicJob::in_same_rank([&] {
        int status = PHOTON_OK;
        while (status != PHOTON_ERROR_NOINIT) {
          photon_coll_comm copy = nullptr;
          status = photon_collective_comm_create(comm, 1, 1, &copy);
          ++begun;
        }
      });
      while (begun < 10) std::this_thread::yield();
      EXPECT_EQ(photon_finalize(), PHOTON_OK);
      user.join();
    });
  }
}

// Rank `poor` cannot lend its elements to the next: every registration it may have is taken.
TEST_P(CollectiveTrouble, a_rank_without_regions_left_fails_with_all_and_keeps_nobody_waiting) {
  setenv("PHOTON_MAX_REGIONS", "16", 1);
  for (const int poor : {0, 1, 2}) {
    ClassicJob job(3, GetParam());
    job.run([&](int rank) {
      EXPECT_EQ(join_barrier(prepared(PHOTON_COLL_BARRIER)), PHOTON_OK);
      std::vector<unsigned char> own(64);
      std::size_t taken = 0;
      while (rank == poor && photon_register_buffer(&own[taken], 1) == PHOTON_OK)
        ASSERT_LT(++taken, own.size());
      std::vector<std::int32_t> in(20000, 1), out(in.size(), -1);
      EXPECT_EQ(photon_collective_join(prepared(PHOTON_COLL_ALLREDUCE), in.data(), out.data(),
                                       20000, PHOTON_INT32, &sum_op),
                PHOTON_ERROR)
          << "rank " << rank << " of 3, poor is " << poor;
      EXPECT_EQ(out[0], -1);
      job.meet();
      for (; taken > 0; --taken) EXPECT_EQ(photon_unregister_buffer(&own[taken - 1], 1), PHOTON_OK);
      EXPECT_EQ(photon_collective_join(prepared(PHOTON_COLL_ALLREDUCE), in.data(), out.data(),
                                       20000, PHOTON_INT32, &sum_op),
                PHOTON_OK);
      EXPECT_EQ(out[19999], 3);
    });
  }
  unsetenv("PHOTON_MAX_REGIONS");
}

// Each time, also when another call has failed since.
TEST_P(CollectiveTrouble, a_setting_that_names_no_provider_is_what_every_init_complains_of) {
  const Variable nobody("PHOTON_COLL", "nobody");
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    for (int round = 0; round < 3; ++round) {
      photon_rid rid = 0;
      testing::internal::CaptureStderr();
      EXPECT_EQ(photon_collective_init(PHOTON_COLL_BARRIER, u64(1), &rid, 0), PHOTON_ERROR);
      const std::string said = testing::internal::GetCapturedStderr();
      EXPECT_NE(said.find("the setting coll is \"nobody\""), std::string::npos) << said;
      EXPECT_EQ(ph_notify(classic::current()->context(), 77, 1), PH_ERR_RANK);
    }
  });
}

}  // namespace
}  // namespace photon::test
