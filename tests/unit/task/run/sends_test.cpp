#include "task/run/sends.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "rounds.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

// More than any ring holds, in both directions, before either takes one.
TEST(TaskSend, FloodBothWaysWithoutRefusal) {
  constexpr std::uint64_t kCount = photon::test::rounds(20'000, 2'000);
  TaskJob job(2, 2, {{"am_slots", "16"}, {"am_queue_bytes", "65536"}});
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    std::vector<std::uint64_t> next(place.pes);
    std::uint64_t left = kCount;
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(value_of(message), next[ph_task_source(message)]++) << "in order of the calls";
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      if (--left == 0) ph_task_stop(one);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    const std::uint32_t to = (place.pe + 3) % place.pes;  // of the other process, of another rank
    for (std::uint64_t i = 0; i < kCount; ++i)
      ASSERT_EQ(ph_task_send(pe, to, make(pe, number, i, 8 + i % 200)), PH_OK);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(next[(place.pe + 1) % place.pes], kCount);
  });
}

TEST(TaskSend, messages_of_all_sizes_reach_every_pe_with_their_bytes) {
  const std::vector<std::uint64_t> sizes = {8, 40, 41, 1000, 32'760, 32'761, 500'000};
  TaskJob job(2, 2);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    std::uint64_t left = sizes.size() * place.pes;
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      const std::uint64_t size = ph_task_size(message);
      EXPECT_EQ(value_of(message), size + ph_task_source(message));
      if (size > 8) {
        EXPECT_EQ(static_cast<char*>(ph_task_body(message))[size - 1], static_cast<char>(size));
      }
      ph_task_free(one, message);
      if (--left == 0) ph_task_stop(one);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    for (std::uint32_t to = 0; to < place.pes; ++to)
      for (const std::uint64_t size : sizes) {
        ph_task_message* message = make(pe, number, size + place.pe, size);
        if (size > 8) static_cast<char*>(ph_task_body(message))[size - 1] = static_cast<char>(size);
        if (to % 2 == 0) {
          ASSERT_EQ(ph_task_send(pe, to, message), PH_OK);
          continue;
        }
        ASSERT_EQ(ph_task_send_copy(pe, to, message), PH_OK);
        EXPECT_EQ(value_of(message), size + place.pe) << "a copy leaves it as it was";
        ASSERT_EQ(ph_task_free(pe, message), PH_OK);
      }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
}

TEST(TaskSend, who_holds_a_message_keeps_it_when_another_holder_sends_it) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    ph_task_message* kept = nullptr;
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_NE(message, kept) << "the target has a copy, for a message has one link";
      EXPECT_EQ(value_of(message), 17u);
      ph_task_free(one, message);
    };
    const std::uint32_t number = enroll(pe, take);
    kept = make(pe, number, 17);
    ASSERT_EQ(ph_task_retain(pe, kept), PH_OK);
    ASSERT_EQ(ph_task_send(pe, 0, kept), PH_OK);
    ASSERT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_EQ(value_of(kept), 17u);
    EXPECT_EQ(ph_task_free(pe, kept), PH_OK);
    EXPECT_EQ(ph_task_free(pe, kept), PH_ERR_STATE);
  });
}

