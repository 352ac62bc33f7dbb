// Put and get with completion: one test for each line that programs rely on.
#include "classic_job.hpp"

namespace photon::test {
namespace {

class Pwc : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, Pwc, testing::Values(Ground::shm, Ground::sim), ground_name);

TEST_P(Pwc, a_put_lands_then_both_ids_are_probed) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(64);
    auto all = job.exchange(memory.buffer());
    if (rank == 0) {
      unsigned char source[64];
      fill(source, sizeof source, 3);
      photon_buffer_t from = bare(source, sizeof source);
      EXPECT_EQ(photon_put_with_completion(1, 64, &from, &all[1], u64(11), u64(22), 0), PHOTON_OK);
      const Probed local = take(1, PHOTON_PROBE_EVQ);
      EXPECT_EQ(local.id.u64, 11u);
      EXPECT_EQ(local.id.size, 0u);
      EXPECT_EQ(local.source, 1);
    } else {
      const Probed remote = take();
      EXPECT_EQ(remote.id.u64, 22u);
      EXPECT_EQ(remote.id.size, 0u);
      EXPECT_EQ(remote.source, 0);
      EXPECT_EQ(first_wrong(memory.data(), 64, 3), 64u);
    }
    job.meet();
  });
}

TEST_P(Pwc, size_0_with_null_buffers_sends_the_remote_id_alone) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    if (rank == 0) {
      EXPECT_EQ(photon_put_with_completion(1, 0, nullptr, nullptr, u64(1), u64(2), 0), PHOTON_OK);
      EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 1u);
    } else {
      EXPECT_EQ(take().id.u64, 2u);
    }
  });
}

TEST_P(Pwc, zeroed_local_keys_serve_registered_and_unregistered_memory) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(2 * 8192);
    auto all = job.exchange(memory.buffer());
    if (rank == 0) {
      fill(memory.data(), 8192, 5);
      photon_buffer_t from = bare(memory.data(), 8192);
      EXPECT_EQ(photon_put_with_completion(1, 8192, &from, &all[1], u64(1), u64(2), 0), PHOTON_OK);
      EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 1u);
    } else {
      EXPECT_EQ(take().id.u64, 2u);
      EXPECT_EQ(first_wrong(memory.data(), 8192, 5), 8192u);
    }
    job.meet();
  });
}

// A defect of the original: of a flood of packed puts some were lost, and sources that had been
// reused were read again.
TEST_P(Pwc, a_flood_of_packed_puts_from_one_reused_source_loses_and_rereads_nothing) {
  constexpr std::size_t kPuts = 3000;
  constexpr std::size_t kBytes = 128;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(kPuts * kBytes);
    auto all = job.exchange(memory.buffer());
    if (rank == 0) {
      for (std::size_t i = 0; i < kPuts; ++i) {
        unsigned char source[kBytes];
        fill(source, kBytes, i);
        photon_buffer_t from = bare(source, kBytes);
        photon_buffer_t to = part(all[1], i * kBytes, kBytes);
        ASSERT_EQ(photon_put_with_completion(1, kBytes, &from, &to, u64(i), u64(i), 0), PHOTON_OK);
        std::memset(source, 0xee, kBytes);
      }
      for (std::size_t i = 0; i < kPuts; ++i)
        ASSERT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, i);
    } else {
      for (std::size_t i = 0; i < kPuts; ++i) {
        ASSERT_EQ(take().id.u64, i);
        ASSERT_EQ(first_wrong(memory.data() + i * kBytes, kBytes, i), kBytes) << "put " << i;
      }
    }
    job.meet();
  });
}

TEST_P(Pwc, no_lce_yields_no_local_id_and_no_rce_no_remote_one) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(16);
    auto all = job.exchange(memory.buffer());
    if (rank == 0) {
      unsigned char source[8] = {9};
      photon_buffer_t from = bare(source, 8);
      EXPECT_EQ(
          photon_put_with_completion(1, 8, &from, &all[1], u64(1), u64(2), PHOTON_REQ_PWC_NO_LCE),
          PHOTON_OK);
      EXPECT_EQ(
          photon_put_with_completion(1, 8, &from, &all[1], u64(3), u64(4), PHOTON_REQ_PWC_NO_RCE),
          PHOTON_OK);
      EXPECT_EQ(photon_put_with_completion(1, 0, nullptr, nullptr, u64(5), u64(6), 0), PHOTON_OK);
      EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 3u);
      EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 5u);
    } else {
      EXPECT_EQ(take().id.u64, 2u);
      EXPECT_EQ(take().id.u64, 6u);
      EXPECT_EQ(memory.data()[0], 9);
    }
    job.meet();
  });
}

