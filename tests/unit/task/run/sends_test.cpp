#include "task/run/sends.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "forked_job.hpp"
#include "rounds.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

// More than any ring holds, in both directions, before either takes one.
TEST(TaskSend, FloodBothWaysWithoutRefusal) {
  constexpr std::uint64_t kCount = photon::test::rounds(20'000, 2'000);
  std::atomic<std::uint64_t> waited{0};
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
    waited += counts_of(pe).waited;
  });
  EXPECT_GT(waited, 0u) << "whoever sends first has a target that takes nothing";
}

// Whether the machine has so much memory to spare.
bool has_memory(std::uint64_t bytes) {
  std::ifstream facts("/proc/meminfo");
  std::string name;
  std::uint64_t kib = 0;
  while (facts >> name >> kib) {
    if (name == "MemAvailable:") return kib * 1024 >= bytes;
    facts.ignore(1000, '\n');
  }
  return false;
}

TEST(TaskSend, SizesBeyond2GiB) {
  if (PHOTON_UNDER_TSAN)
    GTEST_SKIP() << "ThreadSanitizer takes 50 s to note each of the bytes, and judges threads, "
                    "not sizes; it sees such a copy with fewer bytes in the other tests";
  constexpr std::uint64_t kBytes = (std::uint64_t{1} << 31) + 1001;
  constexpr std::uint64_t kNeeded = std::uint64_t{8} << 30;
  if (!has_memory(kNeeded)) GTEST_SKIP() << "less than 8 GiB of memory are available";
  TaskJob job(2, 1);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    Function take = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_size(message), kBytes);
      const char* body = static_cast<char*>(ph_task_body(message));
      EXPECT_EQ(value_of(message), 7u);
      EXPECT_EQ(body[kBytes / 2], 'm');
      EXPECT_EQ(body[kBytes - 1], 'z');
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      ph_task_stop(one);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 1) {
      ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
      return;
    }
    ph_task_message* message = make(pe, number, 7, kBytes);
    char* body = static_cast<char*>(ph_task_body(message));
    body[kBytes / 2] = 'm';
    body[kBytes - 1] = 'z';
    ASSERT_EQ(ph_task_send(pe, 1, message), PH_OK);
  });
}

// One of three real processes. 2 is killed while messages for it wait and are lent at 0; the others
// lose these, and nothing else. The number of what went wrong; 0: nothing.
int outlive(const ph_bootstrap& bootstrap) {
  const ph_option options[] = {{"am_slots", "4"}, {"requests", "16"}};
  ph_config photon{};
  photon.size = sizeof photon;
  photon.bootstrap = &bootstrap;
  photon.options = options;
  photon.options_count = std::size(options);
  ph_task_config config{};
  config.size = sizeof config;
  config.photon = &photon;
  ph_task_pe* pe = nullptr;
  if (ph_task_start(&config, &pe, nullptr) != PH_OK) return 1;
  const std::uint32_t own = place_of(pe).pe;
  std::uint64_t left = 5;  // of the other one 3, and 2 of its own
  Function die = [](ph_task_pe*, ph_task_message*) { ::raise(SIGKILL); };
  Function count = [&](ph_task_pe* one, ph_task_message* message) {
    ph_task_free(one, message);
    if (--left == 0) ph_task_stop(one);
  };
  std::uint64_t come = 0;
  Function meet = [&](ph_task_pe* one, ph_task_message* message) {
    ph_task_free(one, message);
    ++come;
  };
  const std::uint32_t dying = enroll(pe, die), counting = enroll(pe, count);
  const std::uint32_t meeting = enroll(pe, meet);
  if (ph_task_agree(pe) != PH_OK || !gather_all(pe, meeting, come)) return 2;
  while (own == 2 && ph_task_run(pe, -1, nullptr) == PH_OK) continue;
  if (own == 2) return 50;
  const auto sends = [&](std::uint32_t handler, std::uint64_t size_bytes) {
    const ph_status status = ph_task_send(pe, 2, make(pe, handler, 0, size_bytes));
    if (status != PH_OK) std::fprintf(stderr, "PE %u: %s\n", own, words_of(pe).c_str());
    return status;
  };
  if (own == 0) {
    if (sends(counting, 100'000) != PH_OK) return 3;  // lent
    for (int i = 0; i < 500; ++i)
      if (sends(dying, 8 + i) != PH_OK) return 4;  // most of them wait
    if (counts_of(pe).waited == 0) return 5;
  }
  ph_status status = PH_OK;
  while ((status = sends(counting, 8)) == PH_OK) ph_task_run(pe, 0, nullptr);
  if (status != PH_ERR_PEER) return 6;
  if (own == 0 && counts_of(pe).dropped < 400) return 7;
  // What goes to the other one, and to all, comes.
  const std::uint32_t list[] = {2, 1 - own, own};
  const ph_task_list listed{sizeof listed, list, std::size(list)};
  if (ph_task_send(pe, 1 - own, make(pe, counting, 0)) != PH_OK) return 8;
  if (ph_task_broadcast(pe, make(pe, counting, 0), PH_TASK_WITH_SELF) != PH_OK) return 9;
  if (ph_task_send_list(pe, &listed, make(pe, counting, 0), 0) != PH_OK) return 10;
  if (ph_task_run(pe, -1, nullptr) != PH_OK) return 11;
  if (ph_task_agree(pe) == PH_OK) return 12;
  static_cast<void>(ph_task_end(pe));  // it says what was lost
  return 0;
}

TEST(TaskSend, a_process_that_dies_loses_what_was_for_it_and_the_others_go_on) {
  const std::vector<int> ends = photon::test::fork_ranks(3, outlive);
  EXPECT_TRUE(WIFSIGNALED(ends[2]) && WTERMSIG(ends[2]) == SIGKILL) << ends[2];
  for (const int rank : {0, 1}) {
    EXPECT_TRUE(WIFEXITED(ends[rank])) << ends[rank];
    EXPECT_EQ(WEXITSTATUS(ends[rank]), 0) << "rank " << rank;
  }
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
