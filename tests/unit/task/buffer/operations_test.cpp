#include "task/buffer/operations.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "rounds.hpp"
#include "task/buffer/buffer_job.hpp"

namespace photon::task::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Paths, TaskBuffer, testing::ValuesIn(all_paths()), path_name);

// One operation of PE 0 with its other side, of so many bytes at either end.
struct Transfer {
  Verb verb = Verb::get;
  std::uint64_t source_bytes = 1000;
  std::uint64_t destination_bytes = 1000;
  std::uint32_t registration = PH_TASK_REG;  // of both
  std::uint32_t deregistration = PH_TASK_DEREG;
};

constexpr std::byte kUntouched{0xa5};

void expect_done(const ph_task_done& done, const Transfer& transfer, bool is_source, bool is_own) {
  EXPECT_EQ(done.status, PH_OK);
  EXPECT_EQ(done.moved_bytes, transfer.source_bytes);
  EXPECT_EQ(done.side, is_source ? PH_TASK_SOURCE : PH_TASK_DESTINATION);
  EXPECT_EQ(done.is_own, is_own ? 1u : 0u);
  if (!is_own) {
    EXPECT_EQ(done.other.version, 0) << "only who began it knows";
  }
}

// Its bytes and its dones, on all PEs.
void run_transfer(Station& station, const Path& path, const Transfer& transfer,
                  std::uint64_t seed) {
  const bool is_get = transfer.verb == Verb::get;
  Bytes source(transfer.source_bytes);
  Bytes destination(transfer.destination_bytes, kUntouched);
  fill(source, seed);
  ph_task_buffer theirs = 0;
  ph_task_buffer ours = 0;
  if (station.place.pe == path.other) {
    theirs =
        station.make(is_get ? source : destination, transfer.registration, transfer.deregistration);
    station.send(0, station.describe(theirs));
  }
  if (station.place.pe == 0) {
    const ph_task_descriptor other = station.receive();
    ours =
        station.make(is_get ? destination : source, transfer.registration, transfer.deregistration);
    const auto call = is_get ? ph_task_get : ph_task_put;
    ASSERT_EQ(call(station.pe, ours, &other), PH_OK) << words_of(station.pe);
    EXPECT_TRUE(station.dones.empty());
  }
  const bool is_both = path.other == 0;
  if (station.place.pe != 0 && station.place.pe != path.other) return;
  const std::vector<ph_task_done> dones = station.await(is_both ? 2 : 1);
  const bool is_source = is_both || (station.place.pe == 0) != is_get;
  expect_done(dones[0], transfer, is_source, is_both ? !is_get : station.place.pe == 0);
  if (is_both) expect_done(dones[1], transfer, false, is_get);
  if (transfer.deregistration == PH_TASK_DEREG && transfer.source_bytes != 0) {
    EXPECT_FALSE(station.is_registered(is_source && !is_both ? source : destination));
  }
  for (const ph_task_buffer one : {theirs, ours})
    if (one != 0) {
      EXPECT_EQ(ph_task_buffer_free(station.pe, one), PH_OK);
    }
  if (is_both || !is_source) {
    EXPECT_TRUE(is_filled(destination, transfer.source_bytes, seed)) << transfer.source_bytes;
    EXPECT_TRUE(all_are(destination, transfer.source_bytes, kUntouched)) << "beyond the source";
  }
}

// On one PE that of the source comes first; what differs between paths is nothing that a program
// sees. Registered or not, from the call or by a turn.
TEST_P(TaskBuffer, EveryPathGivesTheSameOrderOfDones) {
  run_on(GetParam(), [&](Station& station) {
    std::uint64_t seed = 0;
    for (const Verb verb : {Verb::get, Verb::put})
      for (const std::uint32_t registration : {PH_TASK_REG, PH_TASK_UNREG})
        for (const std::uint32_t deregistration : {PH_TASK_DEREG, PH_TASK_NODEREG})
          for (const std::uint64_t more : {0, 777})
            run_transfer(station, GetParam(),
                         {verb, 5000, 5000 + more, registration, deregistration}, ++seed);
  });
}

