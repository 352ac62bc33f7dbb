#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

ph_task_message* first(ph_task_pe*, ph_task_message* own, ph_task_message**, std::uint32_t, void*) {
  return own;
}

TEST(TaskCollectApi, bad_arguments_of_reductions_leave_the_message_with_its_caller) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ph_task_message* message = make(pe, 0, 0);
    const ph_task_reduction good{sizeof good, first, nullptr, 0, 0, 0};
    ph_task_reduction bad = good;
    EXPECT_EQ(ph_task_reduce(pe, message, nullptr), PH_ERR_ARGUMENT);
    bad.size = 1;
    EXPECT_EQ(ph_task_reduce(pe, message, &bad), PH_ERR_ARGUMENT);
    bad = good;
    bad.merge = nullptr;
    EXPECT_EQ(ph_task_reduce(pe, message, &bad), PH_ERR_ARGUMENT);
    EXPECT_NE(words_of(pe).find("ph_task_reduce: args or merge is null"), std::string::npos);
    bad = good;
    bad.flags = 2;
    EXPECT_EQ(ph_task_reduce_node(pe, message, &bad), PH_ERR_ARGUMENT);
    bad = good;
    bad.to = 1;
    EXPECT_EQ(ph_task_reduce(pe, message, &bad), PH_ERR_RANK);
    EXPECT_NE(words_of(pe).find("there is no PE 1: the job has 1"), std::string::npos);
    EXPECT_EQ(ph_task_reduce(pe, nullptr, &good), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_free(pe, message), PH_OK) << "it was ours all the time";
    EXPECT_EQ(ph_task_reduce(pe, message, &good), PH_ERR_STATE);
    const std::uint64_t data = 0;
    ph_task_structure structure{&data, 0, 0};
    EXPECT_EQ(ph_task_reduce_struct(pe, &structure, &good), PH_ERR_ARGUMENT);
    structure = {nullptr, 8, 0};
    EXPECT_EQ(ph_task_reduce_struct(pe, &structure, &good), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_reduce_struct(pe, nullptr, &good), PH_ERR_ARGUMENT);
    structure = {&data, 8, 0};
    EXPECT_EQ(ph_task_reduce_struct(pe, &structure, nullptr), PH_ERR_ARGUMENT);
  });
}

// A message of which others hold references goes as a copy.
TEST(TaskCollectApi, who_holds_a_message_keeps_it_when_another_holder_contributes_it) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ph_task_message* kept = nullptr;
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_NE(message, kept);
      EXPECT_EQ(value_of(message), 17u);
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
    };
    const std::uint32_t number = enroll(pe, take);
    const ph_task_reduction args{sizeof args, first, nullptr, 0, 0, 0};
    kept = make(pe, number, 17);
    ASSERT_EQ(ph_task_retain(pe, kept), PH_OK);
    ASSERT_EQ(ph_task_reduce(pe, kept, &args), PH_OK);
    std::uint64_t ran = 0;
    ASSERT_EQ(ph_task_run(pe, 0, &ran), PH_OK);
    EXPECT_EQ(ran, 1u);
    EXPECT_EQ(ph_task_free(pe, kept), PH_OK);
    EXPECT_EQ(ph_task_free(pe, kept), PH_ERR_STATE);
  });
}

TEST(TaskBarrier, nobody_goes_on_before_all_have_come) {
  constexpr int kRounds = 50;
  for (const bool is_of_job : {true, false}) {
    std::atomic<int> come[kRounds][3] = {};
    TaskJob job(3, 2);
    job.run([&](ph_task_pe* pe, const ph_task_place& place) {
      for (int round = 0; round < kRounds; ++round) {
        std::atomic<int>& mine = come[round][is_of_job ? 0 : place.process];
        ++mine;
        ASSERT_EQ(is_of_job ? ph_task_barrier(pe) : ph_task_node_barrier(pe), PH_OK);
        ASSERT_EQ(mine, is_of_job ? 6 : 2);
      }
      ASSERT_EQ(ph_task_barrier(pe), PH_OK);
    });
  }
}

// A barrier serves and runs nothing: a message that comes meanwhile is run behind it.
TEST(TaskBarrier, in_a_handler_it_runs_no_other_task) {
  TaskJob job(2, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    bool is_inside = false;
    int ran = 0;
    Function meet = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_FALSE(is_inside);
      is_inside = true;
      const std::uint32_t next = (place.pe + 1) % place.pes;
      EXPECT_EQ(ph_task_send(one, next, make(one, 1, 0)), PH_OK);
      EXPECT_EQ(ph_task_node_barrier(one), PH_OK);
      EXPECT_EQ(ph_task_barrier(one), PH_OK);
      is_inside = false;
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
    };
    Function note = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_FALSE(is_inside);
      ++ran;
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
    };
    enroll(pe, meet);
    enroll(pe, note);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    ASSERT_EQ(ph_task_send(pe, place.pe, make(pe, 0, 0)), PH_OK);
    // The own one, and that of the PE before.
    ASSERT_EQ(ph_task_run(pe, 2, nullptr), PH_OK);
    EXPECT_EQ(ran, 1);
    ASSERT_EQ(ph_task_barrier(pe), PH_OK);
  });
}

