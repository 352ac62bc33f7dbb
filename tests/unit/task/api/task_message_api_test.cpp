#include <gtest/gtest.h>

#include <cstdint>

#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

TEST(TaskMessageApi, a_body_stands_at_a_line_and_the_header_is_not_the_programs) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    for (const std::uint64_t size : {0u, 1u, 64u, 5'000u, 1'000'000u}) {
      ph_task_message* message = nullptr;
      ASSERT_EQ(ph_task_alloc(pe, size, &message), PH_OK);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(ph_task_body(message)) % 64, 0u);
      EXPECT_EQ(ph_task_size(message), size);
      EXPECT_EQ(ph_task_handler_of(message), 0u);
      ph_task_set_handler(message, 65'535);
      EXPECT_EQ(ph_task_handler_of(message), 65'535u);
      EXPECT_EQ(ph_task_free(pe, message), PH_OK);
    }
  });
}

TEST(TaskMessageApi, what_is_no_message_or_is_not_held_is_refused_with_words) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Function free_it = [](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
    };
    const std::uint32_t number = enroll(pe, free_it);
    EXPECT_EQ(ph_task_free(pe, nullptr), PH_OK);
    alignas(64) char memory[128] = {};
    auto* foreign = reinterpret_cast<ph_task_message*>(memory + 64);
    EXPECT_EQ(ph_task_free(pe, foreign), PH_ERR_ARGUMENT);
    EXPECT_NE(words_of(pe).find("no message of ph_task_alloc()"), std::string::npos);
    ph_task_message* message = make(pe, number, 0);
    ASSERT_EQ(ph_task_send(pe, place.pe, message), PH_OK);
    EXPECT_EQ(ph_task_free(pe, message), PH_ERR_STATE);
    EXPECT_NE(words_of(pe).find("was given away"), std::string::npos);
    EXPECT_EQ(ph_task_send(pe, place.pe, message), PH_ERR_STATE) << "given away twice";
    EXPECT_EQ(ph_task_retain(pe, message), PH_ERR_STATE);
    ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_EQ(ph_task_free(pe, message), PH_ERR_STATE) << "its handler has freed it";
    EXPECT_NE(words_of(pe).find("nobody holds a reference"), std::string::npos);
  });
}

TEST(TaskMessageApi, more_than_there_is_memory_for_is_refused) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ph_task_message* message = nullptr;
    EXPECT_EQ(ph_task_alloc(pe, std::uint64_t{1} << 50, &message), PH_ERR_MEMORY);
    EXPECT_EQ(message, nullptr);
    EXPECT_EQ(ph_task_alloc(pe, 8, nullptr), PH_ERR_ARGUMENT);
  });
}

}  // namespace
}  // namespace photon::task::test
