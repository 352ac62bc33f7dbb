#include "task/start/starting.hpp"

#include <gtest/gtest.h>

#include <string>

#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

void unused_main(ph_task_pe*, void*) {}

ph_task_config config_of(ph_context* context, std::uint32_t pes) {
  ph_task_config config{};
  config.size = sizeof config;
  config.context = context;
  config.pes = pes;
  config.main = unused_main;
  return config;
}

TEST(TaskPe, RestartInOneProcess) {
  photon::test::ThreadJob job(2);
  job.run([](ph_context* context, ph_rank rank) {
    for (int round = 0; round < 3; ++round) {
      const ph_task_config config = config_of(context, 2);
      ph_task_pe* pe = nullptr;
      ph_error error{};
      ASSERT_EQ(ph_task_start(&config, &pe, &error), PH_OK) << error.text;
      EXPECT_EQ(place_of(pe).pe, 2 * rank);
      EXPECT_EQ(place_of(pe).pes, 4u);
      EXPECT_EQ(ph_task_end(pe), PH_OK);
    }
  });
}

// One of them has used a number of lanes before: all take the greatest.
TEST(TaskStarting, processes_with_another_past_meet_on_the_same_lanes) {
  photon::test::ThreadJob job(2);
  job.run([](ph_context* context, ph_rank rank) {
    ph_context* lane = nullptr;
    if (rank == 1) {
      ASSERT_EQ(ph_lane_open(context, 0x54000000, &lane), PH_OK);
      ASSERT_EQ(ph_lane_close(lane), PH_OK);
    }
    const ph_task_config config = config_of(context, 1);
    ph_task_pe* pe = nullptr;
    ph_error error{};
    ASSERT_EQ(ph_task_start(&config, &pe, &error), PH_OK) << error.text;
    std::uint64_t seen = 0;
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      seen = value_of(message);
      ph_task_free(one, message);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    ASSERT_EQ(ph_task_send(pe, 1 - rank, make(pe, number, 40 + rank)), PH_OK);
    ASSERT_EQ(ph_task_run(pe, 1, nullptr), PH_OK);
    EXPECT_EQ(seen, 41 - rank);
    EXPECT_EQ(ph_task_end(pe), PH_OK);
  });
}

TEST(TaskStarting, another_number_of_pes_is_an_error_of_all_that_names_both) {
  photon::test::ThreadJob job(3);
  job.run([](ph_context* context, ph_rank rank) {
    const ph_task_config config = config_of(context, rank == 1 ? 3 : 2);
    ph_task_pe* pe = nullptr;
    ph_error error{};
    EXPECT_EQ(ph_task_start(&config, &pe, &error), PH_ERR_CONFIG);
    EXPECT_EQ(pe, nullptr);
    EXPECT_NE(std::string(error.text).find("process 0 has 2 PEs and process 1 has 3"),
              std::string::npos)
        << error.text;
  });
}

TEST(TaskStarting, too_few_lanes_name_the_setting_and_are_an_error_of_all) {
  photon::test::ThreadJob job(2, {{"max_lanes", "3"}});
  job.run([](ph_context* context, ph_rank /*rank*/) {
    const ph_task_config config = config_of(context, 3);
    ph_task_pe* pe = nullptr;
    ph_error error{};
    EXPECT_EQ(ph_task_start(&config, &pe, &error), PH_ERR_CONFIG);
    EXPECT_NE(std::string(error.text)
                  .find("3 PEs need 4 lanes and the context may have 3: set "
                        "max_lanes"),
              std::string::npos)
        << error.text;
  });
}

TEST(TaskStarting, handlers_in_another_thread_are_refused) {
  photon::test::ThreadJob job(1, {{"am", "threaded"}});
  job.run([](ph_context* context, ph_rank /*rank*/) {
    const ph_task_config config = config_of(context, 1);
    ph_task_pe* pe = nullptr;
    ph_error error{};
    EXPECT_EQ(ph_task_start(&config, &pe, &error), PH_ERR_CONFIG);
    EXPECT_NE(std::string(error.text).find("the setting am is threaded"), std::string::npos)
        << error.text;
  });
}

TEST(TaskStarting, an_error_of_one_process_is_one_of_all) {
  photon::test::ThreadJob job(2, {{"max_lanes", "3"}});
  job.run([](ph_context* context, ph_rank rank) {
    ph_context* taken = nullptr;
    if (rank == 0) {
      ASSERT_EQ(ph_lane_open(context, 5, &taken), PH_OK);
    }
    const ph_task_config config = config_of(context, 2);
    ph_task_pe* pe = nullptr;
    ph_error error{};
    EXPECT_EQ(ph_task_start(&config, &pe, &error), PH_ERR_MEMORY);
    const char* words = rank == 0 ? "no lane for a PE" : "process 0 could not start";
    EXPECT_NE(std::string(error.text).find(words), std::string::npos) << error.text;
    if (taken != nullptr) {
      EXPECT_EQ(ph_lane_close(taken), PH_OK);
    }
  });
}

TEST(TaskStarting, a_context_of_its_own_has_as_many_lanes_as_it_needs) {
  ph_task_config config = config_of(nullptr, 10);
  ph_task_pe* pe = nullptr;
  ph_error error{};
  ASSERT_EQ(ph_task_start(&config, &pe, &error), PH_OK) << error.text;
  EXPECT_EQ(place_of(pe).pes, 10u);
  EXPECT_EQ(ph_task_end(pe), PH_OK);
}

}  // namespace
}  // namespace photon::task::test
