// photon_probe_completion(): what it says, to whom, and what it may be called from.
#include "classic_job.hpp"

namespace photon::test {
namespace {

class Probing : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, Probing, testing::Values(Ground::shm, Ground::sim), ground_name);

constexpr int kAny = PHOTON_ANY_SOURCE;

TEST_P(Probing, an_idle_probe_is_ok_with_flag_0_and_the_id_0) {
  ClassicJob job(2, GetParam());
  job.run([&](int) {
    for (const int flags : {PHOTON_PROBE_ANY, PHOTON_PROBE_EVQ, PHOTON_PROBE_LEDGER}) {
      photon_cid comp = u64(77);
      int flag = 9, remaining = 9;
      EXPECT_EQ(photon_probe_completion(kAny, &flag, &remaining, &comp, nullptr, nullptr, flags),
                PHOTON_OK);
      EXPECT_EQ(flag, 0);
      EXPECT_EQ(remaining, 0);
      EXPECT_EQ(comp.u64, 0u);
      comp = u64(77);
      EXPECT_EQ(photon_probe_completion(kAny, &flag, nullptr, &comp, nullptr, nullptr, flags),
                PHOTON_OK);
      EXPECT_EQ(comp.u64, 0u);
    }
  });
}

TEST_P(Probing, gives_one_event_a_call_and_local_ids_first) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, u64(1), u64(2), 0), PHOTON_OK);
    EXPECT_EQ(take().id.u64, 1u);
    EXPECT_EQ(take().id.u64, 2u);
    EXPECT_EQ(probe().flag, 0);
  });
}

TEST_P(Probing, evq_gives_local_ids_only_and_ledger_remote_ones_only) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    for (std::uint64_t i = 0; i < 10; ++i)
      ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, u64(i), u64(100 + i), 0),
                PHOTON_OK);
    for (std::uint64_t i = 0; i < 10; ++i)
      EXPECT_EQ(take(kAny, PHOTON_PROBE_LEDGER).id.u64, 100 + i);
    EXPECT_EQ(probe(kAny, PHOTON_PROBE_LEDGER).flag, 0);
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(take(kAny, PHOTON_PROBE_EVQ).id.u64, i);
    EXPECT_EQ(probe(kAny, PHOTON_PROBE_EVQ).flag, 0);
  });
}

// The next local id, as a program probes that wants neither the count nor a callback.
Probed next_local(int proc) {
  Probed out;
  for (out.flag = 0; out.flag == 0; out.status = PHOTON_OK) {
    out.id = photon_cid{{77}, 77};
    out.source = -7;
    const int status = photon_probe_completion(proc, &out.flag, nullptr, &out.id, &out.source,
                                               nullptr, PHOTON_PROBE_EVQ);
    if (status != PHOTON_OK) throw std::runtime_error("a probe has failed");
  }
  return out;
}

TEST_P(Probing, tells_a_row_of_local_ids_one_after_the_other) {
  constexpr std::uint64_t kRow = 100;
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    std::uint64_t words[kRow];
    for (const int proc : {kAny, 0}) {
      for (std::uint64_t i = 0; i < kRow; ++i) {
        words[i] = i;
        // The second time some ids are words of memory, and told as such.
        const photon_cid local = proc == 0 && i % 3 == 1 ? bytes_id(&words[i], 8) : u64(i);
        ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, local, u64(1000 + i), 0),
                  PHOTON_OK);
      }
      for (std::uint64_t i = 0; i < kRow; ++i) {
        const Probed one = next_local(proc);
        EXPECT_EQ(one.source, proc);
        if (proc == 0 && i % 3 == 1) {
          ASSERT_EQ(one.id.size, 8u);
          EXPECT_EQ(std::memcmp(one.id.data, &i, 8), 0);
        } else {
          ASSERT_EQ(one.id.size, 0u);
          EXPECT_EQ(one.id.u64, i);
        }
      }
      EXPECT_EQ(probe(proc, PHOTON_PROBE_EVQ).flag, 0);
      for (std::uint64_t i = 0; i < kRow; ++i)
        EXPECT_EQ(take(kAny, PHOTON_PROBE_LEDGER).id.u64, 1000 + i);
    }
  });
}

