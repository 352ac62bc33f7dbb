#include "task/buffer/spread.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "forked_job.hpp"
#include "task/buffer/buffer_job.hpp"

namespace photon::task::test {
namespace {

// What one PE has of a broadcast.
struct Landing {
  Landing(Station& own, std::uint64_t size_bytes) : station(own), bytes(size_bytes) {
    on_offer = [this](ph_task_pe* pe, ph_task_message* message) {
      ASSERT_EQ(ph_task_size(message), sizeof offer);
      std::memcpy(&offer, ph_task_body(message), sizeof offer);
      ASSERT_EQ(ph_task_free(pe, message), PH_OK);
      is_offered = true;
    };
    number = enroll(station.pe, on_offer);
    EXPECT_EQ(ph_task_agree(station.pe), PH_OK);
  }
  void await_offer() {
    while (!is_offered) ASSERT_EQ(ph_task_run(station.pe, 1, nullptr), PH_OK);
  }
  Station& station;
  Bytes bytes;
  ph_task_offer offer{};
  bool is_offered = false;
  Function on_offer;
  std::uint32_t number = 0;
};

// One broadcast of so many bytes, by all PEs: PE 0 has its done when all have begun to land. Each
// writes over its buffer as soon as it has its done: who reads from it has read then.
void spread_once(Station& station, std::uint64_t size, std::atomic<std::uint32_t>& begun) {
  Landing own(station, size);
  const bool is_root = station.place.pe == 0;
  station.on_done = [&](const ph_task_done& done) {
    EXPECT_EQ(done.status, PH_OK);
    EXPECT_EQ(done.moved_bytes, size);
    EXPECT_EQ(done.side, is_root ? PH_TASK_SOURCE : PH_TASK_DESTINATION);
    EXPECT_TRUE(is_filled(own.bytes, size, 5));
    if (is_root) {
      EXPECT_EQ(begun.exchange(0), station.place.pes - 1);
    }
    std::fill(own.bytes.begin(), own.bytes.end(), std::byte{0xee});
  };
  const ph_task_buffer buffer = station.make(own.bytes, PH_TASK_UNREG);
  if (is_root) {
    fill(own.bytes, 5);
    ASSERT_EQ(ph_task_buffer_broadcast(station.pe, buffer, own.number, 77), PH_OK)
        << words_of(station.pe);
    EXPECT_EQ(ph_task_buffer_free(station.pe, buffer), PH_ERR_STATE);
  } else {
    own.await_offer();
    EXPECT_EQ(own.offer.word, 77u);
    EXPECT_EQ(own.offer.root_pe, 0u);
    ++begun;
    ASSERT_EQ(ph_task_land(station.pe, buffer, &own.offer), PH_OK) << words_of(station.pe);
  }
  station.await(1);
  EXPECT_FALSE(size != 0 && station.is_registered(own.bytes));
  EXPECT_EQ(station.buffers().underway.count(), 0u);
  EXPECT_EQ(ph_task_buffer_free(station.pe, buffer), PH_OK);
}

// Three generations: 0 feeds 1 to 4, and 1 feeds 5 and 6; by one way, and by both in turns.
TEST(TaskBuffer, BroadcastLandingIsNotGivenBeforeChildrenRead) {
  using photon::test::kHostsOption;
  for (const photon::test::Options& options :
       std::vector<photon::test::Options>{{{"transport", "shm"}},
                                          {{"transport", "tcp"}},
                                          {{kHostsOption, "2"}, {"tcp_interface", "127.0.0.1"}}}) {
    std::atomic<std::uint32_t> begun{0};
    run_on({"", 7, 1, 1, options}, [&](Station& station) {
      for (const std::uint64_t size : {0, 100, 700'000}) spread_once(station, size, begun);
    });
  }
}

// The program has registered the same memory itself: one deregistration too many takes that away.
TEST(TaskBuffer, DeregisteredInABroadcastOnlyOnce) {
  run_on({"", 7, 1, 1, {}}, [&](Station& station) {
    Landing own(station, 5000);
    ph_region region{};
    ph_context* lane = of(station.pe).machine().lane();
    ASSERT_EQ(ph_register(lane, own.bytes.data(), own.bytes.size(), PH_ACCESS_ALL, &region), PH_OK);
    const ph_task_buffer buffer = station.make(own.bytes);
    if (station.place.pe == 0) {
      ASSERT_EQ(ph_task_buffer_broadcast(station.pe, buffer, own.number, 0), PH_OK);
    } else {
      own.await_offer();
      ASSERT_EQ(ph_task_land(station.pe, buffer, &own.offer), PH_OK);
    }
    station.await(1);
    EXPECT_TRUE(station.is_registered(own.bytes));
    EXPECT_EQ(ph_unregister(lane, region.key), PH_OK);
    EXPECT_FALSE(station.is_registered(own.bytes));
  });
}

TEST(TaskSpread, a_broadcast_of_one_process_is_over_at_once) {
  run_on({"", 1, 2, 1, {}}, [&](Station& station) {
    Landing own(station, 100);
    const ph_task_buffer buffer = station.make(own.bytes);
    ASSERT_EQ(ph_task_buffer_broadcast(station.pe, buffer, own.number, 0), PH_OK);
    EXPECT_TRUE(station.dones.empty()) << "never inside the call";
    EXPECT_EQ(station.await(1)[0].status, PH_OK);
    EXPECT_EQ(ph_task_buffer_free(station.pe, buffer), PH_OK);
    EXPECT_EQ(of(station.pe).balance().created, of(station.pe).balance().processed);
  });
}

TEST(TaskSpread, offers_that_cannot_be_are_refused) {
  run_on({"", 2, 1, 1, {}}, [&](Station& station) {
    Landing own(station, 100);
    const ph_task_buffer buffer = station.make(own.bytes);
    if (station.place.pe == 0) {
      EXPECT_EQ(ph_task_buffer_broadcast(station.pe, buffer, 1000, 0), PH_ERR_ARGUMENT);
      ASSERT_EQ(ph_task_buffer_broadcast(station.pe, buffer, own.number, 0), PH_OK);
      station.await(1);
      return;
    }
    own.await_offer();
    EXPECT_EQ(ph_task_land(station.pe, buffer, nullptr), PH_ERR_ARGUMENT);
    for (int field = 0; field < 5; ++field) {
      ph_task_offer forged = own.offer;
      if (field == 0) forged.root_pe = 1;
      if (field == 1) forged.root_pe = 100;
      if (field == 2) forged.above = 3;
      if (field == 3) forged.source.key = 0;
      if (field == 4) forged.source.reserved = 1;
      EXPECT_EQ(ph_task_land(station.pe, buffer, &forged), PH_ERR_ARGUMENT) << field;
    }
    Bytes small(99);
    EXPECT_EQ(ph_task_land(station.pe, station.make(small), &own.offer), PH_ERR_RANGE);
    ASSERT_EQ(ph_task_land(station.pe, buffer, &own.offer), PH_OK);
    station.await(1);
  });
}

// 0 feeds 1 to 4, and 1 feeds 5; 5 forges the key.
TEST(TaskSpread, a_landing_that_failed_is_told_with_no_bytes_to_all_above) {
  run_on({"", 6, 1, 1, {}}, [&](Station& station) {
    Landing own(station, 100);
    const ph_task_buffer buffer = station.make(own.bytes);
    const std::uint32_t rank = station.place.pe;
    if (rank == 0) {
      ASSERT_EQ(ph_task_buffer_broadcast(station.pe, buffer, own.number, 0), PH_OK);
    } else {
      own.await_offer();
      if (rank == 5) own.offer.source.key ^= std::uint64_t{1} << 50;
      ASSERT_EQ(ph_task_land(station.pe, buffer, &own.offer), PH_OK) << words_of(station.pe);
    }
    EXPECT_EQ(counts_of(station.pe).operations, 1u);
    const ph_task_done done = station.await(1)[0];
    const bool is_failed = rank == 0 || rank == 5;
    EXPECT_EQ(done.status, is_failed ? PH_ERR_KEY : PH_OK) << rank;
    EXPECT_EQ(done.moved_bytes, is_failed ? 0u : 100u) << rank;
  });
}

// Real processes, of one PE each: 0 feeds 1 to 4, and 1 feeds 5. PE 1 is lost before it could be
// offered the buffer, so 0 feeds 5 in its place; PE 2 is lost when it was offered it.
int outlive_two_below(const ph_bootstrap& bootstrap, const char* transport) {
  const ph_option option{"transport", transport};
  const ph_config photon{sizeof photon, &bootstrap, &option, 1};
  ph_task_config config{};
  config.size = sizeof config;
  config.photon = &photon;
  ph_task_pe* pe = nullptr;
  if (ph_task_start(&config, &pe, nullptr) != PH_OK) return 1;
  Station station(pe);
  std::uint64_t come = 0;
  Function on_meeting = [&](ph_task_pe* one, ph_task_message* message) {
    ++come;
    EXPECT_EQ(ph_task_free(one, message), PH_OK);
  };
  Function die = [](ph_task_pe*, ph_task_message*) { ::kill(::getpid(), SIGKILL); };
  const std::uint32_t meeting = enroll(pe, on_meeting);
  const std::uint32_t dying = enroll(pe, die);
  Landing own(station, 100'000);
  if (!gather_all(pe, meeting, come)) return 2;
  const std::uint32_t rank = station.place.pe;
  const ph_task_buffer buffer = station.make(own.bytes);
  // What lies unread with its peers may be lost with a process: it dies when all have gathered.
  if (rank != 0 && ph_task_send(pe, 0, make(pe, meeting, 0)) != PH_OK) return 4;
  if (rank == 0) {
    while (come < 2 * std::uint64_t{station.place.pes - 1}) ph_task_run(pe, 1, nullptr);
    fill(own.bytes, 6);
    while (ph_task_send(pe, 1, make(pe, dying, 0)) == PH_OK) ph_task_run(pe, 0, nullptr);
    EXPECT_EQ(ph_task_buffer_broadcast(pe, buffer, own.number, 0), PH_OK);
  } else {
    own.await_offer();
    if (rank == 2) ::kill(::getpid(), SIGKILL);
    EXPECT_EQ(ph_task_land(pe, buffer, &own.offer), PH_OK) << words_of(pe);
  }
  EXPECT_EQ(station.await(1)[0].status, PH_OK);
  EXPECT_TRUE(is_filled(own.bytes, own.bytes.size(), 6));
  EXPECT_EQ(station.buffers().underway.count(), 0u);
  EXPECT_EQ(ph_task_buffer_free(pe, buffer), PH_OK);
  static_cast<void>(ph_task_end(pe));  // it says what was lost
  return testing::Test::HasFailure() ? 3 : 0;
}

TEST(TaskSpread, a_process_that_is_lost_counts_as_having_read) {
  for (const char* transport : {"shm", "tcp"}) {
    SCOPED_TRACE(transport);
    const std::vector<int> ends = photon::test::fork_ranks(
        6, [&](const ph_bootstrap& bootstrap) { return outlive_two_below(bootstrap, transport); });
    for (std::size_t rank = 0; rank < ends.size(); ++rank)
      if (rank == 1 || rank == 2) {
        EXPECT_TRUE(WIFSIGNALED(ends[rank])) << rank;
      } else {
        EXPECT_EQ(ends[rank], 0) << rank;
      }
  }
}

}  // namespace
}  // namespace photon::task::test
