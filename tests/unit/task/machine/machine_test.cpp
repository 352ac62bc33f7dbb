#include "task/machine/machine.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "forked_job.hpp"
#include "thread_job.hpp"

namespace photon::task {
namespace {

constexpr std::uint32_t kLane = 77;
constexpr std::uint64_t kCarried = 32 << 10;

// One machine of a rank, and what has come by it.
struct Station {
  explicit Station(ph_context* context) {
    ph_context* lane = nullptr;
    EXPECT_EQ(ph_lane_open(context, kLane, &lane), PH_OK);
    EXPECT_EQ(machine.open(lane), PH_OK);
    EXPECT_EQ(ph_barrier(context), PH_OK);
  }
  ~Station() {
    for (Message* message : come) pool.free(*message);
  }
  static void arrived(void* user, Message& message) noexcept {
    static_cast<Station*>(user)->come.push_back(&message);
  }
  Message& make(std::uint64_t size_bytes, std::uint32_t seed) {
    Message& message = *pool.alloc(size_bytes);
    message.wire = {.handler = seed, .target = 1, .source = 0, .kind = Kind::program, .zero = 0};
    std::byte* bytes = body_of(message);
    for (std::uint64_t i = 0; i < size_bytes; ++i) bytes[i] = of(seed, i);
    return message;
  }
  static std::byte of(std::uint32_t seed, std::uint64_t at) {
    return static_cast<std::byte>(seed * 37 + at * 11 + at / 256);
  }
  static bool is_right(Message& message) {
    const std::byte* bytes = body_of(message);
    for (std::uint64_t i = 0; i < message.size_bytes; ++i)
      if (bytes[i] != of(message.wire.handler, i)) return false;
    return true;
  }
  void until(const std::function<bool()>& is_over) {
    while (!is_over())
      if (!machine.progress()) machine.wait(1000);
  }