TEST_P(Probing, a_row_of_local_ids_can_be_taken_without_being_told) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    for (std::uint64_t i = 0; i < 10; ++i)
      ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, u64(i), u64(1), 0), PHOTON_OK);
    EXPECT_EQ(next_local(kAny).id.u64, 0u);
    for (int i = 1; i < 9; ++i)
      EXPECT_EQ(
          photon_probe_completion(0, nullptr, nullptr, nullptr, nullptr, nullptr, PHOTON_PROBE_EVQ),
          PHOTON_OK);
    EXPECT_EQ(next_local(kAny).id.u64, 9u);
  });
}

TEST_P(Probing, nothing_that_is_told_is_needed) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, u64(1), u64(2), 0), PHOTON_OK);
    while (probe(kAny, PHOTON_PROBE_EVQ).remaining != 0) {
    }
    const auto nowhere = [] {
      return photon_probe_completion(kAny, nullptr, nullptr, nullptr, nullptr, nullptr,
                                     PHOTON_PROBE_ANY);
    };
    for (int i = 0; i < 100; ++i) EXPECT_EQ(nowhere(), PHOTON_OK);
    EXPECT_EQ(probe().flag, 0);
  });
}

// A defect of the original: it did not.
TEST_P(Probing, a_given_rank_with_ledger_finds_that_ranks_ids) {
  ClassicJob job(3, GetParam());
  job.run([&](int rank) {
    if (rank != 0) {
      ASSERT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, u64(0),
                                           u64(static_cast<std::uint64_t>(rank) * 10),
                                           PHOTON_REQ_PWC_NO_LCE),
                PHOTON_OK);
    } else {
      const Probed second = take(2, PHOTON_PROBE_LEDGER);
      EXPECT_EQ(second.id.u64, 20u);
      EXPECT_EQ(second.source, 2);
      const Probed first = take(1, PHOTON_PROBE_LEDGER);
      EXPECT_EQ(first.id.u64, 10u);
      EXPECT_EQ(first.source, 1);
    }
  });
}

TEST_P(Probing, the_source_is_the_peer_of_a_remote_id_and_the_argument_for_a_local_one) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    ASSERT_EQ(photon_put_with_completion(1 - rank, 0, nullptr, nullptr, u64(1), u64(2), 0),
              PHOTON_OK);
    EXPECT_EQ(take(kAny, PHOTON_PROBE_EVQ).source, kAny);
    EXPECT_EQ(take(kAny, PHOTON_PROBE_LEDGER).source, 1 - rank);
    ASSERT_EQ(photon_put_with_completion(1 - rank, 0, nullptr, nullptr, u64(1), u64(2), 0),
              PHOTON_OK);
    EXPECT_EQ(take(1 - rank, PHOTON_PROBE_EVQ).source, 1 - rank);
    EXPECT_EQ(take(1 - rank, PHOTON_PROBE_LEDGER).source, 1 - rank);
  });
}

TEST_P(Probing, remaining_counts_what_was_posted_and_not_yet_probed) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    if (rank == 0) {
      for (std::uint64_t i = 0; i < 5; ++i)
        ASSERT_EQ(photon_put_with_completion(1, 0, nullptr, nullptr, u64(i), u64(i), 0), PHOTON_OK);
      for (int left = 4; left >= 0; --left) EXPECT_EQ(take(1, PHOTON_PROBE_EVQ).remaining, left);
    } else {
      for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(take().id.u64, i);
    }
  });
}

