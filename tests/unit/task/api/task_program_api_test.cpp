#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "forked_job.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

TEST(TaskProgramApi, the_state_of_a_process_is_that_of_the_lane) {
  TaskJob job(2, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    ph_contact_state state = PH_PEER_DEAD;
    EXPECT_EQ(ph_task_process_state(nullptr, 0, &state), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_process_state(pe, 0, nullptr), PH_ERR_ARGUMENT);
    EXPECT_NE(words_of(pe).find("state is null"), std::string::npos);
    EXPECT_EQ(ph_task_process_state(pe, 2, &state), PH_ERR_RANK);
    EXPECT_NE(words_of(pe).find("there is no process 2: the job has 2"), std::string::npos);
    EXPECT_EQ(state, PH_PEER_UNKNOWN);
    EXPECT_EQ(ph_task_process_state(pe, place.process, &state), PH_OK);
    EXPECT_EQ(state, PH_PEER_CONNECTED);
    std::uint64_t came = 0;
    Function function = [&](ph_task_pe* one, ph_task_message* message) {
      ++came;
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
    };
    const std::uint32_t number = enroll(pe, function);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    ASSERT_TRUE(gather_all(pe, number, came));
    EXPECT_EQ(ph_task_process_state(pe, 1 - place.process, &state), PH_OK);
    EXPECT_EQ(state, PH_PEER_CONNECTED);
    EXPECT_EQ(ph_task_agree(pe), PH_OK);
  });
}

// One that is killed is found dead by whoever asks now and then.
int find_dead(const ph_bootstrap& bootstrap) {
  const ph_config photon{sizeof photon, &bootstrap, nullptr, 0};
  ph_task_config config{};
  config.size = sizeof config;
  config.photon = &photon;
  ph_task_pe* pe = nullptr;
  ph_error error{};
  if (ph_task_start(&config, &pe, &error) != PH_OK) return 1;
  std::uint64_t came = 0;
  Function function = [&](ph_task_pe* one, ph_task_message* message) {
    ++came;
    EXPECT_EQ(ph_task_free(one, message), PH_OK);
  };
  const std::uint32_t number = enroll(pe, function);
  if (ph_task_agree(pe) != PH_OK || !gather_all(pe, number, came)) return 1;
  if (place_of(pe).process == 1) ::kill(::getpid(), SIGKILL);
  ph_contact_state state = PH_PEER_UNKNOWN;
  while (state != PH_PEER_DEAD) {
    EXPECT_EQ(ph_task_process_state(pe, 1, &state), PH_OK);
    EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
  }
  ph_task_end(pe);
  return testing::Test::HasFailure() ? 2 : 0;
}

TEST(TaskProgramApi, a_process_that_was_killed_is_found_dead) {
  EXPECT_EQ(photon::test::fork_ranks(2, find_dead)[0], 0);
}

TEST(TaskProgramApi, what_is_told_is_the_latest_error_of_its_pe_alone) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    EXPECT_EQ(ph_task_tell(pe, PH_ERR_KEY, "one: 100 % of it is gone"), PH_ERR_KEY);
    EXPECT_EQ(words_of(pe), "one: 100 % of it is gone");
    EXPECT_EQ(ph_task_tell(pe, PH_ERR_RANGE, nullptr), PH_ERR_RANGE);
    EXPECT_EQ(words_of(pe), ph_status_text(PH_ERR_RANGE));
    EXPECT_EQ(ph_task_tell(nullptr, PH_ERR_KEY, "nobody"), PH_ERR_ARGUMENT);
    std::thread([&] { EXPECT_EQ(ph_task_tell(pe, PH_ERR_KEY, "other"), PH_ERR_STATE); }).join();
    EXPECT_EQ(words_of(pe), ph_status_text(PH_ERR_RANGE));
  });
}

// PE 2 comes to no barrier more, one of which may wait for it alone when it says so.
TEST(TaskProgram, barriers_do_without_a_pe_that_skips_them) {
  std::atomic<int> rounds{0};
  TaskJob job(2, 3);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    ASSERT_EQ(ph_task_barrier(pe), PH_OK);
    if (place.rank == 2) {
      ASSERT_EQ(ph_task_skip_barriers(pe), PH_OK);
      ASSERT_EQ(ph_task_skip_barriers(pe), PH_OK);
      ASSERT_EQ(ph_task_barrier(pe), PH_OK) << "which waits for nobody";
      return;
    }
    for (int round = 0; round < 20; ++round) {
      ASSERT_EQ(ph_task_node_barrier(pe), PH_OK);
      ASSERT_EQ(ph_task_barrier(pe), PH_OK);
      ++rounds;
      ASSERT_EQ(ph_task_barrier(pe), PH_OK);
      ASSERT_EQ(rounds % 4, 0);
      ASSERT_EQ(ph_task_barrier(pe), PH_OK);
    }
  });
  EXPECT_EQ(rounds, 80);
}

TEST(TaskProgram, the_first_pe_of_a_process_cannot_skip_barriers) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    EXPECT_EQ(ph_task_skip_barriers(nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_skip_barriers(pe), PH_ERR_ARGUMENT);
    EXPECT_NE(words_of(pe).find("the first PE of a process"), std::string::npos);
    std::thread([&] { EXPECT_EQ(ph_task_skip_barriers(pe), PH_ERR_STATE); }).join();
  });
}

}  // namespace
}  // namespace photon::task::test
