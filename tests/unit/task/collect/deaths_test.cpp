#include "task/collect/deaths.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <set>
#include <string>
#include <vector>

#include "forked_job.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

Pe& pe_of(ph_task_pe* pe) { return *reinterpret_cast<Pe*>(pe); }

TEST(TaskDeaths, while_all_live_what_is_sent_counts_and_what_arrives_does_not) {
  TaskJob job(3, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Function take = [](ph_task_pe* one, ph_task_message* message) { ph_task_free(one, message); };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    for (std::uint32_t to = 0; to < place.pes; ++to)
      ASSERT_EQ(ph_task_send(pe, to, make(pe, number, 0)), PH_OK);
    ASSERT_EQ(ph_task_run(pe, 3, nullptr), PH_OK);
    Deaths deaths(pe_of(pe));
    EXPECT_FALSE(deaths.look());
    EXPECT_EQ(deaths.dead(), ProcessSet(3));
    EXPECT_EQ(deaths.lowest(), 0u);
    EXPECT_EQ(deaths.created(), 3u);
    EXPECT_EQ(deaths.processed(), 3u);
    ASSERT_EQ(ph_task_barrier(pe), PH_OK);
  });
}

// What others say makes nobody dead: the lane is asked.
TEST(TaskDeaths, who_is_told_of_a_death_meets_that_process_and_believes_his_lane) {
  TaskJob job(3, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Deaths deaths(pe_of(pe));
    ProcessSet told(3);
    for (const std::uint32_t process : {0U, 1U, 2U}) told.add(process);
    deaths.heed(told);
    EXPECT_EQ(deaths.dead(), ProcessSet(3));
    for (std::uint32_t process = 0; process < 3; ++process) {
      ph_contact_state state = PH_PEER_UNKNOWN;
      ASSERT_EQ(ph_peer_state(pe_of(pe).machine().lane(), process, &state), PH_OK);
      if (process != place.process) {
        EXPECT_NE(state, PH_PEER_UNKNOWN);
      }
    }
    ASSERT_EQ(ph_task_barrier(pe), PH_OK);
  });
}

TEST(TaskDeaths, sets_of_processes_have_no_bits_beyond_the_last_one) {
  for (const std::uint32_t processes : {1U, 63U, 64U, 65U, 130U}) {
    ProcessSet set(processes), all(processes);
    const std::uint64_t ones[3] = {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};
    set.take(ones);
    for (std::uint32_t process = 0; process < processes; ++process) {
      EXPECT_FALSE(all.has(process));
      all.add(process);
      EXPECT_TRUE(all.has(process));
    }
    EXPECT_EQ(set, all);
    set.intersect(ProcessSet(processes));
    EXPECT_EQ(set, ProcessSet(processes));
    set.unite(all);
    EXPECT_EQ(set, all);
  }
}

// One process of a job of `fork_ranks`: which of them is killed, and in the middle of what.
class Survivor {
 public:
  static constexpr std::uint32_t kProcesses = 4;
  static constexpr std::uint32_t kPes = 2;

  Survivor(const ph_bootstrap& bootstrap, ph_rank victim) : victim_(victim) {
    photon_.size = sizeof photon_;
    photon_.bootstrap = &bootstrap;
  }
  int run() {
    ph_task_config config{};
    config.size = sizeof config;
    config.photon = &photon_;
    config.pes = kPes;
    config.main = main;
    config.user = this;
    ph_task_pe* pe = nullptr;
    ph_error error{};
    if (ph_task_start(&config, &pe, &error) != PH_OK) return 2;
    main(pe, this);
    const ph_status end = ph_task_end(pe);
    return testing::Test::HasFailure() || (end != PH_OK && end != PH_ERR_PEER) ? 1 : 0;
  }