TEST_P(TaskBuffer, gets_and_puts_of_random_sizes_move_all_bytes) {
  constexpr std::uint32_t kRounds = photon::test::rounds(60, 10);
  run_on(GetParam(), [&](Station& station) {
    std::mt19937_64 random(17);  // the same on all PEs
    for (std::uint32_t i = 0; i < kRounds; ++i) {
      Transfer transfer;
      transfer.verb = random() % 2 == 0 ? Verb::get : Verb::put;
      transfer.source_bytes = random() % (std::uint64_t{1} << random() % 22);
      transfer.destination_bytes =
          transfer.source_bytes + (random() % 3 == 0 ? random() % 5000 : 0);
      transfer.registration = random() % 2 == 0 ? PH_TASK_REG : PH_TASK_UNREG;
      transfer.deregistration = random() % 2 == 0 ? PH_TASK_DEREG : PH_TASK_NODEREG;
      run_transfer(station, GetParam(), transfer, i);
    }
  });
}

TEST_P(TaskBuffer, ZeroBytesStillGiveBothDones) {
  run_on(GetParam(), [&](Station& station) {
    for (const Verb verb : {Verb::get, Verb::put})
      for (const std::uint32_t registration : {PH_TASK_REG, PH_TASK_UNREG})
        for (const std::uint64_t destination : {0, 100})
          run_transfer(station, GetParam(), {verb, 0, destination, registration}, 1);
  });
}

// The call only queues: also where the bytes are there when it returns.
TEST_P(TaskBuffer, DoneNeverRunsInsideTheCall) {
  run_on(GetParam(), [&](Station& station) {
    Bytes bytes(3000);
    Bytes own(3000);
    bool is_inside = false;
    station.on_done = [&](const ph_task_done&) { EXPECT_FALSE(is_inside); };
    if (station.place.pe == GetParam().other)
      station.send(0, station.describe(station.make(bytes)));
    if (station.place.pe == 0) {
      const ph_task_descriptor other = station.receive();
      const ph_task_buffer buffer = station.make(own, PH_TASK_REG, PH_TASK_NODEREG);
      is_inside = true;
      ASSERT_EQ(ph_task_get(station.pe, buffer, &other), PH_OK);
      EXPECT_EQ(ph_task_get(station.pe, buffer, &other), PH_ERR_STATE) << "it is not handled yet";
      EXPECT_TRUE(station.dones.empty());
      is_inside = false;
    }
    const std::size_t mine =
        (station.place.pe == 0 ? 1 : 0) + (station.place.pe == GetParam().other ? 1 : 0);
    station.await(mine);
  });
}

TEST_P(TaskBuffer, ShortDestinationMovesNothing) {
  run_on(GetParam(), [&](Station& station) {
    Bytes bytes(3000, kUntouched);
    Bytes own(2999, std::byte{0});
    Bytes large(3001, std::byte{0});
    if (station.place.pe == GetParam().other)
      station.send(0, station.describe(station.make(bytes)));
    if (station.place.pe == 0) {
      const ph_task_descriptor other = station.receive();
      EXPECT_EQ(ph_task_get(station.pe, station.make(own), &other), PH_ERR_RANGE);
      EXPECT_NE(words_of(station.pe).find("the destination is smaller"), std::string::npos);
      EXPECT_EQ(ph_task_put(station.pe, station.make(large), &other), PH_ERR_RANGE);
      EXPECT_TRUE(all_are(own, 0, std::byte{0}));
    }
    station.meet();
    EXPECT_TRUE(station.dones.empty());
    EXPECT_TRUE(all_are(bytes, 0, kUntouched));
  });
}

