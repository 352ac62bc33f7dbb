#include "task/buffer/issue.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <vector>

#include "forked_job.hpp"
#include "refused_copies.hpp"
#include "rounds.hpp"
#include "task/buffer/buffer_job.hpp"

namespace photon::task::test {
namespace {

// More operations at once than the lane has requests for, by both PEs at each other, with messages
// beside them: each waits for room and ends once.
TEST(TaskIssue, what_finds_no_room_waits_and_ends_once) {
  constexpr std::uint32_t kCount = photon::test::rounds(2000, 200);
  const Path path{"", 2, 1, 1, {{"requests", "16"}, {"ledger_slots", "8"}, {"am_slots", "4"}}};
  run_on(path, [&](Station& station) {
    constexpr std::size_t kBytes = 3000;
    const std::uint32_t other_pe = 1 - station.place.pe;
    std::vector<Bytes> landings(kCount, Bytes(kBytes));
    Bytes own(kBytes);
    fill(own, station.place.pe);
    for (Bytes& landing : landings) station.send(other_pe, station.describe(station.make(landing)));
    const ph_task_buffer source = station.make(own, PH_TASK_REG, PH_TASK_NODEREG);
    std::vector<ph_task_descriptor> theirs;
    while (theirs.size() != kCount) theirs.push_back(station.receive());
    bool has_waited = false;
    for (const ph_task_descriptor& landing : theirs) {
      ASSERT_EQ(ph_task_put(station.pe, source, &landing), PH_OK) << words_of(station.pe);
      has_waited |= station.buffers().waiting.any();
    }
    EXPECT_EQ(ph_task_buffer_free(station.pe, source), PH_ERR_STATE);
    std::uint32_t read = 0;
    for (const ph_task_done& done : station.await(2 * kCount)) {
      EXPECT_EQ(done.status, PH_OK);
      EXPECT_EQ(done.moved_bytes, kBytes);
      read += done.side == PH_TASK_SOURCE ? 1 : 0;
    }
    EXPECT_EQ(read, kCount);
    EXPECT_TRUE(has_waited);
    for (const Bytes& landing : landings) ASSERT_TRUE(is_filled(landing, kBytes, other_pe));
    EXPECT_EQ(station.buffers().underway.count(), 0u);
    EXPECT_EQ(ph_task_buffer_free(station.pe, source), PH_OK);
  });
}

// What the engine refuses at once gives both dones, as what it refuses later does.
TEST(TaskIssue, an_error_is_told_to_both_sides) {
  for (const char* transport : {"shm", "tcp"})
    run_on({transport, 2, 1, 1, {{"transport", transport}}}, [](Station& station) {
      Bytes bytes(500);
      if (station.place.pe == 1) {
        const ph_task_buffer buffer = station.make(bytes, PH_TASK_REG, PH_TASK_NODEREG);
        ph_task_descriptor descriptor = station.describe(buffer);
        descriptor.key ^= 1U << 30;
        station.send(0, descriptor);
        for (const ph_task_done& done : station.await(2)) {
          EXPECT_EQ(done.status, PH_ERR_KEY);
          EXPECT_EQ(done.moved_bytes, 0u);
          EXPECT_EQ(done.other_pe, 0u);
          EXPECT_EQ(done.is_own, 0u);
        }
        return;
      }
      const ph_task_descriptor other = station.receive();
      const ph_task_buffer buffer = station.make(bytes, PH_TASK_REG, PH_TASK_NODEREG);
      for (const auto call : {ph_task_get, ph_task_put}) {
        ASSERT_EQ(call(station.pe, buffer, &other), PH_OK);
        const ph_task_done done = station.await(1)[0];
        EXPECT_EQ(done.status, PH_ERR_KEY);
        EXPECT_EQ(done.moved_bytes, 0u);
        EXPECT_EQ(done.is_own, 1u);
      }
    });
}

bool has_cma(Station& station) {
  ph_path path{};
  path.size = sizeof path;
  EXPECT_EQ(ph_path_to(of(station.pe).machine().lane(), 1 - station.place.pe, &path), PH_OK);
  return path.cma != 0;
}

constexpr int kNoCma = 77;

// Two processes; while a get of PE 0 is under way the kernel begins to refuse its copies. The
// engine may know by then that the other way is the faster one for such gets, and not ask the
// kernel for long. Of another size it knows nothing, and asks the kernel at the fourth at the
// latest.
int refuse_in_the_middle(const ph_bootstrap& bootstrap) {
  const ph_option option{"transport", "shm"};
  const ph_config photon{sizeof photon, &bootstrap, &option, 1};
  ph_task_config config{};
  config.size = sizeof config;
  config.photon = &photon;
  ph_task_pe* pe = nullptr;
  if (ph_task_start(&config, &pe, nullptr) != PH_OK) return 1;
  bool is_there = true;
  {
    Station station(pe);
    Bytes large(8'000'000);
    Bytes other_size(100'000);
    constexpr int kLargeRounds = 8;
    for (int i = 0; i < kLargeRounds + 4; ++i) {
      Bytes& bytes = i < kLargeRounds ? large : other_size;
      const ph_task_buffer buffer = station.make(bytes, PH_TASK_REG, PH_TASK_NODEREG);
      if (station.place.pe == 1) {
        fill(bytes, static_cast<std::uint64_t>(i));
        station.send(0, station.describe(buffer));
        EXPECT_EQ(station.await(1)[0].status, PH_OK);
        EXPECT_EQ(ph_task_buffer_free(pe, buffer), PH_OK);
        continue;
      }
      const ph_task_descriptor other = station.receive();
      is_there &= i > 3 || has_cma(station);
      EXPECT_EQ(ph_task_get(pe, buffer, &other), PH_OK);
      if (i == 3) {
        is_there &= photon::test::refuse_copies(EPERM);
      }
      EXPECT_EQ(station.await(1)[0].status, PH_OK);
      EXPECT_TRUE(is_filled(bytes, bytes.size(), static_cast<std::uint64_t>(i)));
      EXPECT_EQ(ph_task_buffer_free(pe, buffer), PH_OK);
    }
    if (station.place.pe == 0 && is_there) {
      EXPECT_FALSE(has_cma(station)) << "it was refused, and is not asked again";
    }
  }
  ph_task_end(pe);
  if (!is_there) return kNoCma;
  return testing::Test::HasFailure() ? 2 : 0;
}

TEST(TaskBuffer, CmaRefusedInTheMiddleGoesOnServed) {
  const std::vector<int> statuses = photon::test::fork_ranks(2, refuse_in_the_middle);
  if (WIFEXITED(statuses[0]) && WEXITSTATUS(statuses[0]) == kNoCma)
    GTEST_SKIP() << "the kernel copies nothing between processes here, or there is no filter";
  EXPECT_EQ(statuses[0], 0);
  EXPECT_EQ(statuses[1], 0);
}

}  // namespace
}  // namespace photon::task::test
