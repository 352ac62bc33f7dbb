#include "task/buffer/turns.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "forked_job.hpp"
#include "task/buffer/buffer_job.hpp"

namespace photon::task::test {
namespace {

const Path kShm{"shm", 2, 2, 3, {{"transport", "shm"}}};

// The asked buffer was freed, deregistered, is another one, or is in use: both sides hear of it, as
// far as the asked one is there.
TEST(TaskTurns, what_cannot_be_issued_is_told_to_both_sides) {
  run_on(kShm, [](Station& station) {
    Bytes bytes(500);
    Bytes own(500, std::byte{3});
    if (station.place.pe == 3) {
      const ph_task_buffer buffer = station.make(bytes, PH_TASK_UNREG);
      const ph_task_descriptor descriptor = station.describe(buffer);
      ASSERT_EQ(ph_task_buffer_deregister(station.pe, buffer), PH_OK);
      station.send(0, descriptor);
      EXPECT_EQ(station.await(1)[0].status, PH_ERR_KEY);
      ASSERT_EQ(ph_task_buffer_register(station.pe, buffer), PH_OK);
      station.buffers().handles.find(buffer)->is_landing = true;
      station.send(0, descriptor);
      EXPECT_EQ(station.await(1)[0].status, PH_ERR_STATE);
      station.buffers().handles.find(buffer)->is_landing = false;
      ph_task_descriptor forged = descriptor;
      forged.address += 1;
      station.send(0, forged);
      station.receive();
      ASSERT_EQ(ph_task_buffer_free(station.pe, buffer), PH_OK);
      station.send(0, descriptor);
      station.receive();
      EXPECT_TRUE(station.dones.empty());
    }
    if (station.place.pe == 0) {
      const ph_task_buffer buffer = station.make(own, PH_TASK_UNREG);
      for (const ph_status expected : {PH_ERR_KEY, PH_ERR_STATE, PH_ERR_KEY, PH_ERR_KEY}) {
        const ph_task_descriptor other = station.receive();
        ASSERT_EQ(ph_task_get(station.pe, buffer, &other), PH_OK);
        const ph_task_done done = station.await(1)[0];
        EXPECT_EQ(done.status, expected);
        EXPECT_EQ(done.moved_bytes, 0u);
        EXPECT_EQ(std::memcmp(&done.other, &other, sizeof other), 0);
        EXPECT_FALSE(station.is_registered(own));
        if (expected == PH_ERR_KEY) station.send(3, other);
      }
      EXPECT_TRUE(all_are(own, 0, std::byte{3}));
    }
    if (station.place.pe == 3) station.receive();
    station.meet();
    EXPECT_EQ(station.buffers().underway.count(), 0u);
  });
}

// A peer may ask for anything.
TEST(TaskTurns, what_a_peer_makes_up_is_not_issued) {
  run_on(kShm, [](Station& station) {
    Bytes bytes(500, std::byte{9});
    if (station.place.pe == 3) {
      station.send(0, station.describe(station.make(bytes, PH_TASK_UNREG)));
      station.receive();
      EXPECT_EQ(station.buffers().underway.count(), 0u);
    }
    if (station.place.pe == 0) {
      const ph_task_descriptor asked = station.receive();
      struct {
        ph_task_descriptor asker;
        ph_task_descriptor asked;
        std::uint32_t slot, generation;
        std::uint64_t verb;
      } turn{};
      turn.asker = asked;
      turn.asker.pe = 0;
      turn.asker.key = 1;
      turn.asked = asked;
      const auto send = [&](const auto& forge, std::uint64_t size_bytes = sizeof turn) {
        auto forged = turn;
        forge(forged);
        Message* message = of(station.pe).pool().alloc(size_bytes);
        std::memcpy(body_of(*message), &forged, size_bytes);
        message->wire = {.handler = 0, .target = 1, .source = 0, .kind = Kind::turn, .zero = 0};
        ASSERT_EQ(of(station.pe).machine().send(*message, 1), PH_OK);
      };
      send([](auto&) {}, 8);
      send([](auto& one) { one.asker.pe = 1; });
      send([](auto& one) { one.asker.key = 0; });
      send([](auto& one) { one.asker.version = 0; });
      send([](auto& one) { one.asked.pe = 2; });
      send([](auto& one) { one.asked.reserved = 1; });
      send([](auto& one) { one.slot = ~0U; });
      send([](auto& one) { one.generation = ~0U; });
      send([](auto& one) { one.verb = 7; });
      station.send(3, asked);
    }
    station.meet();
    EXPECT_TRUE(station.dones.empty());
    EXPECT_TRUE(all_are(bytes, 0, std::byte{9}));
  });
}

// Real processes, of one PE each; PE 1 is killed while PE 0 waits for a turned get, a turned put
// and a get that is issued.
int lose_the_other_side(const ph_bootstrap& bootstrap, const char* transport) {
  const ph_option option{"transport", transport};
  const ph_config photon{sizeof photon, &bootstrap, &option, 1};
  ph_task_config config{};
  config.size = sizeof config;
  config.photon = &photon;
  ph_task_pe* pe = nullptr;
  ph_error error{};
  if (ph_task_start(&config, &pe, &error) != PH_OK) return 1;
  Station station(pe);
  Bytes bytes(2'000'000);
  Bytes own(2'000'000);
  Bytes second(2'000'000);
  if (station.place.pe == 1) {
    station.send(0, station.describe(station.make(bytes, PH_TASK_UNREG)));
    station.send(0, station.describe(station.make(bytes, PH_TASK_REG)));
    station.receive();
    ::kill(::getpid(), SIGKILL);
  }
  const ph_task_descriptor bare = station.receive();
  const ph_task_descriptor registered = station.receive();
  const ph_task_buffer landing = station.make(own);
  station.send(1, bare);  // the last that it gets a turn for
  EXPECT_EQ(ph_task_get(pe, landing, &bare), PH_OK);
  EXPECT_EQ(ph_task_put(pe, station.make(second), &bare), PH_OK);
  for (const ph_task_done& done : station.await(2)) {
    EXPECT_EQ(done.status, PH_ERR_PEER);
    EXPECT_EQ(done.moved_bytes, 0u);
    EXPECT_EQ(done.other_pe, 1u);
  }
  // It is known to be lost now: also at the call, the words come by the done.
  for (const ph_task_descriptor* other : {&bare, &registered}) {
    EXPECT_EQ(ph_task_get(pe, landing, other), PH_OK) << words_of(pe);
    EXPECT_EQ(station.await(1)[0].status, PH_ERR_PEER);
  }
  EXPECT_EQ(station.buffers().underway.count(), 0u);
  EXPECT_EQ(ph_task_buffer_free(pe, landing), PH_OK);
  ph_task_end(pe);
  return testing::Test::HasFailure() ? 2 : 0;
}

TEST(TaskTurns, the_end_of_a_process_ends_its_operations) {
  for (const char* transport : {"shm", "tcp"}) {
    SCOPED_TRACE(transport);
    const std::vector<int> statuses = photon::test::fork_ranks(
        2,
        [&](const ph_bootstrap& bootstrap) { return lose_the_other_side(bootstrap, transport); });
    EXPECT_EQ(statuses[0], 0);
    EXPECT_TRUE(WIFSIGNALED(statuses[1]));
  }
}

// Two processes of one PE; PE 1 is killed when it was asked for several operations, and PE 0 asks
// for quiescence. What was sent to the dead process is in no sum, so the dones that are due here
// have to be in one of their own from the beginning.
int ask_for_quiescence_alone(const ph_bootstrap& bootstrap) {
  constexpr std::size_t kGets = 40;
  const ph_config photon{sizeof photon, &bootstrap, nullptr, 0};
  ph_task_config config{};
  config.size = sizeof config;
  config.photon = &photon;
  ph_task_pe* pe = nullptr;
  if (ph_task_start(&config, &pe, nullptr) != PH_OK) return 1;
  Station station(pe);
  bool is_quiet = false;
  Function quiet = [&](ph_task_pe* one, ph_task_message* message) {
    is_quiet = true;
    EXPECT_EQ(station.dones.size(), kGets) << "early";
    EXPECT_EQ(ph_task_free(one, message), PH_OK);
  };
  const std::uint32_t number = enroll(pe, quiet);
  EXPECT_EQ(ph_task_agree(pe), PH_OK);
  Bytes bytes(5000);
  if (station.place.pe == 1) {
    station.send(0, station.describe(station.make(bytes, PH_TASK_UNREG)));
    station.receive();
    ::kill(::getpid(), SIGKILL);
  }
  const ph_task_descriptor bare = station.receive();
  std::vector<Bytes> landings(kGets, Bytes(5000));
  station.send(1, bare);  // the last that it gets a turn for
  const Balance before = of(pe).balance();
  for (Bytes& landing : landings)
    EXPECT_EQ(ph_task_get(pe, station.make(landing), &bare), PH_OK) << words_of(pe);
  EXPECT_EQ(of(pe).balance().created - before.created, kGets);
  EXPECT_EQ(of(pe).balance().processed, before.processed);
  EXPECT_EQ(ph_task_quiesce(pe, number), PH_OK);
  while (!is_quiet) ph_task_run(pe, 1, nullptr);
  for (const ph_task_done& done : station.dones) EXPECT_EQ(done.status, PH_ERR_PEER);
  EXPECT_EQ(station.buffers().underway.count(), 0u);
  ph_task_end(pe);
  return testing::Test::HasFailure() ? 2 : 0;
}

TEST(TaskQuiesce, ReachedAfterADeathOfWhoWasAskedForOperations) {
  const std::vector<int> statuses = photon::test::fork_ranks(2, ask_for_quiescence_alone);
  EXPECT_EQ(statuses[0], 0);
  EXPECT_TRUE(WIFSIGNALED(statuses[1]));
}

}  // namespace
}  // namespace photon::task::test
