#include "task/run/sibling_watch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "task/api/checks.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

// PE 2 makes no call, and what comes for PE 3 comes by its lane.
TEST(TaskSiblingWatch, it_takes_for_itself_what_came_by_the_lane_of_a_busy_sibling) {
  std::atomic<bool> is_met{false};
  std::atomic<bool> is_sent{false};
  std::atomic<bool> is_away{false};  // PE 2 has left ph_task_agree(), in which it takes what comes
  TaskJob job(2, 2);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_source(message), 0u);
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      is_met = true;
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 2) is_away = true;
    if (place.pe == 0) {
      while (!is_away) ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
      ASSERT_EQ(ph_task_send(pe, 3, make(pe, number, 0)), PH_OK);
      is_sent = true;
    }
    while (place.pe == 2 && !is_met) std::this_thread::yield();
    if (place.pe != 3) return;
    while (!is_sent) std::this_thread::yield();
    EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_FALSE(is_met) << "the own lane is not the one by which it comes";
    Pe& me = of(pe);
    SiblingWatch watch(2);
    while (!is_met) {
      watch.visit(me, me.shared().all);
      EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    }
  });
}

// PE 2 watches in a run, which a function ends; it makes no call then, and PE 3 watches instead.
TEST(TaskSiblingWatch, it_ends_with_the_run_also_outside_of_a_task) {
  std::atomic<bool> is_over{false}, is_seen{false};
  TaskJob job(2, 2);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 2) {
      const ph_task_function stops = [](ph_task_pe* one, void*) {
        if (counts_of(one).sleeps != 0) ph_task_stop(one);
      };
      ASSERT_EQ(ph_task_every(pe, 1000, stops, nullptr, nullptr), PH_OK);
      ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
      is_over = true;
      while (!is_seen) std::this_thread::yield();
    }
    if (place.pe != 3) return;
    while (!is_over) std::this_thread::yield();
    ProcessQueue& queue = of(pe).shared().queue;
    EXPECT_EQ(queue.begin_sleep(place.rank), ProcessQueue::Rest::watch) << "nobody else does";
    EXPECT_TRUE(queue.end_sleep(place.rank).watches);
    EXPECT_EQ(queue.end_watch(), ProcessQueue::kNobody);
    is_seen = true;
  });
}

// PE 3 has taken the first message by the lane of PE 2 for it; the second one comes by that lane.
TEST(TaskSiblingWatch, what_a_visitor_took_is_met_before_what_came_later) {
  std::atomic<bool> is_away{false}, is_taken{false}, is_sent{false};
  TaskJob job(2, 2);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    std::vector<std::uint64_t> order;
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      order.push_back(value_of(message));
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    Pe& me = of(pe);
    if (place.pe == 2) {
      is_away = true;
      while (!is_sent) std::this_thread::yield();
      ASSERT_EQ(ph_task_run(pe, 2, nullptr), PH_OK);
      EXPECT_EQ(order, (std::vector<std::uint64_t>{1, 2}));
    }
    if (place.pe == 3) {
      const std::uint64_t before = me.machine().flow(0).arrived;
      while (me.machine().flow(0).arrived == before) me.shared().all[0]->machine().visit();
      is_taken = true;
    }
    if (place.pe != 0) return;
    while (!is_away) ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    ASSERT_EQ(ph_task_send(pe, 2, make(pe, number, 1)), PH_OK);
    while (!is_taken) ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    ASSERT_EQ(ph_task_send(pe, 2, make(pe, number, 2)), PH_OK);
    is_sent = true;
  });
}

}  // namespace
}  // namespace photon::task::test