TEST_P(Pwc, size_0_with_no_rce_completes_at_once_and_yields_its_local_id_unless_no_lce) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    if (rank == 0) {
      constexpr int kNeither = PHOTON_REQ_PWC_NO_LCE | PHOTON_REQ_PWC_NO_RCE;
      EXPECT_EQ(photon_put_with_completion(1, 0, nullptr, nullptr, u64(7), u64(0), kNeither),
                PHOTON_OK);
      EXPECT_EQ(
          photon_put_with_completion(1, 0, nullptr, nullptr, u64(8), u64(0), PHOTON_REQ_PWC_NO_RCE),
          PHOTON_OK);
      EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 8u);
    }
    job.meet();
    EXPECT_EQ(probe().flag, 0);
  });
}

TEST_P(Pwc, an_id_larger_than_max_cid_size_is_an_error) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    unsigned char id[16] = {};
    if (rank == 0) {
      EXPECT_EQ(photon_put_with_completion(1, 0, nullptr, nullptr, bytes_id(id, 9), u64(1), 0),
                PHOTON_ERROR);
      EXPECT_EQ(photon_put_with_completion(1, 0, nullptr, nullptr, u64(1), bytes_id(id, 9), 0),
                PHOTON_ERROR);
    }
  });
}

TEST_P(Pwc, without_credit_puts_are_queued_in_order_and_accepted) {
  constexpr std::uint64_t kPuts = 2000;
  ClassicJob job(2, GetParam(), [](photon_config_t& config) { config.cap.ledger_entries = 2; });
  job.run([&](int rank) {
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kPuts; ++i)
        ASSERT_EQ(photon_put_with_completion(1, 0, nullptr, nullptr, u64(i), u64(i),
                                             PHOTON_REQ_PWC_NO_LCE),
                  PHOTON_OK);
    } else {
      for (std::uint64_t i = 0; i < kPuts; ++i) ASSERT_EQ(take().id.u64, i);
    }
  });
}

TEST_P(Pwc, a_get_lands_before_its_local_id_and_its_owner_is_told_afterwards) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    Registered memory(4096);
    fill(memory.data(), 4096, static_cast<std::uint64_t>(rank));
    auto all = job.exchange(memory.buffer());
    if (rank == 0) {
      std::vector<unsigned char> into(4096);
      photon_buffer_t here = bare(into.data(), into.size());
      EXPECT_EQ(photon_get_with_completion(1, 4096, &here, &all[1], u64(1), u64(2), 0), PHOTON_OK);
      EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 1u);
      EXPECT_EQ(first_wrong(into.data(), 4096, 1), 4096u);
    } else {
      const Probed told = take();
      EXPECT_EQ(told.id.u64, 2u);
      EXPECT_EQ(told.source, 0);
    }
    job.meet();
  });
}

TEST_P(Pwc, a_get_of_size_0_accepts_null_buffers) {
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    if (rank == 0) {
      EXPECT_EQ(photon_get_with_completion(1, 0, nullptr, nullptr, u64(1), u64(2), 0), PHOTON_OK);
      unsigned char byte = 0;
      photon_buffer_t mine = bare(&byte, 1);
      EXPECT_EQ(photon_get_with_completion(1, 1, &mine, nullptr, u64(1), u64(2), 0), PHOTON_ERROR);
      EXPECT_EQ(take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64, 1u);
    } else {
      EXPECT_EQ(take().id.u64, 2u);
    }
  });
}

// A defect of the original: an abort on a bad rank.
TEST_P(Pwc, a_bad_rank_is_an_error_and_no_abort) {
  ClassicJob job(2, GetParam());
  job.run([&](int) {
    unsigned char word[8] = {};
    photon_buffer_t buffer = bare(word, 8);
    for (const int proc : {2, -1, 70000, -70000}) {
      EXPECT_EQ(photon_put_with_completion(proc, 8, &buffer, &buffer, u64(1), u64(1), 0),
                PHOTON_ERROR);
      EXPECT_EQ(photon_get_with_completion(proc, 8, &buffer, &buffer, u64(1), u64(1), 0),
                PHOTON_ERROR);
    }
    int flag = 7;
    EXPECT_EQ(
        photon_probe_completion(2, &flag, nullptr, nullptr, nullptr, nullptr, PHOTON_PROBE_ANY),
        PHOTON_ERROR);
    EXPECT_EQ(flag, 0);
  });
}

// A defect of the original: ranks had 16 bits.
TEST_P(Pwc, a_rank_beyond_16_bits_is_not_taken_for_another) {
  ClassicJob job(2, GetParam());
  job.run([&](int) {
    EXPECT_EQ(photon_put_with_completion(65536 + 1, 0, nullptr, nullptr, u64(1), u64(2), 0),
              PHOTON_ERROR);
    job.meet();
    EXPECT_EQ(probe().flag, 0);
  });
}

TEST_P(Pwc, null_memory_with_a_size_is_an_error) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    Registered memory(64);
    photon_buffer_t to = memory.buffer();
    EXPECT_EQ(photon_put_with_completion(0, 8, nullptr, &to, u64(1), u64(1), 0), PHOTON_ERROR);
    EXPECT_EQ(photon_get_with_completion(0, 8, nullptr, &to, u64(1), u64(1), 0), PHOTON_ERROR);
  });
}

}  // namespace
}  // namespace photon::test
