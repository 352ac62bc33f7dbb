#include "task/run/crew.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "task/api/checks.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

void nothing(ph_task_pe*, ph_task_message*, void*) {}
void other(ph_task_pe*, ph_task_message*, void*) {}

TEST(TaskCrew, handlers_that_are_the_same_everywhere_are_agreed_on) {
  TaskJob job(2, 2);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      std::uint32_t number = 99;
      ASSERT_EQ(ph_task_register(pe, i == 1 ? other : nothing, nullptr, &number), PH_OK);
      EXPECT_EQ(number, i);
      EXPECT_EQ(ph_task_agree(pe), PH_OK);
    }
  });
}

TEST(TaskCrew, another_order_at_a_sibling_is_said_on_all_pes) {
  TaskJob job(2, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::uint32_t number = 0;
    const bool is_turned = place.pe == 3;
    ASSERT_EQ(ph_task_register(pe, is_turned ? other : nothing, nullptr, &number), PH_OK);
    ASSERT_EQ(ph_task_register(pe, is_turned ? nothing : other, nullptr, &number), PH_OK);
    EXPECT_EQ(ph_task_agree(pe), PH_ERR_CONFIG);
    const char* words = place.process == 1 ? "PE 3 has registered another handler 0 than PE 2"
                                           : "the PEs of another process differ in a handler";
    EXPECT_NE(words_of(pe).find(words), std::string::npos) << words_of(pe);
  });
}

TEST(TaskCrew, another_number_of_handlers_in_a_process_is_said_on_all_pes) {
  TaskJob job(3, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::uint32_t number = 0;
    for (std::uint32_t i = 0; i < (place.pe == 1 ? 5u : 2u); ++i)
      ASSERT_EQ(ph_task_register(pe, nothing, nullptr, &number), PH_OK);
    EXPECT_EQ(ph_task_agree(pe), PH_ERR_CONFIG);
    EXPECT_NE(words_of(pe).find("processes have registered 2 to 5 handlers, this one " +
                                std::to_string(place.pe == 1 ? 5 : 2)),
              std::string::npos)
        << words_of(pe);
  });
}

TEST(TaskCrew, nobody_leaves_a_meeting_before_all_have_come) {
  constexpr std::uint32_t kPes = 3;
  constexpr std::uint64_t kRounds = 300;
  sync::HardwarePolicy::Atomic<std::uint64_t> come;
  TaskJob job(1, kPes);
  job.run([&](ph_task_pe* pe, const ph_task_place&) {
    Pe& me = of(pe);
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      come.fetch_add(1, std::memory_order_relaxed);
      me.shared().crew->meet(me);
      EXPECT_GE(come.load(std::memory_order_relaxed), round * kPes);
      me.shared().crew->meet(me);
    }
  });
}

// A PE whose main is over still serves those that need its lane.
TEST(TaskCrew, large_messages_arrive_from_a_process_that_waits_for_the_end) {
  TaskJob job(2, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::uint64_t left = 5;
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_size(message), 2'000'000u);
      ph_task_free(one, message);
      if (--left == 0) ph_task_stop(one);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.process == 0)
      for (int i = 0; i < 5; ++i)
        ASSERT_EQ(ph_task_send(pe, place.pe + 2, make(pe, number, 0, 2'000'000)), PH_OK);
    else
      ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
}

TEST(TaskCrew, it_ends_with_tasks_that_never_ran) {
  TaskJob job(2, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Function never = [](ph_task_pe*, ph_task_message*) { ADD_FAILURE(); };
    const std::uint32_t number = enroll(pe, never);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    for (std::uint32_t to = 0; to < place.pes; ++to)
      ASSERT_EQ(ph_task_send(pe, to, make(pe, number, 0, 3'000)), PH_OK);
    ASSERT_EQ(ph_task_send_node(pe, 1 - place.process, make(pe, number, 0)), PH_OK);
  });
}

}  // namespace
}  // namespace photon::task::test