// A defect of the original: only probes for local ids did.
TEST_P(Probing, for_the_ledger_alone_moves_queued_puts_too) {
  constexpr std::uint64_t kPuts = 500;
  ClassicJob job(2, GetParam(), [](photon_config_t& config) { config.cap.ledger_entries = 2; });
  job.run([&](int rank) {
    constexpr std::uint64_t kSize = 4096;
    std::vector<unsigned char> source(kPuts * kSize);
    for (std::uint64_t i = 0; i < source.size(); ++i) source[i] = (i / kSize + rank) % 251;
    Registered memory(source.size());
    auto all = job.exchange(memory.buffer());
    for (std::uint64_t i = 0; i < kPuts; ++i) {
      photon_buffer_t from = bare(&source[i * kSize], kSize);
      photon_buffer_t to = part(all[1 - rank], i * kSize, kSize);
      ASSERT_EQ(photon_put_with_completion(1 - rank, kSize, &from, &to, u64(i), u64(i),
                                           PHOTON_REQ_PWC_NO_LCE),
                PHOTON_OK);
    }
    for (std::uint64_t i = 0; i < kPuts; ++i) {
      ASSERT_EQ(take(kAny, PHOTON_PROBE_LEDGER).id.u64, i);
      EXPECT_EQ(std::count(memory.data() + i * kSize, memory.data() + (i + 1) * kSize,
                           (i + 1 - rank) % 251),
                static_cast<std::ptrdiff_t>(kSize));
    }
    job.meet();
  });
}

std::uint64_t value_of(photon_cid id) {
  std::uint64_t value = 0;
  std::memcpy(&value, id.data, sizeof value);
  return value;
}
void probe_within(photon_cid id) {
  EXPECT_EQ(value_of(id), 1u);
  EXPECT_EQ(take(kAny, PHOTON_PROBE_LEDGER).id.u64, 2u);
  EXPECT_EQ(value_of(id), 1u);  // its bytes are this probe's
}

TEST_P(Probing, a_callback_may_probe_and_keeps_its_id) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    for (std::uint64_t i = 1; i <= 2; ++i)
      ASSERT_EQ(
          photon_put_with_completion(0, 0, nullptr, nullptr, u64(0), u64(i), PHOTON_REQ_PWC_NO_LCE),
          PHOTON_OK);
    int flag = 0;
    photon_cid comp{};
    while (flag == 0)
      ASSERT_EQ(photon_probe_completion(kAny, &flag, nullptr, &comp, nullptr, probe_within,
                                        PHOTON_PROBE_LEDGER),
                PHOTON_OK);
    EXPECT_EQ(comp.u64, 1u);
  });
}

void must_not_be_called(photon_cid) { ADD_FAILURE() << "there is no id to call back with"; }

// The key is checked by the peer, long after the call that posted it without a rid.
TEST_P(Probing, of_an_operation_without_an_id_that_failed_is_an_error_and_tells_no_id) {
  for (const bool asks_much : {false, true}) {
    ClassicJob job(2, GetParam());
    job.run([&](int rank) {
      if (rank == 1) return;
      unsigned char source[8] = {};
      photon_buffer_t nowhere = {4096, 8, {77, 0}};
      ASSERT_EQ(photon_post_os_put_direct(1, source, 8, &nowhere, 0, nullptr), PHOTON_OK);
      int flag = 9, remaining = 9, status = PHOTON_OK;
      photon_cid comp = u64(9);
      testing::internal::CaptureStderr();
      while (status == PHOTON_OK) {
        flag = 9;
        comp = u64(9);
        status =
            photon_probe_completion(kAny, &flag, asks_much ? &remaining : nullptr, &comp, nullptr,
                                    asks_much ? must_not_be_called : nullptr, PHOTON_PROBE_ANY);
      }
      const std::string said = testing::internal::GetCapturedStderr();
      EXPECT_EQ(status, PHOTON_ERROR);
      EXPECT_EQ(flag, 0);
      EXPECT_EQ(comp.u64, 0u);
      EXPECT_EQ(comp.size, 0u);
      EXPECT_NE(said.find("rank 1"), std::string::npos) << said;
      EXPECT_EQ(probe().status, PHOTON_OK);
    });
  }
}

}  // namespace
}  // namespace photon::test
