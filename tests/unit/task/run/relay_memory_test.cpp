// Messages to many that cannot be sent remain their caller's, and nobody gets anything.
#include <gtest/gtest.h>

#include <iterator>

#include "shortage.hpp"
#include "task/run/relay.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

// Each piece of memory that the call needs is missing once. Then nobody gets anything.
void lack_memory(bool by_group, std::uint64_t size_bytes) {
  TaskJob job(3, 3);
  job.settings().arena_bytes = 1;  // so all is of the heap
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    std::uint64_t met = 0;
    Function take = [&](ph_task_pe* me, ph_task_message* message) {
      ++met;
      EXPECT_EQ(ph_task_size(message), size_bytes);
      EXPECT_EQ(ph_task_free(me, message), PH_OK);
      ph_task_stop(me);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      const std::uint32_t pes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
      const ph_task_list list{sizeof list, pes, std::size(pes)};
      std::uint32_t group = 0;
      ASSERT_EQ(ph_task_group(pe, &list, &group), PH_OK);
      ph_task_message* message = make(pe, number, 0, size_bytes);
      ph_status status = PH_ERR_MEMORY;
      int allowed = 0;
      for (; status == PH_ERR_MEMORY; ++allowed) {
        ASSERT_LT(allowed, 100);
        ASSERT_EQ(ph_task_retain(pe, message), PH_OK) << "it is the caller's";
        ASSERT_EQ(ph_task_free(pe, message), PH_OK);
        const photon::test::Shortage shortage(allowed);
        status = by_group ? ph_task_multicast(pe, group, message, 0)
                          : ph_task_broadcast(pe, message, PH_TASK_WITH_SELF);
      }
      EXPECT_EQ(status, PH_OK);
      EXPECT_GT(allowed, 1);
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(met, 1u);
    EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_EQ(met, 1u);
  });
}

TEST(TaskRelay, a_call_without_memory_for_all_of_it_sends_nothing) {
  for (const bool by_group : {false, true}) lack_memory(by_group, 200'000);
}

// The program has finalized the context: no process is lost, and none can be reached.
TEST(TaskRelay, a_call_behind_the_end_of_the_context_says_so) {
  photon::test::ThreadJob job(3);
  job.run([](ph_context* context, ph_rank /*rank*/) {
    ph_task_config config{};
    config.size = sizeof config;
    config.context = context;
    ph_task_pe* pe = nullptr;
    ASSERT_EQ(ph_task_start(&config, &pe, nullptr), PH_OK);
    const std::uint32_t pes[] = {0, 1, 2};
    const ph_task_list list{sizeof list, pes, std::size(pes)};
    std::uint32_t group = 0;
    ASSERT_EQ(ph_task_group(pe, &list, &group), PH_OK);
    ASSERT_EQ(ph_finalize(context), PH_OK);
    ph_task_message* message = make(pe, 0, 0);
    EXPECT_EQ(ph_task_broadcast(pe, message, PH_TASK_WITH_SELF), PH_ERR_STATE);
    EXPECT_NE(words_of(pe).find("ph_task_broadcast: nothing was sent"), std::string::npos);
    EXPECT_EQ(ph_task_send_list(pe, &list, message, 0), PH_ERR_STATE);
    EXPECT_EQ(ph_task_multicast(pe, group, message, 0), PH_ERR_STATE);
    std::uint64_t ran = 9;
    EXPECT_EQ(ph_task_run(pe, 0, &ran), PH_OK);
    EXPECT_EQ(ran, 0u);
    EXPECT_EQ(ph_task_free(pe, message), PH_OK) << "it is still the caller's";
    static_cast<void>(ph_task_end(pe));  // it says what the lane does
  });
}

}  // namespace
}  // namespace photon::task::test
