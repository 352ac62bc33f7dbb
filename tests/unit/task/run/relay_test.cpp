#include "task/run/relay.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

TEST(TaskRelay, a_tree_reaches_every_process_once_from_every_root) {
  for (std::uint32_t processes = 1; processes <= 40; ++processes)
    for (std::uint32_t root = 0; root < processes; ++root) {
      std::vector<std::uint32_t> reached = {root};
      for (std::size_t i = 0; i < reached.size(); ++i) {
        const Children children = children_of(reached[i], root, processes);
        ASSERT_LE(children.count, 4u);
        for (std::uint32_t child = 0; child < children.count; ++child)
          reached.push_back(children.of[child]);
        ASSERT_LE(reached.size(), processes);
      }
      std::ranges::sort(reached);
      std::vector<std::uint32_t> all(processes);
      std::iota(all.begin(), all.end(), 0u);
      ASSERT_EQ(reached, all);
    }
}

TEST(TaskRelay, the_own_copy_is_met_before_what_is_sent_to_itself_later) {
  TaskJob job(1, 3);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::vector<std::uint64_t> mine;
    std::uint64_t met = 0;
    Function take = [&](ph_task_pe* me, ph_task_message* message) {
      if (ph_task_source(message) == place.pe) mine.push_back(value_of(message));
      EXPECT_EQ(ph_task_free(me, message), PH_OK);
      if (++met == 4) ph_task_stop(me);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    ASSERT_EQ(ph_task_broadcast(pe, make(pe, number, 1), PH_TASK_WITH_SELF), PH_OK);
    ASSERT_EQ(ph_task_send(pe, place.pe, make(pe, number, 2)), PH_OK);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(mine, (std::vector<std::uint64_t>{1, 2}));
  });
}

struct Case {
  std::uint32_t processes, pes, flags;
  std::uint64_t size_bytes;
};

// Every PE broadcasts once; then what has come is compared with what had to.
void broadcast_by_all(const Case& one) {
  SCOPED_TRACE(testing::Message() << one.processes << " x " << one.pes << ", flags " << one.flags
                                  << ", " << one.size_bytes << " bytes");
  const std::uint32_t pes = one.processes * one.pes;
  const bool to_processes = (one.flags & PH_TASK_TO_PROCESSES) != 0;
  const bool with_self = (one.flags & PH_TASK_WITH_SELF) != 0;
  std::vector<std::vector<std::uint64_t>> met(pes, std::vector<std::uint64_t>(pes));
  TaskJob job(one.processes, one.pes);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    std::uint64_t told = 0;
    // PE 0 counts what has come anywhere; when it is all, it stops all.
    const std::uint64_t targets = to_processes ? one.processes : pes;
    const std::uint64_t expected = pes * (targets - (with_self ? 0 : 1));
    Function take = [&](ph_task_pe* me, ph_task_message* message) {
      const std::uint64_t source = value_of(message);
      EXPECT_EQ(ph_task_source(message), source);
      EXPECT_EQ(ph_task_size(message), one.size_bytes);
      EXPECT_EQ(static_cast<char*>(ph_task_body(message))[one.size_bytes - 1], 'z');
      ++met[place.pe][source];
      ph_task_set_handler(message, 1);
      EXPECT_EQ(ph_task_send(me, 0, message), PH_OK);
    };
    Function count = [&](ph_task_pe* me, ph_task_message* message) {
      if (++told != expected) {
        ph_task_free(me, message);
        return;
      }
      ph_task_set_handler(message, 2);
      EXPECT_EQ(ph_task_broadcast(me, message, PH_TASK_WITH_SELF), PH_OK);
    };
    Function stop = [](ph_task_pe* me, ph_task_message* message) {
      ph_task_free(me, message);
      ph_task_stop(me);
    };
    enroll(pe, take);
    enroll(pe, count);
    enroll(pe, stop);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    ph_task_message* message = make(pe, 0, place.pe, one.size_bytes);
    static_cast<char*>(ph_task_body(message))[one.size_bytes - 1] = 'z';
    ASSERT_EQ(ph_task_broadcast(pe, message, one.flags | PH_TASK_KEEP), PH_OK);
    EXPECT_EQ(value_of(message), place.pe);
    ASSERT_EQ(ph_task_free(pe, message), PH_OK);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  });
  for (std::uint32_t source = 0; source < pes; ++source)
    for (std::uint32_t process = 0; process < one.processes; ++process) {
      std::uint64_t of_process = 0;
      for (std::uint32_t pe = process * one.pes; pe < (process + 1) * one.pes; ++pe) {
        of_process += met[pe][source];
        if (!to_processes) {
          EXPECT_EQ(met[pe][source], pe != source || with_self ? 1u : 0u);
        }
      }
      const bool is_own = source / one.pes == process;
      if (to_processes) {
        EXPECT_EQ(of_process, !is_own || with_self ? 1u : 0u);
      }
    }
}

TEST(TaskRelay, a_broadcast_reaches_each_pe_or_process_once) {
  const std::uint32_t self = PH_TASK_WITH_SELF, processes = PH_TASK_TO_PROCESSES;
  for (const std::uint32_t flags : {0u, self, processes, self | processes})
    for (const std::uint64_t size_bytes : {9u, 5'000u, 100'000u}) {
      if (flags != processes) broadcast_by_all({1, 3, flags, size_bytes});
      broadcast_by_all({2, 2, flags, size_bytes});
    }
  broadcast_by_all({6, 1, self, 64});  // a tree of two levels
}

}  // namespace
}  // namespace photon::task::test
