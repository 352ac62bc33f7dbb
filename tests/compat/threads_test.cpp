// Several threads of a rank that probe and post at once.
#include <atomic>

#include "classic_job.hpp"

namespace photon::test {
namespace {

class Threads : public OverGrounds {};
INSTANTIATE_TEST_SUITE_P(grounds, Threads, testing::Values(Ground::shm, Ground::sim), ground_name);

constexpr std::size_t kSlots = 32;

// What a task runtime does: one thread probes for local ids, one for remote ones, both post, and
// every payload is checked before its slot is used again.
struct Parcels {
  explicit Parcels(std::size_t bytes) : size_bytes(bytes), memory(kSlots * bytes), sources(kSlots) {
    for (auto& source : sources) source.resize(bytes);
  }
  std::size_t size_bytes;
  Registered memory;
  std::vector<std::vector<unsigned char>> sources;
  std::atomic<std::uint64_t> locals{0};
  std::atomic<std::uint64_t> answered{0};
};

constexpr std::uint64_t kAnswer = std::uint64_t{1} << 63;

void send_parcels(Parcels& parcels, int peer, photon_buffer_t to, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    while (i >= parcels.answered + kSlots || i >= parcels.locals + kSlots)
      std::this_thread::yield();
    auto& source = parcels.sources[i % kSlots];
    fill(source.data(), source.size(), i);
    photon_buffer_t from = bare(source.data(), source.size());
    photon_buffer_t place = part(to, i % kSlots * parcels.size_bytes, parcels.size_bytes);
    int status = PHOTON_ERROR_RESOURCE;
    while (status == PHOTON_ERROR_RESOURCE)
      status = photon_put_with_completion(peer, source.size(), &from, &place, u64(i), u64(i), 0);
    ASSERT_EQ(status, PHOTON_OK);
  }
}

void probe_locals(Parcels& parcels, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const Probed found = take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ);
    ASSERT_EQ(found.status, PHOTON_OK);
    ++parcels.locals;
  }
}

void probe_remotes(Parcels& parcels, int peer, std::uint64_t count) {
  std::uint64_t taken = 0, answers = 0;
  while (taken < count || answers < count) {
    const Probed found = take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER);
    ASSERT_EQ(found.status, PHOTON_OK);
    if ((found.id.u64 & kAnswer) != 0) {
      ASSERT_EQ(found.id.u64 & ~kAnswer, answers++);
      parcels.answered = answers;
      continue;
    }
    ASSERT_EQ(found.id.u64, taken);
    const auto* place = parcels.memory.data() + taken % kSlots * parcels.size_bytes;
    ASSERT_EQ(first_wrong(place, parcels.size_bytes, taken), parcels.size_bytes);
    int status = PHOTON_ERROR_RESOURCE;
    while (status == PHOTON_ERROR_RESOURCE)
      status = photon_put_with_completion(peer, 0, nullptr, nullptr, u64(0), u64(kAnswer | taken),
                                          PHOTON_REQ_PWC_NO_LCE);
    ASSERT_EQ(status, PHOTON_OK);
    ++taken;
  }
}

TEST_P(Threads, an_evq_and_a_ledger_prober_lose_and_double_nothing_at_any_size) {
  struct Load {
    std::size_t size_bytes;
    std::uint64_t count;
  };
  for (const auto& [size_bytes, count] :
       {Load{8, 3000}, Load{300, 1000}, Load{5000, 300}, Load{100000, 60}, Load{4 << 20, 4}}) {
    ClassicJob job(2, GetParam());
    job.run([&, size = size_bytes, parcels_count = count](int rank) {
      Parcels parcels(size);
      auto all = job.exchange(parcels.memory.buffer());
      const int peer = 1 - rank;
      std::thread evq = ClassicJob::in_same_rank([&] { probe_locals(parcels, parcels_count); });
      std::thread ledger =
          ClassicJob::in_same_rank([&] { probe_remotes(parcels, peer, parcels_count); });
      send_parcels(parcels, peer, all[static_cast<std::size_t>(peer)], parcels_count);
      evq.join();
      ledger.join();
      job.meet();
    });
  }
}

// Defects of the original: two that probed the ledger of one peer dropped an event, and an error
// path kept a lock.
TEST_P(Threads, two_ledger_probers_of_one_peer_lose_nothing) {
  constexpr std::uint64_t kIds = 4000;
  ClassicJob job(2, GetParam());
  job.run([&](int rank) {
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kIds; ++i)
        ASSERT_EQ(photon_put_with_completion(1, 0, nullptr, nullptr, u64(0), u64(i),
                                             PHOTON_REQ_PWC_NO_LCE),
                  PHOTON_OK);
      return;
    }
    std::vector<std::atomic<int>> seen(kIds);
    std::atomic<std::uint64_t> taken{0};
    const auto prober = [&] {
      while (taken < kIds) {
        const Probed found = probe(0, PHOTON_PROBE_LEDGER);
        ASSERT_EQ(found.status, PHOTON_OK);
        if (found.flag == 0) {
          std::this_thread::yield();
          continue;
        }
        ++seen[found.id.u64];
        ++taken;
      }
    };
    std::thread second = ClassicJob::in_same_rank(prober);
    prober();
    second.join();
    for (const auto& count : seen) ASSERT_EQ(count, 1);
  });
}

TEST_P(Threads, a_failed_call_leaves_others_free_to_go_on) {
  ClassicJob job(1, GetParam());
  job.run([&](int) {
    unsigned char word[8] = {};
    photon_buffer_t bad = bare(word, 8);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(photon_put_with_completion(9, 8, &bad, &bad, u64(1), u64(1), 0), PHOTON_ERROR);
      EXPECT_EQ(photon_put_with_completion(0, 8, nullptr, &bad, u64(1), u64(1), 0), PHOTON_ERROR);
    }
    ClassicJob::in_same_rank([] {
      EXPECT_EQ(photon_put_with_completion(0, 0, nullptr, nullptr, u64(1), u64(2), 0), PHOTON_OK);
      EXPECT_EQ(take().id.u64, 1u);
      EXPECT_EQ(take().id.u64, 2u);
    }).join();
  });
}

TEST_P(Threads, eight_ranks_on_few_cores_all_hear_from_all) {
  constexpr int kRanks = 8;
  constexpr std::uint64_t kEach = 100;
  ClassicJob job(kRanks, GetParam());
  job.run([&](int rank) {
    std::uint64_t sent = 0, heard = 0;
    const std::uint64_t wanted = kEach * (kRanks - 1);
    while (sent < wanted || heard < wanted) {
      if (sent < wanted) {
        const int to = (rank + 1 + static_cast<int>(sent % (kRanks - 1))) % kRanks;
        const int status = photon_put_with_completion(to, 0, nullptr, nullptr, u64(0), u64(sent),
                                                      PHOTON_REQ_PWC_NO_LCE);
        ASSERT_TRUE(status == PHOTON_OK || status == PHOTON_ERROR_RESOURCE);
        if (status == PHOTON_OK) ++sent;
      }
      const Probed found = probe();
      ASSERT_EQ(found.status, PHOTON_OK);
      if (found.flag == 1) ++heard;
      if (found.flag == 0) std::this_thread::yield();
    }
    job.meet();
  });
}

}  // namespace
}  // namespace photon::test
