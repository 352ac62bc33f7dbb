#include <gtest/gtest.h>

#include <string>

#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

void no_handler(ph_task_pe*, ph_task_message*, void*) {}

TEST(TaskStartApi, a_bad_config_is_refused_with_words) {
  ph_task_pe* pe = nullptr;
  ph_error error{};
  ph_task_config config{};
  EXPECT_EQ(ph_task_start(nullptr, &pe, &error), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_task_start(&config, &pe, &error), PH_ERR_ARGUMENT);
  EXPECT_NE(std::string(error.text).find("its size"), std::string::npos);
  config.size = sizeof config;
  EXPECT_EQ(ph_task_start(&config, nullptr, nullptr), PH_ERR_ARGUMENT);
  config.pes = PH_TASK_MAX_PES + 1;
  EXPECT_EQ(ph_task_start(&config, &pe, &error), PH_ERR_ARGUMENT);
  EXPECT_NE(std::string(error.text).find("254 PEs"), std::string::npos);
  config.pes = 2;
  EXPECT_EQ(ph_task_start(&config, &pe, &error), PH_ERR_ARGUMENT);
  EXPECT_NE(std::string(error.text).find("no main"), std::string::npos);
  EXPECT_EQ(pe, nullptr);
}

TEST(TaskStartApi, the_first_pe_ends_outside_handlers) {
  TaskJob job(1, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    if (place.rank == 1) {
      EXPECT_EQ(ph_task_end(pe), PH_ERR_STATE);
    }
    if (place.rank == 1) {
      EXPECT_NE(words_of(pe).find("PE 1 is not the first"), std::string::npos);
    }
    Function ends = [](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_end(one), PH_ERR_STATE);
      EXPECT_EQ(ph_task_agree(one), PH_ERR_STATE);
      ph_task_free(one, message);
    };
    const std::uint32_t number = enroll(pe, ends);
    ASSERT_EQ(ph_task_send(pe, place.pe, make(pe, number, 0)), PH_OK);
    ASSERT_EQ(ph_task_run(pe, 1, nullptr), PH_OK);
  });
}

TEST(TaskStartApi, a_pe_knows_who_it_is) {
  TaskJob job(2, 3);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    EXPECT_EQ(place.pes, 6u);
    EXPECT_EQ(place.processes, 2u);
    EXPECT_EQ(place.pes_per_process, 3u);
    EXPECT_EQ(place.pe, place.process * 3 + place.rank);
    ph_task_place wrong{};
    EXPECT_EQ(ph_task_shape(pe, &wrong), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_shape(nullptr, &wrong), PH_ERR_ARGUMENT);
    ph_task_counts counts{};
    EXPECT_EQ(ph_task_counters(pe, &counts), PH_ERR_ARGUMENT);
  });
}

TEST(TaskStartApi, registering_nothing_is_refused) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    std::uint32_t number = 0;
    EXPECT_EQ(ph_task_register(pe, nullptr, nullptr, &number), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_register(pe, no_handler, nullptr, nullptr), PH_ERR_ARGUMENT);
    for (std::uint32_t i = 0; i < PH_TASK_MAX_HANDLERS; ++i)
      ASSERT_EQ(ph_task_register(pe, no_handler, nullptr, &number), PH_OK);
    EXPECT_EQ(ph_task_register(pe, no_handler, nullptr, &number), PH_ERR_MEMORY);
    EXPECT_EQ(number, PH_TASK_MAX_HANDLERS - 1u);
  });
}

}  // namespace
}  // namespace photon::task::test