 private:
  // Chains of tasks that go from PE to PE. A PE of the victim ends its process when it has met
  // tasks of all PEs. Each other one asks, and tells the keeper when it has heard that nothing is
  // left, who stops all.
  static void main(ph_task_pe* pe, void* user) {
    const ph_rank victim = static_cast<Survivor*>(user)->victim_;
    const ph_task_place place = place_of(pe);
    const std::uint32_t keeper = victim == 0 ? kPes : 0;
    std::uint32_t reports = 0;
    std::set<std::uint32_t> met;
    bool is_quiet = false;
    Function hop = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_FALSE(is_quiet) << "a task was left";
      met.insert(ph_task_source(message));
      if (place.process == victim && met.size() == place.pes) ::kill(::getpid(), SIGKILL);
      const std::uint64_t left = value_of(message);
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      if (left == 0) return;
      const std::uint64_t size = left % 7 == 0 ? 40'000 : 8;
      const std::uint32_t to = (place.pe + static_cast<std::uint32_t>(left)) % place.pes;
      const ph_status sent = ph_task_send(one, to, make(one, 0, left - 1, size));
      EXPECT_TRUE(sent == PH_OK || sent == PH_ERR_PEER) << ph_status_text(sent);
    };
    Function quiet = [&](ph_task_pe* one, ph_task_message* message) {
      is_quiet = true;
      ph_task_set_handler(message, 2);
      EXPECT_EQ(ph_task_send(one, keeper, message), PH_OK);
    };
    Function report = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      if (++reports != place.pes - kPes) return;
      for (std::uint32_t to = 0; to < place.pes; ++to)
        if (to / kPes != victim) {
          EXPECT_EQ(ph_task_send(one, to, make(one, 3, 0)), PH_OK);
        }
    };
    Function stop = [](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      EXPECT_EQ(ph_task_stop(one), PH_OK);
    };
    for (Function* one : {&hop, &quiet, &report, &stop}) enroll(pe, *one);
    EXPECT_EQ(ph_task_agree(pe), PH_OK);
    for (std::uint32_t to = 0; to < place.pes; ++to) {
      const ph_status sent = ph_task_send(pe, to, make(pe, 0, 500));
      EXPECT_TRUE(sent == PH_OK || sent == PH_ERR_PEER) << ph_status_text(sent);
    }
    EXPECT_EQ(ph_task_quiesce(pe, 1), PH_OK);
    EXPECT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    expect_no_meeting(pe, victim);
  }
  // What needs all processes says that one is lost, and nobody waits for it. Process 0 is next to
  // all others in the tree.
  static void expect_no_meeting(ph_task_pe* pe, ph_rank victim) {
    const ph_task_merge first = [](ph_task_pe*, ph_task_message* own, ph_task_message**,
                                   std::uint32_t, void*) { return own; };
    const ph_task_reduction args{sizeof args, first, nullptr, 0, 0, 0};
    ph_task_message* message = make(pe, 1, 0);
    const bool is_next = victim == 0 || place_of(pe).process == 0;
    EXPECT_EQ(ph_task_reduce(pe, message, &args), is_next ? PH_ERR_PEER : PH_OK);
    if (is_next) {
      EXPECT_NE(words_of(pe).find("is lost, and all have to take part"), std::string::npos);
      EXPECT_EQ(ph_task_free(pe, message), PH_OK) << "it was ours all the time";
    }
    EXPECT_EQ(ph_task_barrier(pe), PH_ERR_PEER);
    EXPECT_NE(words_of(pe).find("ph_task_barrier: not all processes have come"), std::string::npos);
    EXPECT_EQ(ph_task_node_barrier(pe), PH_OK);
  }

  ph_rank victim_;
  ph_config photon_{};
};

// The leader, a process in the middle of the tree, and a last one.
TEST(TaskQuiesce, ReachedAfterADeath) {
  for (const ph_rank victim : {0U, 1U, 3U}) {
    const std::vector<int> ends = photon::test::fork_ranks(
        Survivor::kProcesses,
        [victim](const ph_bootstrap& bootstrap) { return Survivor(bootstrap, victim).run(); });
    for (ph_rank rank = 0; rank < Survivor::kProcesses; ++rank) {
      if (rank == victim) {
        EXPECT_TRUE(WIFSIGNALED(ends[rank]) && WTERMSIG(ends[rank]) == SIGKILL);
      } else {
        EXPECT_EQ(ends[rank], 0) << "rank " << rank << ", where " << victim << " was killed";
      }
    }
  }
}

}  // namespace
}  // namespace photon::task::test
