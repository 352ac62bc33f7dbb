// Programs of every kind of client that libphoton has, with 2 ranks and with more than there are
// cores.
#include "clients.hpp"

namespace photon::test {
namespace {

INSTANTIATE_TEST_SUITE_P(grounds, Clients, all_clients(), client_name);

// One a rank: callbacks are told nothing but the id.
struct Rally {
  int rank = 0;
  std::uint64_t last = 0;
  static constexpr std::uint64_t kEnd = 400;
};
Rally& rally() {
  static thread_local Rally mine;
  return mine;
}
void answer(photon_cid id) {
  std::uint64_t value = 0;
  std::memcpy(&value, id.data, sizeof value);
  EXPECT_EQ(value, rally().last + 1);
  rally().last = value + 1;
  if (value >= Rally::kEnd) return;
  EXPECT_EQ(photon_put_with_completion(partner_of(rally().rank), 0, nullptr, nullptr, u64(0),
                                       u64(value + 1), PHOTON_REQ_PWC_NO_LCE),
            PHOTON_OK);
}

TEST_P(Clients, play_ping_pong_from_inside_the_callback) {
  ClassicJob job(ranks(), ground());
  job.run([&](int rank) {
    const bool begins = rank % 2 == 0;
    rally() = {rank, begins ? std::uint64_t{1} : std::uint64_t{0}};
    if (begins) {
      ASSERT_EQ(photon_put_with_completion(partner_of(rank), 0, nullptr, nullptr, u64(0), u64(1),
                                           PHOTON_REQ_PWC_NO_LCE),
                PHOTON_OK);
    }
    while (rally().last < Rally::kEnd) {
      int flag = 0;
      ASSERT_EQ(photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, nullptr, nullptr, answer,
                                        PHOTON_PROBE_ANY),
                PHOTON_OK);
      std::this_thread::yield();
    }
  });
}

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
    ASSERT_EQ(put_until_taken(peer, &from, &place, {u64(i), u64(i)}), PHOTON_OK);
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
    ASSERT_EQ(put_until_taken(peer, nullptr, nullptr,
                              {u64(0), u64(kAnswer | taken), PHOTON_REQ_PWC_NO_LCE}),
              PHOTON_OK);
    ++taken;
  }
}