TEST(TaskLock, of_a_process_keeps_its_pes_apart) {
  constexpr int kRounds = 2'000;
  ph_task_lock* lock = nullptr;
  std::uint64_t sum = 0;
  TaskJob job(1, 3);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    if (place.rank == 0) {
      ASSERT_EQ(ph_task_lock_create(pe, &lock), PH_OK);
    }
    ASSERT_EQ(ph_task_node_barrier(pe), PH_OK);
    for (int i = 0; i < kRounds; ++i) {
      ASSERT_EQ(ph_task_lock_acquire(pe, lock), PH_OK);
      ++sum;
      ASSERT_EQ(ph_task_lock_release(pe, lock), PH_OK);
    }
    ASSERT_EQ(ph_task_node_barrier(pe), PH_OK);
    EXPECT_EQ(sum, 3u * kRounds);
    if (place.rank != 0) return;
    ASSERT_EQ(ph_task_lock_try(pe, lock), PH_OK);
    EXPECT_EQ(ph_task_lock_try(pe, lock), PH_ERR_STATE);
    EXPECT_EQ(ph_task_lock_acquire(pe, lock), PH_ERR_STATE);
    EXPECT_NE(words_of(pe).find("has this lock already"), std::string::npos);
    EXPECT_EQ(ph_task_lock_destroy(pe, lock), PH_ERR_STATE);
    EXPECT_EQ(ph_task_lock_release(pe, lock), PH_OK);
    EXPECT_EQ(ph_task_lock_release(pe, lock), PH_ERR_STATE);
    EXPECT_EQ(ph_task_lock_destroy(pe, lock), PH_OK);
    EXPECT_EQ(ph_task_lock_destroy(pe, lock), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_lock_create(pe, nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_lock_try(pe, nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_lock_acquire(pe, nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_lock_release(pe, nullptr), PH_ERR_ARGUMENT);
  });
}

TEST(TaskCollectApi, quiescence_needs_a_handler_that_is_registered) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    EXPECT_EQ(ph_task_quiesce(nullptr, 0), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_task_quiesce(pe, 0), PH_ERR_ARGUMENT);
    EXPECT_NE(words_of(pe).find("there is no handler 0: 0 are registered here"), std::string::npos);
  });
}

// The second time shows that it was counted as often as before.
TEST(TaskCollectApi, quiescence_does_not_wait_for_a_task_that_is_set_aside) {
  TaskJob job(2, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    bool is_quiet = false;
    int waits = 0;
    std::uint32_t quiet_number = 0;
    std::uint32_t wait_number = 0;
    std::uint32_t stop_number = 0;
    Function quiet = [&](ph_task_pe* own, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(own, message), PH_OK);
      is_quiet = true;
    };
    Function wait = [&](ph_task_pe* own, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(own, message), PH_OK);
      is_quiet = false;
      EXPECT_EQ(ph_task_quiesce(own, quiet_number), PH_OK);
      EXPECT_EQ(ph_task_set_aside(own), PH_OK);
      while (!is_quiet) ASSERT_EQ(ph_task_run(own, 1, nullptr), PH_OK);
      EXPECT_EQ(ph_task_take_up(own), PH_OK);
      if (++waits < 2)
        EXPECT_EQ(ph_task_send(own, 0, make(own, wait_number, 0)), PH_OK);
      else
        EXPECT_EQ(ph_task_broadcast(own, make(own, stop_number, 0), PH_TASK_WITH_SELF), PH_OK);
    };
    Function stop = [&](ph_task_pe* own, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(own, message), PH_OK);
      EXPECT_EQ(ph_task_stop(own), PH_OK);
    };
    quiet_number = enroll(pe, quiet);
    wait_number = enroll(pe, wait);
    stop_number = enroll(pe, stop);
    EXPECT_EQ(ph_task_set_aside(pe), PH_ERR_STATE);
    EXPECT_EQ(ph_task_take_up(pe), PH_ERR_STATE);
    EXPECT_EQ(words_of(pe), "ph_task_take_up: no task runs");
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      ASSERT_EQ(ph_task_send(pe, 0, make(pe, wait_number, 0)), PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(waits, place.pe == 0 ? 2 : 0);
  });
}

TEST(TaskCollectApi, calls_of_a_thread_that_is_no_pes_are_refused) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ph_task_message* message = make(pe, 0, 0);
    ph_task_lock* lock = nullptr;
    ASSERT_EQ(ph_task_lock_create(pe, &lock), PH_OK);
    std::thread([&] {
      const ph_task_reduction args{sizeof args, first, nullptr, 0, 0, 0};
      const std::uint64_t data = 0;
      const ph_task_structure structure{&data, 8, 0};
      ph_task_lock* other = nullptr;
      EXPECT_EQ(ph_task_reduce(pe, message, &args), PH_ERR_STATE);
      EXPECT_EQ(ph_task_reduce_node(pe, message, &args), PH_ERR_STATE);
      EXPECT_EQ(ph_task_reduce_struct(pe, &structure, &args), PH_ERR_STATE);
      EXPECT_EQ(ph_task_barrier(pe), PH_ERR_STATE);
      EXPECT_EQ(ph_task_node_barrier(pe), PH_ERR_STATE);
      EXPECT_EQ(ph_task_lock_create(pe, &other), PH_ERR_STATE);
      EXPECT_EQ(ph_task_lock_acquire(pe, lock), PH_ERR_STATE);
      EXPECT_EQ(ph_task_lock_try(pe, lock), PH_ERR_STATE);
      EXPECT_EQ(ph_task_lock_release(pe, lock), PH_ERR_STATE);
      EXPECT_EQ(ph_task_lock_destroy(pe, lock), PH_ERR_STATE);
      EXPECT_EQ(ph_task_quiesce(pe, 0), PH_ERR_STATE);
      EXPECT_NE(words_of(pe).find("ph_task_quiesce: this thread is not that of PE 0"),
                std::string::npos)
          << words_of(pe);
    }).join();
    EXPECT_EQ(ph_task_free(pe, message), PH_OK) << "it was ours all the time";
    EXPECT_EQ(ph_task_lock_destroy(pe, lock), PH_OK) << "nobody has it";
  });
}

}  // namespace
}  // namespace photon::task::test