  Returns returns{2};
  Pool pool{0, heap_memory(), returns, std::uint64_t{64} << 20};
  std::vector<Message*> come;
  Machine machine{{kCarried, 2, &pool, {arrived, this}}};
};

TEST(TaskMachine, a_message_of_every_size_comes_whole_and_its_block_comes_back) {
  const std::vector<std::uint64_t> sizes = {0,    1,      39,     40,     41,     1000,
                                            4096, 32'759, 32'760, 32'761, 65'536, 3'000'000};
  photon::test::ThreadJob job(2);
  job.run([&](ph_context* context, ph_rank rank) {
    Station station(context);
    for (std::uint32_t i = 0; i < sizes.size(); ++i)
      EXPECT_EQ(station.machine.send(station.make(sizes[i], i), 1 - rank), PH_OK);
    station.until([&] { return station.come.size() == sizes.size(); });
    station.until([&] { return !station.machine.has_lent() && !station.machine.has_waiting(); });
    std::ranges::sort(station.come, {}, [](Message* one) { return one->wire.handler; });
    for (std::uint32_t i = 0; i < sizes.size(); ++i) {
      Message& message = *station.come[i];
      EXPECT_EQ(message.wire.handler, i);
      EXPECT_EQ(message.size_bytes, sizes[i]);
      EXPECT_EQ(message.source, (1 - rank) * 2);
      EXPECT_TRUE(Station::is_right(message)) << sizes[i];
    }
    EXPECT_EQ(station.machine.losses().dropped, 0u);
    EXPECT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST(TaskMachine, what_finds_no_room_waits_in_order) {
  constexpr std::uint32_t kCount = 2000;
  photon::test::ThreadJob job(2, {{"am_slots", "4"}, {"requests", "16"}});
  job.run([&](ph_context* context, ph_rank rank) {
    Station station(context);
    if (rank == 0) {
      for (std::uint32_t i = 0; i < kCount; ++i)
        ASSERT_EQ(station.machine.send(station.make(8 + i % 100, i), 1), PH_OK);
      EXPECT_TRUE(station.machine.has_waiting());
      EXPECT_GT(station.machine.losses().waited, 0u);
      ASSERT_EQ(ph_barrier(context), PH_OK);                    // from here on the other one takes
      station.until([&] { return station.come.size() == 1; });  // the other one has all
      EXPECT_FALSE(station.machine.has_waiting());
    } else {
      ASSERT_EQ(ph_barrier(context), PH_OK);
      station.until([&] { return station.come.size() == kCount; });
      for (std::uint32_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(station.come[i]->wire.handler, i);
        ASSERT_TRUE(Station::is_right(*station.come[i]));
      }
      ASSERT_EQ(station.machine.send(station.make(8, 0), 0), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST(TaskMachine, a_copy_writes_nothing_to_the_message) {
  photon::test::ThreadJob job(2);
  job.run([&](ph_context* context, ph_rank rank) {
    Station station(context);
    for (const std::uint64_t size : {std::uint64_t{16}, std::uint64_t{5000}, 2 * kCarried}) {
      Message& message = station.make(size, 3);
      const Message before = message;
      const WireWord wire{.handler = 3, .target = 0, .source = 1, .kind = Kind::program, .zero = 0};
      EXPECT_EQ(station.machine.send_copy(wire, message, 1 - rank), PH_OK);
      EXPECT_EQ(std::memcmp(&message, &before, sizeof before), 0) << "others may read it meanwhile";
      EXPECT_TRUE(Station::is_right(message));
      EXPECT_EQ(station.pool.free(message), Pool::Freed::over) << "it was ours alone";
    }
    station.until([&] { return station.come.size() == 3; });
    station.until([&] { return !station.machine.has_lent(); });
    for (Message* message : station.come) {
      EXPECT_TRUE(Station::is_right(*message));
      EXPECT_EQ(message->source, (1 - rank) * 2 + 1);
      EXPECT_EQ(message->wire.target, 0);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// A peer may send any bytes: nothing of them is believed.
TEST(TaskMachine, a_forged_wire_word_is_refused) {
  photon::test::ThreadJob job(2);
  job.run([&](ph_context* context, ph_rank rank) {
    Station station(context);
    const std::vector<WireWord> forged = {
        {.handler = 0, .target = 2, .source = 0, .kind = Kind::program, .zero = 0},
        {.handler = 0, .target = 254, .source = 0, .kind = Kind::program, .zero = 0},
        {.handler = 0, .target = 0, .source = 2, .kind = Kind::program, .zero = 0},
        {.handler = 0, .target = 0, .source = 0, .kind = Kind{kKinds}, .zero = 0},
        {.handler = 0, .target = 0, .source = 0, .kind = Kind::program, .zero = 1}};
    for (const std::uint64_t size : {std::uint64_t{8}, 2 * kCarried})
      for (const WireWord& word : forged) {
        Message& message = station.make(size, 0);
        message.wire = word;
        EXPECT_EQ(station.machine.send(message, 1 - rank), PH_OK);
      }
    EXPECT_EQ(station.machine.send(station.make(8, 9), 1 - rank), PH_OK);
    // Each is counted at its sender and at its target.
    station.until([&] { return station.machine.losses().dropped == 4 * forged.size(); });
    station.until([&] { return !station.come.empty(); });
    EXPECT_EQ(station.come.size(), 1u);
    EXPECT_EQ(station.come[0]->wire.handler, 9u);
    EXPECT_FALSE(station.machine.has_lent()) << "a lent message that is refused comes back once";
    ASSERT_EQ(ph_barrier(context), PH_OK);
    station.machine.progress();
    EXPECT_EQ(station.machine.losses().dropped, 4 * forged.size());
    EXPECT_FALSE(station.machine.has_lent());
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST(TaskMachine, a_message_to_a_process_that_has_left_is_freed_and_counted) {
  photon::test::ThreadJob job(2);
  job.run([&](ph_context* context, ph_rank rank) {
    Station station(context);
    EXPECT_EQ(station.machine.send(station.make(8, 1), 1 - rank), PH_OK);
    station.until([&] { return station.come.size() == 1; });
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 1) {
      EXPECT_EQ(station.machine.close(), PH_OK);
      ASSERT_EQ(ph_barrier(context), PH_OK);
    } else {
      ASSERT_EQ(ph_barrier(context), PH_OK);
      ph_status status = PH_OK;
      while (status == PH_OK) {
        status = station.machine.send(station.make(8, 2), 1);
        station.machine.progress();
      }
      EXPECT_EQ(status, PH_ERR_DEPARTED);
      EXPECT_GE(station.machine.losses().dropped, 1u);
      EXPECT_FALSE(station.machine.has_waiting());
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// The program has ended its context under the machine: that loses no peer.
TEST(TaskMachine, a_message_that_could_not_be_sent_remains_the_callers) {
  photon::test::ThreadJob job(2);
  job.run([&](ph_context* context, ph_rank rank) {
    Station station(context);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ASSERT_EQ(ph_finalize(context), PH_OK);
    for (const std::uint64_t size : {std::uint64_t{8}, 2 * kCarried}) {
      Message& message = station.make(size, 1);
      EXPECT_EQ(station.machine.send(message, 1 - rank), PH_ERR_STATE);
      EXPECT_EQ(station.machine.send_copy(message.wire, message, 1 - rank), PH_ERR_STATE);
      EXPECT_TRUE(Station::is_right(message));
      EXPECT_EQ(station.pool.free(message), Pool::Freed::over) << "it was not freed before";
    }
    EXPECT_EQ(station.machine.losses().dropped, 0u);
    EXPECT_FALSE(station.machine.has_waiting());
  });
}

// Counts for quiescence: what was accepted and comes to nothing is not under way for ever.
TEST(TaskMachine, what_waited_and_then_could_not_be_sent_is_counted_as_returned) {
  photon::test::ThreadJob job(2, {{"am_slots", "4"}, {"requests", "16"}});
  job.run([&](ph_context* context, ph_rank rank) {
    Station station(context);
    constexpr std::uint64_t kCount = 500;
    for (std::uint32_t i = 0; i < kCount; ++i)
      ASSERT_EQ(station.machine.send(station.make(8, i), 1 - rank), PH_OK);
    ASSERT_TRUE(station.machine.has_waiting());
    const std::uint64_t waited = station.machine.losses().waited;
    EXPECT_EQ(station.machine.flow(1 - rank).sent, kCount);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ASSERT_EQ(ph_finalize(context), PH_OK);
    station.machine.progress();
    EXPECT_FALSE(station.machine.has_waiting());
    EXPECT_EQ(station.machine.flow(1 - rank).returned, waited);
    EXPECT_EQ(station.machine.flow(1 - rank).sent, kCount);
  });
}

// Its source is killed when its head has come, and before its bytes have.
int run_landing(const ph_bootstrap& bootstrap) {
  const ph_option off{"shm_cma", "off"};
  ph_config config{};
  config.size = sizeof config;
  config.bootstrap = &bootstrap;
  config.options = &off;
  config.options_count = 1;
  ph_context* context = nullptr;
  if (ph_context_create(&config, &context, nullptr) != PH_OK) return 2;
  {
    Station station(context);
    EXPECT_EQ(station.machine.send(station.make(8, 1), 1 - bootstrap.rank), PH_OK);
    station.until([&] { return station.come.size() == 1; });
    EXPECT_EQ(ph_barrier(context), PH_OK);
    if (bootstrap.rank == 0) {
      EXPECT_EQ(station.machine.send(station.make(16 << 20, 2), 1), PH_OK);
    }
    EXPECT_EQ(ph_barrier(context), PH_OK);
    if (bootstrap.rank == 1)
      for (int i = 0; i < 100; ++i) station.machine.progress();
    EXPECT_EQ(ph_barrier(context), PH_OK);
    if (bootstrap.rank == 0) ::kill(::getpid(), SIGKILL);
    station.until(
        [&] { return station.machine.losses().refused == 1 || station.come.size() == 2; });
    EXPECT_EQ(station.come.size(), 1u);
    EXPECT_EQ(station.machine.flow(0).arrived, 2u) << "the small one, and this";
  }
  static_cast<void>(ph_finalize(context));  // it tells of the loss
  ph_context_destroy(context);
  return testing::Test::HasFailure() ? 1 : 0;
}

TEST(TaskMachine, what_could_not_be_landed_has_arrived_and_is_over) {
  const std::vector<int> ends = photon::test::fork_ranks(2, run_landing);
  EXPECT_TRUE(WIFSIGNALED(ends[0]) && WTERMSIG(ends[0]) == SIGKILL);
  EXPECT_EQ(ends[1], 0);
}

// Its only peer is killed. What waits then sleeps on, and is woken by other threads of its process.
int outlive_all_peers(const ph_bootstrap& bootstrap) {
  ::alarm(60);  // it ends a rank that hangs
  ph_config config{};
  config.size = sizeof config;
  config.bootstrap = &bootstrap;
  ph_context* context = nullptr;
  if (ph_context_create(&config, &context, nullptr) != PH_OK) return 2;
  {
    Station station(context);
    EXPECT_EQ(station.machine.send(station.make(8, 1), 1 - bootstrap.rank), PH_OK);
    station.until([&] { return station.come.size() == 1; });
    EXPECT_EQ(ph_barrier(context), PH_OK);
    if (bootstrap.rank == 1) ::raise(SIGKILL);
    station.until([&] {
      ph_contact_state state = PH_PEER_UNKNOWN;
      return ph_peer_state(station.machine.lane(), 1, &state) != PH_OK || state == PH_PEER_DEAD;
    });
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    int waits = 0;
    for (; std::chrono::steady_clock::now() < until; ++waits) station.machine.wait(50'000);
    EXPECT_LT(waits, 100) << "it does not sleep";
    for (int i = 0; i < 100; ++i) {
      std::thread other([&] { station.machine.wake(); });
      EXPECT_TRUE(station.machine.wait(PH_FOREVER));
      other.join();
    }
  }
  static_cast<void>(ph_finalize(context));  // it tells of the loss
  ph_context_destroy(context);
  return testing::Test::HasFailure() ? 1 : 0;
}

TEST(TaskMachine, a_wait_sleeps_when_all_peers_are_lost) {
  const std::vector<int> ends = photon::test::fork_ranks(2, outlive_all_peers);
  EXPECT_TRUE(WIFSIGNALED(ends[1]) && WTERMSIG(ends[1]) == SIGKILL);
  EXPECT_EQ(ends[0], 0);
}

TEST(TaskMachine, another_thread_ends_a_wait) {
  photon::test::ThreadJob job(1);
  job.run([&](ph_context* context, ph_rank /*rank*/) {
    Station station(context);
    for (int i = 0; i < 100; ++i) {
      std::thread other([&] { station.machine.wake(); });
      station.machine.wait(PH_FOREVER);  // the watchdog ends it if the wake-up was lost
      other.join();
    }
  });
}

}  // namespace
}  // namespace photon::task