TEST_P(Clients, probe_evq_and_ledger_in_two_threads_at_all_sizes) {
  struct Load {
    std::size_t size_bytes;
    std::uint64_t count;
  };
  for (const auto& [size_bytes, count] :
       {Load{8, 3000}, Load{192, 500}, Load{193, 500}, Load{300, 1000}, Load{4095, 200},
        Load{4097, 200}, Load{32768, 100}, Load{100000, 60}, Load{1 << 20, 8}, Load{4 << 20, 4}}) {
    ClassicJob job(ranks(), ground());
    const std::uint64_t all_count = ranks() == 2 ? count : std::min<std::uint64_t>(count, 300);
    // The sanitizer pays for each byte of memory, of which this has many.
    const std::size_t size = std::min<std::size_t>(size_bytes, rounds(size_bytes, 128 << 10));
    const std::uint64_t parcels_count =
        rounds(all_count, std::max<std::uint64_t>(all_count / (ranks() == 2 ? 4 : 8), 1));
    job.run([&](int rank) {
      Parcels parcels(size);
      auto all = job.exchange(parcels.memory.buffer());
      const int peer = partner_of(rank);
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

// A peer that is held up within a copy, for want of a core, keeps the memory for so long.
int unregister(void* data, std::size_t size_bytes) {
  int status = PHOTON_ERROR_RESOURCE;
  while (status == PHOTON_ERROR_RESOURCE) status = photon_unregister_buffer(data, size_bytes);
  return status;
}

// Between its neighbours in a ring.
TEST_P(Clients, register_and_unregister_under_traffic) {
  const std::uint64_t puts_count = ranks() == 2 ? rounds(2000, 500) : rounds(300, 80);
  ClassicJob job(ranks(), ground());
  job.run([&](int rank) {
    const int next = (rank + 1) % ranks(), previous = (rank + ranks() - 1) % ranks();
    constexpr std::size_t kBytes = 512;
    constexpr std::uint64_t kDone = std::uint64_t{1} << 63;
    Registered memory(4096);
    auto all = job.exchange(memory.buffer());
    std::thread churn = ClassicJob::in_same_rank([&] {
      std::vector<unsigned char> other(8192);
      for (std::size_t i = 0; i < puts_count; ++i) {
        EXPECT_EQ(photon_register_buffer(other.data() + i % 4096, 4096), PHOTON_OK);
        EXPECT_EQ(unregister(other.data() + i % 4096, 4096), PHOTON_OK);
        // And of what is put to: a part of it, and all once more.
        EXPECT_EQ(photon_register_buffer(memory.data() + i % kBytes, kBytes), PHOTON_OK);
        EXPECT_EQ(photon_register_buffer(memory.data(), memory.size()), PHOTON_OK);
        EXPECT_EQ(unregister(memory.data() + i % kBytes, kBytes), PHOTON_OK);
        EXPECT_EQ(unregister(memory.data(), memory.size()), PHOTON_OK);
      }
    });
    unsigned char source[kBytes];
    photon_buffer_t from = bare(source, kBytes);
    photon_buffer_t place = part(all[static_cast<std::size_t>(next)], 0, kBytes);
    // A put is answered when it has been looked at; the previous rank may be one ahead of us.
    std::uint64_t come = 0, answered = 0;
    const auto take_one = [&] {
      const Probed found = take(PHOTON_ANY_SOURCE, PHOTON_PROBE_LEDGER);
      if ((found.id.u64 & kDone) != 0) {
        ASSERT_EQ(found.id.u64, kDone | answered++);
        return;
      }
      ASSERT_EQ(found.id.u64, come);
      ASSERT_EQ(
          first_wrong(memory.data(), kBytes, static_cast<std::uint64_t>(previous) << 32 | come),
          kBytes);
      ASSERT_EQ(put_until_taken(previous, nullptr, nullptr,
                                {u64(0), u64(kDone | come++), PHOTON_REQ_PWC_NO_LCE}),
                PHOTON_OK);
    };
    for (std::uint64_t i = 0; i < puts_count; ++i) {
      fill(source, kBytes, static_cast<std::uint64_t>(rank) << 32 | i);
      ASSERT_EQ(put_until_taken(next, &from, &place, {u64(i), u64(i)}), PHOTON_OK);
      while (answered == i && !HasFatalFailure()) take_one();
      ASSERT_EQ(take(next, PHOTON_PROBE_EVQ).id.u64, i);
    }
    while (come < puts_count && !HasFatalFailure()) take_one();
    churn.join();
    job.meet();
  });
}

std::string id_text(std::size_t size_bytes, int rank) {
  std::string text(size_bytes, '?');
  for (std::size_t i = 0; i < size_bytes; ++i)
    text[i] = static_cast<char>('a' + (i + static_cast<std::size_t>(rank)) % 23);
  return text;
}

std::string& heard() {
  static thread_local std::string latest;
  return latest;
}
void hear(photon_cid id) {
  if (id.size != 0) heard().assign(static_cast<const char*>(id.data), id.size);
}
void hear_next(int flags) {
  int flag = 0;
  heard().clear();
  while (flag == 0) {
    ASSERT_EQ(
        photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, nullptr, nullptr, hear, flags),
        PHOTON_OK);
    std::this_thread::yield();
  }
}

// Each rank to the next: a local id and a remote one of every size.
TEST_P(Clients, name_completions_by_1_to_1024_bytes) {
  ClassicJob job(ranks(), ground(),
                 [](photon_config_t& config) { config.cap.max_cid_size = PH_MAX_ID_BYTES; });
  job.run([&](int rank) {
    const int next = (rank + 1) % ranks(), previous = (rank + ranks() - 1) % ranks();
    const std::size_t step = ranks() == 2 ? rounds(1, 5) : 31;
    for (std::size_t size = 1; size <= PH_MAX_ID_BYTES; size += step) {
      std::string local = id_text(size, rank + 50), remote = id_text(size, rank);
      ASSERT_EQ(put_until_taken(next, nullptr, nullptr,
                                {bytes_id(local.data(), size), bytes_id(remote.data(), size)}),
                PHOTON_OK);
      local.assign(size, '#');
      remote.assign(size, '#');
      hear_next(PHOTON_PROBE_EVQ);
      ASSERT_EQ(heard(), id_text(size, rank + 50));
      hear_next(PHOTON_PROBE_LEDGER);
      ASSERT_EQ(heard(), id_text(size, previous));
    }
  });
}

// Each fills the next one's buffers while the previous one fills its own; all are announced, met
// and put to before the first is waited for.
TEST_P(Clients, put_by_rendezvous_round_a_ring) {
  constexpr std::size_t kRounds = 5;
  ClassicJob job(ranks(), ground());
  job.run([&](int rank) {
    const int next = (rank + 1) % ranks(), previous = (rank + ranks() - 1) % ranks();
    const auto seed_of = [](int from, std::size_t round) {
      return static_cast<std::uint64_t>(from) << 32 | round;
    };
    for (const std::size_t size : {1U, 8U, 192U, 4096U, 300000U}) {
      std::vector<std::vector<unsigned char>> sources(kRounds, std::vector<unsigned char>(size));
      auto into = sources;
      std::vector<photon_rid> received(kRounds), met(kRounds);
      for (std::size_t i = 0; i < kRounds; ++i) {
        fill(sources[i].data(), size, seed_of(rank, i));
        ASSERT_EQ(photon_post_recv_buffer_rdma(previous, into[i].data(), size, static_cast<int>(i),
                                               &received[i]),
                  PHOTON_OK);
      }
      for (std::size_t i = 0; i < kRounds; ++i) {
        const int tag = static_cast<int>(i);
        ASSERT_EQ(photon_wait_recv_buffer_rdma(next, size, tag, &met[i]), PHOTON_OK);
        ASSERT_EQ(photon_post_os_put(met[i], next, sources[i].data(), size, tag, 0), PHOTON_OK);
      }
      for (std::size_t i = kRounds; i-- > 0;) {
        ASSERT_EQ(photon_send_FIN(met[i], next, PHOTON_REQ_NIL), PHOTON_OK);
        ASSERT_EQ(photon_wait(met[i]), PHOTON_OK);
      }
      for (std::size_t i = 0; i < kRounds; ++i) {
        int flag = 0, type = 0;
        while (flag == 0) {
          ASSERT_EQ(photon_test(received[i], &flag, &type, nullptr), 0);
          std::this_thread::yield();
        }
        EXPECT_EQ(first_wrong(into[i].data(), size, seed_of(previous, i)), size);
      }
    }
  });
}

// From all others by turns; waited for from the last to the first.
TEST_P(Clients, get_by_turns_and_take_the_ends_in_any_order) {
  constexpr std::size_t kGets = 16;
  constexpr std::size_t kBytes = 3000;
  ClassicJob job(ranks(), ground());
  job.run([&](int rank) {
    Registered memory(kGets * kBytes);
    const auto seed_of = [](int owner, std::size_t i) {
      return static_cast<std::uint64_t>(owner) << 32 | i;
    };
    for (std::size_t i = 0; i < kGets; ++i)
      fill(memory.data() + i * kBytes, kBytes, seed_of(rank, i));
    auto all = job.exchange(memory.buffer());
    const auto owner_of = [&](std::size_t i) {
      return (rank + 1 + static_cast<int>(i) % (ranks() - 1)) % ranks();
    };
    std::vector<unsigned char> into(kGets * kBytes);
    std::vector<photon_rid> rids(kGets);
    for (std::size_t i = 0; i < kGets; ++i) {
      photon_buffer_t from = part(all[static_cast<std::size_t>(owner_of(i))], i * kBytes, kBytes);
      ASSERT_EQ(photon_post_os_get_direct(owner_of(i), into.data() + i * kBytes, kBytes, &from, 0,
                                          &rids[i]),
                PHOTON_OK);
    }
    for (std::size_t i = kGets; i-- > 0;) {
      EXPECT_EQ(photon_wait(rids[i]), PHOTON_OK);
      EXPECT_EQ(first_wrong(into.data() + i * kBytes, kBytes, seed_of(owner_of(i), i)), kBytes);
    }
    // And with completion: ids tell which, in whatever order they come.
    std::fill(into.begin(), into.end(), static_cast<unsigned char>(0));
    for (std::size_t i = 0; i < kGets; ++i) {
      photon_buffer_t to = bare(into.data() + i * kBytes, kBytes);
      photon_buffer_t from = part(all[static_cast<std::size_t>(owner_of(i))], i * kBytes, kBytes);
      ASSERT_EQ(photon_get_with_completion(owner_of(i), kBytes, &to, &from, u64(i), u64(0),
                                           PHOTON_REQ_PWC_NO_RCE),
                PHOTON_OK);
    }
    std::vector<int> times(kGets);
    for (std::size_t left = kGets; left > 0; --left) {
      const std::size_t i = take(PHOTON_ANY_SOURCE, PHOTON_PROBE_EVQ).id.u64;
      ASSERT_LT(i, kGets);
      EXPECT_EQ(++times[i], 1);
      EXPECT_EQ(first_wrong(into.data() + i * kBytes, kBytes, seed_of(owner_of(i), i)), kBytes);
    }
    job.meet();
  });
}

}  // namespace
}  // namespace photon::test