// Until it has left, the message is the library's, whether it waits for room or is lent.
TEST(TaskSend, a_message_that_is_under_way_to_another_process_is_nobody_elses) {
  TaskJob job(2, 1, {{"am_slots", "4"}, {"requests", "16"}});
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    constexpr std::uint64_t kSmall = 2'000;
    std::uint64_t left = place.pe == 1 ? kSmall + 1 : 1;
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      if (--left == 0) ph_task_stop(one);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      ph_task_message* message = make(pe, number, 0, 100'000);  // lent
      ASSERT_EQ(ph_task_send(pe, 1, message), PH_OK);
      const auto refuses = [&] {
        EXPECT_EQ(ph_task_send(pe, 1, message), PH_ERR_STATE);
        EXPECT_EQ(ph_task_free(pe, message), PH_ERR_STATE);
        EXPECT_EQ(ph_task_retain(pe, message), PH_ERR_STATE);
        EXPECT_NE(words_of(pe).find("was given away"), std::string::npos) << words_of(pe);
      };
      refuses();
      for (std::uint64_t i = 0; i < kSmall; ++i) {
        message = make(pe, number, i);
        ASSERT_EQ(ph_task_send(pe, 1, message), PH_OK);
      }
      ASSERT_GT(counts_of(pe).waited, 0u);
      refuses();  // the last one waits
      ASSERT_EQ(ph_task_send(pe, 0, make(pe, number, 0)), PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
}

TEST(TaskSend, a_message_to_another_process_runs_there_once) {
  TaskJob job(2, 2);
  std::vector<std::uint64_t> met(4);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    Function take = [&, place](ph_task_pe* one, ph_task_message* message) {
      ++met[place.pe];
      ph_task_set_handler(message, 1);
      ASSERT_EQ(ph_task_broadcast(one, message, PH_TASK_WITH_SELF), PH_OK);
    };
    Function stop = [](ph_task_pe* one, ph_task_message* message) {
      ph_task_free(one, message);
      ph_task_stop(one);
    };
    const std::uint32_t number = enroll(pe, take);
    enroll(pe, stop);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      ASSERT_EQ(ph_task_send_node(pe, 1, make(pe, number, 0)), PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
  EXPECT_EQ(met[0] + met[1], 0u);
  EXPECT_EQ(met[2] + met[3], 1u);
}

// A tree of tasks that spreads at random, by every kind of send; its leaves report to PE 0.
TEST(TaskSend, a_random_fan_out_loses_and_doubles_nothing) {
  constexpr std::uint64_t kDepth = photon::test::rounds(11, 7);
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    TaskJob job(2, 3);
    job.run([&](ph_task_pe* pe, const ph_task_place& place) {
      std::mt19937 random(seed * 100 + place.pe);
      std::uint64_t left = std::uint64_t{1} << kDepth;
      std::int32_t value = 0;
      const auto send_on = [&](ph_task_pe* one, ph_task_message* message) {
        value = static_cast<std::int32_t>(random());
        const ph_task_priority priority{PH_TASK_INT_LIFO, 32, &value};
        switch (random() % 5) {
          case 0: return ph_task_enqueue(one, message, &priority);
          case 1: return ph_task_enqueue_node(one, message, &priority);
          case 2: return ph_task_send_node(one, random() % place.processes, message);
          default: return ph_task_send(one, random() % place.pes, message);
        }
      };
      Function spread = [&](ph_task_pe* one, ph_task_message* message) {
        const std::uint64_t depth = value_of(message);
        EXPECT_EQ(ph_task_free(one, message), PH_OK);
        for (int child = 0; child < 2 && depth != 0; ++child) {
          const std::uint64_t size = random() % 50 == 0 ? 60'000 : 8 + random() % 500;
          EXPECT_EQ(send_on(one, make(one, 0, depth - 1, size)), PH_OK);
        }
        if (depth == 0) {
          EXPECT_EQ(ph_task_send(one, 0, make(one, 1, 0)), PH_OK);
        }
      };
      Function count = [&](ph_task_pe* one, ph_task_message* message) {
        if (--left != 0) {
          EXPECT_EQ(ph_task_free(one, message), PH_OK);
          return;
        }
        ph_task_set_handler(message, 2);
        EXPECT_EQ(ph_task_broadcast(one, message, PH_TASK_WITH_SELF), PH_OK);
      };
      Function stop = [](ph_task_pe* one, ph_task_message* message) {
        ph_task_free(one, message);
        ph_task_stop(one);
      };
      enroll(pe, spread);
      enroll(pe, count);
      enroll(pe, stop);
      ASSERT_EQ(ph_task_agree(pe), PH_OK);
      if (place.pe == 0) {
        ASSERT_EQ(ph_task_send(pe, 0, make(pe, 0, kDepth)), PH_OK);
      }
      ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
      EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
      EXPECT_EQ(left, place.pe == 0 ? 0 : std::uint64_t{1} << kDepth);
    });
  }
}

}  // namespace
}  // namespace photon::task::test
