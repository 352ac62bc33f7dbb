#include "task/collect/collect.hpp"

#include <gtest/gtest.h>

#include <set>

#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

TEST(TaskCollect, each_pe_has_its_own_and_those_of_a_process_share_one) {
  TaskJob job(2, 3);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Pe& own = *reinterpret_cast<Pe*>(pe);
    std::set<const Collect*> all;
    std::set<const CollectShared*> shared;
    for (const Pe* one : own.shared().all) {
      all.insert(&collect_of(*one));
      shared.insert(&collect_of(*one).shared);
    }
    EXPECT_EQ(all.size(), place.pes_per_process);
    EXPECT_EQ(shared.size(), 1u);
    EXPECT_NE(own.shared().on(Kind::part), drop_message);
    EXPECT_NE(own.shared().on(Kind::wave), drop_message);
  });
}

// What is open at the end is freed: requests, parts, timers, locks.
TEST(TaskCollect, what_is_left_open_ends_with_its_process) {
  TaskJob job(2, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Function never = [](ph_task_pe*, ph_task_message*) { ADD_FAILURE() << "it was not asked"; };
    const std::uint32_t number = enroll(pe, never);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 3) {
      ASSERT_EQ(ph_task_quiesce(pe, number), PH_OK);
    }
    ph_task_lock* lock = nullptr;
    ASSERT_EQ(ph_task_lock_create(pe, &lock), PH_OK);
    ASSERT_EQ(ph_task_lock_acquire(pe, lock), PH_OK);
    ASSERT_EQ(ph_task_barrier(pe), PH_OK);
  });
}

// Those that quiescence has for itself are none of the program's.
TEST(TaskCollect, leaving_with_timers_armed_says_how_many) {
  testing::internal::CaptureStderr();
  TaskJob job(1, 2, {{"log", "info"}});
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    const auto never = [](ph_task_pe*, void*) { ADD_FAILURE() << "its time does not come"; };
    if (place.rank == 1) {
      Function quiet = [](ph_task_pe*, ph_task_message*) {};
      ASSERT_EQ(ph_task_quiesce(pe, enroll(pe, quiet)), PH_OK);
      return;
    }
    ASSERT_EQ(ph_task_after(pe, ~std::uint64_t{0}, never, nullptr, nullptr), PH_OK);
    ASSERT_EQ(ph_task_every(pe, ~std::uint64_t{0}, never, nullptr, nullptr), PH_OK);
  });
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("PE 0: 2 timers were armed at the end, and do not run"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("PE 1: 1 timer"), std::string::npos) << text;
}

}  // namespace
}  // namespace photon::task::test
