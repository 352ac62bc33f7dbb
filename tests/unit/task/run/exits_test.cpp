#include "task/run/exits.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "task/api/checks.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

// Runs until PE `caller` has ended all runs, or at least that of this PE.
void expect_exit(ph_task_pe* pe, std::int32_t expected) {
  ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  std::int32_t status = 0;
  EXPECT_EQ(ph_task_exit_status(pe, &status), PH_OK);
  EXPECT_EQ(status, expected);
}

// PE 2 has returned from main and only serves its lane, by which PE 0 tells its process.
TEST(TaskExits, a_pe_hears_of_it_though_the_one_that_serves_the_lane_runs_no_more) {
  TaskJob job(2, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      EXPECT_EQ(ph_task_exit(pe, 7), PH_OK);
    }
    if (place.pe == 1 || place.pe == 3) expect_exit(pe, 7);
  });
}

// 0, 1 and 2 run nothing: those above 6 in the trees that have their roots at 0 and 1.
TEST(TaskExits, all_hear_of_two_callers_in_seven_processes) {
  TaskJob job(7, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe < 2) {
      EXPECT_EQ(ph_task_exit(pe, 7), PH_OK);
    }
    if (place.pe > 2) expect_exit(pe, 7);
  });
}

// Counted as any message: what is made is over when each PE has met its own.
TEST(TaskExits, what_it_sends_is_counted_once_for_each_pe) {
  std::atomic<std::uint64_t> created{0};
  TaskJob job(2, 3);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    Pe& own = of(pe);
    if (place.pe == 1) {
      EXPECT_EQ(ph_task_exit(pe, 3), PH_OK);
      EXPECT_EQ(own.balance().created, 2u) << "for its siblings";
      EXPECT_EQ(own.machine().flow(1).sent, 1u);
      return;
    }
    expect_exit(pe, 3);
    EXPECT_EQ(own.balance().processed, 1u);
    created += own.balance().created;
  });
  EXPECT_EQ(created, 2u) << "for the siblings of whoever has taken it from the lane";
}

TEST(TaskExits, a_forged_one_ends_no_run) {
  TaskJob job(2, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Function stops = [](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      EXPECT_EQ(ph_task_stop(one), PH_OK);
    };
    const std::uint32_t number = enroll(pe, stops);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      Pe& own = of(pe);
      for (const std::uint64_t size_bytes : {0u, 3u, 5u}) {
        Message* message = own.pool().alloc(size_bytes);
        std::memset(body_of(*message), 1, size_bytes);
        message->wire.kind = Kind::exit;
        message->wire.target = size_bytes == 3 ? kAnyPe : 1;
        ASSERT_EQ(own.machine().send(*message, 1), PH_OK);
      }
      for (const std::uint32_t to : {2u, 3u})
        ASSERT_EQ(ph_task_send(pe, to, make(pe, number, 0)), PH_OK);
    }
    if (place.pe < 2) return;
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    std::int32_t status = 0;
    EXPECT_EQ(ph_task_exit_status(pe, &status), PH_ERR_STATE);
  });
}

}  // namespace
}  // namespace photon::task::test
