#include "task/collect/deaths.hpp"

#include <gtest/gtest.h>

#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

Pe& pe_of(ph_task_pe* pe) { return *reinterpret_cast<Pe*>(pe); }

TEST(TaskDeaths, while_all_live_what_is_sent_counts_and_what_arrives_does_not) {
  TaskJob job(3, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Function take = [](ph_task_pe* one, ph_task_message* message) { ph_task_free(one, message); };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    for (std::uint32_t to = 0; to < place.pes; ++to)
      ASSERT_EQ(ph_task_send(pe, to, make(pe, number, 0)), PH_OK);
    ASSERT_EQ(ph_task_run(pe, 3, nullptr), PH_OK);
    Deaths deaths(pe_of(pe));
    EXPECT_FALSE(deaths.look());
    EXPECT_EQ(deaths.dead(), ProcessSet(3));
    EXPECT_EQ(deaths.lowest(), 0u);
    EXPECT_EQ(deaths.created(), 3u);
    EXPECT_EQ(deaths.processed(), 3u);
    ASSERT_EQ(ph_task_barrier(pe), PH_OK);
  });
}

// What others say makes nobody dead: the lane is asked.
TEST(TaskDeaths, who_is_told_of_a_death_meets_that_process_and_believes_his_lane) {
  TaskJob job(3, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Deaths deaths(pe_of(pe));
    ProcessSet told(3);
    for (const std::uint32_t process : {0U, 1U, 2U}) told.add(process);
    deaths.heed(told);
    EXPECT_EQ(deaths.dead(), ProcessSet(3));
    for (std::uint32_t process = 0; process < 3; ++process) {
      ph_contact_state state = PH_PEER_UNKNOWN;
      ASSERT_EQ(ph_peer_state(pe_of(pe).machine().lane(), process, &state), PH_OK);
      if (process != place.process) {
        EXPECT_NE(state, PH_PEER_UNKNOWN);
      }
    }
    ASSERT_EQ(ph_task_barrier(pe), PH_OK);
  });
}

TEST(TaskDeaths, sets_of_processes_have_no_bits_beyond_the_last_one) {
  for (const std::uint32_t processes : {1U, 63U, 64U, 65U, 130U}) {
    ProcessSet set(processes), all(processes);
    const std::uint64_t ones[3] = {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};
    set.take(ones);
    for (std::uint32_t process = 0; process < processes; ++process) {
      EXPECT_FALSE(all.has(process));
      all.add(process);
      EXPECT_TRUE(all.has(process));
    }
    EXPECT_EQ(set, all);
    set.intersect(ProcessSet(processes));
    EXPECT_EQ(set, ProcessSet(processes));
    set.unite(all);
    EXPECT_EQ(set, all);
  }
}

}  // namespace
}  // namespace photon::task::test