// And a buffer in use is not freed, nor read.
TEST_P(TaskBuffer, SecondGetIntoABufferInFlightIsRefused) {
  run_on(GetParam(), [&](Station& station) {
    Bytes bytes(200'000);
    Bytes own(200'000);
    const Path& path = GetParam();
    if (station.place.pe == path.other)
      station.send(0, station.describe(station.make(bytes, PH_TASK_REG, PH_TASK_NODEREG)));
    if (station.place.pe == 0) {
      const ph_task_descriptor other = station.receive();
      const ph_task_buffer buffer = station.make(own, PH_TASK_REG, PH_TASK_NODEREG);
      for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(ph_task_get(station.pe, buffer, &other), PH_OK);
        EXPECT_EQ(ph_task_get(station.pe, buffer, &other), PH_ERR_STATE);
        EXPECT_NE(words_of(station.pe).find("wait for its done"), std::string::npos);
        EXPECT_EQ(ph_task_put(station.pe, buffer, &other), PH_ERR_STATE);
        EXPECT_EQ(ph_task_buffer_free(station.pe, buffer), PH_ERR_STATE);
        EXPECT_EQ(ph_task_buffer_deregister(station.pe, buffer), PH_ERR_STATE);
        station.await(path.other == 0 ? 2 : 1);
      }
      // As a source it is used by many, and by no get.
      ASSERT_EQ(ph_task_put(station.pe, buffer, &other), PH_OK);
      if (path.other != 0) {
        ASSERT_EQ(ph_task_put(station.pe, buffer, &other), PH_OK);
      }
      EXPECT_EQ(ph_task_get(station.pe, buffer, &other), PH_ERR_STATE);
      station.await(2);
      EXPECT_EQ(ph_task_buffer_free(station.pe, buffer), PH_OK);
      EXPECT_EQ(ph_task_buffer_free(station.pe, buffer), PH_ERR_NOT_FOUND);
    } else if (station.place.pe == path.other) {
      station.await(4);
    }
  });
}

// The slot is used by another buffer meanwhile: neither its bytes nor its done are touched.
TEST_P(TaskBuffer, StaleGenerationAfterSlotReuse) {
  run_on(GetParam(), [&](Station& station) {
    const Path& path = GetParam();
    Bytes old_bytes(4000);
    Bytes new_bytes(4000, kUntouched);
    Bytes own(4000, std::byte{1});
    if (station.place.pe == path.other)
      for (const std::uint32_t registration : {PH_TASK_REG, PH_TASK_UNREG}) {
        const ph_task_buffer first = station.make(old_bytes, registration);
        const ph_task_descriptor stale = station.describe(first);
        ASSERT_EQ(ph_task_buffer_free(station.pe, first), PH_OK);
        const ph_task_buffer second = station.make(new_bytes, registration);
        const ph_task_descriptor fresh = station.describe(second);
        EXPECT_EQ(fresh.slot, stale.slot);
        EXPECT_NE(fresh.generation, stale.generation);
        station.send(0, stale);
      }
    for (int i = 0; i < 2 && station.place.pe == 0; ++i) {
      const ph_task_descriptor stale = station.receive();
      const ph_task_buffer buffer = station.make(own);
      const ph_status status = ph_task_put(station.pe, buffer, &stale);
      if (path.is_near()) {
        EXPECT_EQ(status, PH_ERR_KEY);
        continue;
      }
      ASSERT_EQ(status, PH_OK);
      const ph_task_done done = station.await(1)[0];
      EXPECT_EQ(done.status, PH_ERR_KEY);
      EXPECT_EQ(done.moved_bytes, 0u);
      EXPECT_EQ(done.side, PH_TASK_SOURCE);
    }
    if (station.place.pe == 0) station.send(path.other, {});
    if (station.place.pe == path.other) station.receive();  // tasks run until then
    station.meet();
    EXPECT_TRUE(station.dones.empty());
    EXPECT_TRUE(all_are(new_bytes, 0, kUntouched));
  });
}

// All that changes is at the owner: what a message carries is what it was, and works.
TEST_P(TaskBuffer, CopyOfADescriptorLearnsNothing) {
  run_on(GetParam(), [&](Station& station) {
    const Path& path = GetParam();
    Bytes bytes(6000);
    Bytes own(6000);
    fill(bytes, 3);
    if (station.place.pe == path.other)
      station.send(0, station.describe(station.make(bytes, PH_TASK_UNREG, PH_TASK_NODEREG)));
    if (station.place.pe == 0) {
      ph_task_descriptor other = station.receive();
      const ph_task_descriptor before = other;
      const ph_task_buffer buffer = station.make(own, PH_TASK_UNREG, PH_TASK_NODEREG);
      const ph_task_descriptor mine = station.describe(buffer);
      EXPECT_EQ(mine.key, 0u);
      for (int i = 0; i < 3; ++i) {
        std::fill(own.begin(), own.end(), std::byte{0});
        ph_task_descriptor copy = other;
        ASSERT_EQ(ph_task_get(station.pe, buffer, &copy), PH_OK);
        std::memset(&copy, 0xff, sizeof copy);  // the library has no use for it any more
        station.await(path.other == 0 ? 2 : 1);
        EXPECT_TRUE(is_filled(own, own.size(), 3));
      }
      EXPECT_EQ(std::memcmp(&other, &before, sizeof other), 0);
      EXPECT_EQ(mine.key, 0u);
      if (!path.is_near()) {
        EXPECT_NE(station.describe(buffer).key, 0u) << "it was registered at its first use";
      }
    } else if (station.place.pe == path.other) {
      station.await(3);
    }
  });
}

// Between processes: the other side's done is an id of the operation itself.
TEST_P(TaskBuffer, NoMessageForAcknowledgement) {
  if (GetParam().is_near()) GTEST_SKIP() << "there is no network between them";
  constexpr std::uint64_t kCount = 20;
  std::atomic<std::uint64_t> came{0};
  std::atomic<std::uint64_t> processed{0};
  run_on(GetParam(), [&](Station& station) {
    const Path& path = GetParam();
    Bytes bytes(20'000);
    Bytes own(20'000);
    if (station.place.pe == path.other) {
      station.send(0, station.describe(station.make(bytes, PH_TASK_REG, PH_TASK_NODEREG)));
      station.await(kCount);
    }
    if (station.place.pe == 0) {
      const ph_task_descriptor other = station.receive();
      const ph_task_buffer buffer = station.make(own, PH_TASK_REG, PH_TASK_NODEREG);
      for (std::uint64_t i = 0; i < kCount; ++i) {
        ASSERT_EQ((i % 2 == 0 ? ph_task_get : ph_task_put)(station.pe, buffer, &other), PH_OK);
        station.await(1);
      }
    }
    station.meet();
    for (std::uint32_t i = 0; i < station.place.processes; ++i)
      came += of(station.pe).machine().flow(i).arrived;
    processed += of(station.pe).balance().processed;
  });
  EXPECT_EQ(came, 1 + kCount) << "the message with the descriptor, and an id each";
  EXPECT_EQ(processed, 1 + 2 * kCount) << "two dones each";
}

class TaskQuiesce : public TaskBuffer {};
INSTANTIATE_TEST_SUITE_P(Paths, TaskQuiesce, testing::ValuesIn(all_paths()), path_name);

// Copied, issued, told apart, turned round, refused: it is quiet when all dones have run, and then.
TEST_P(TaskQuiesce, ZeroCopyOnEveryPathCountsOnce) {
  constexpr std::uint32_t kRounds = photon::test::rounds(20, 4);
  std::atomic<std::uint32_t> met{0};
  run_on(GetParam(), [&](Station& station) {
    const Path& path = GetParam();
    std::uint32_t begun = 0;
    bool is_over = false;
    station.on_done = [&](const ph_task_done&) { ++met; };
    Function quiet = [&](ph_task_pe* pe, ph_task_message* message) {
      EXPECT_EQ(met, 2 * begun) << "not early";
      is_over = true;
      ph_task_free(pe, message);
      for (std::uint32_t to = 0; to < station.place.pes; ++to) station.send(to, {});
    };
    const std::uint32_t number = enroll(station.pe, quiet);
    ASSERT_EQ(ph_task_agree(station.pe), PH_OK);
    std::vector<Bytes> theirs(4 * kRounds, Bytes(3000));
    std::vector<Bytes> own(theirs.size(), Bytes(3000));
    if (station.place.pe == path.other)
      for (std::size_t i = 0; i < theirs.size(); ++i)
        station.send(
            0, station.describe(station.make(theirs[i], i % 2 == 0 ? PH_TASK_REG : PH_TASK_UNREG)));
    for (std::size_t i = 0; i < own.size() && station.place.pe == 0; ++i) {
      ph_task_descriptor other = station.receive();
      if (i % 4 == 2) own[i].resize(2000);
      if (i % 8 == 4 && !path.is_near()) other.key ^= 2;
      const auto call = i % 4 < 2 ? ph_task_get : ph_task_put;
      ASSERT_EQ(call(station.pe, station.make(own[i]), &other), PH_OK) << words_of(station.pe);
      ++begun;
    }
    if (station.place.pe == 0) {
      ASSERT_EQ(ph_task_quiesce(station.pe, number), PH_OK);
    }
    station.receive();  // tasks run until then
    EXPECT_EQ(is_over, station.place.pe == 0);
    station.dones.clear();
  });
  EXPECT_EQ(met, 8 * kRounds);
}

}  // namespace
}  // namespace photon::task::test
