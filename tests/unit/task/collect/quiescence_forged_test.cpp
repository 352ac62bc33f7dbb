// Messages of waves that are well made and of the wrong PE: whoever is not the parent in the tree,
// or is not the leader that was asked, begins no wave and answers no request.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "task/collect/collect.hpp"
#include "task/run/sends.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

constexpr std::uint64_t kGreatest = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kProcesses = 2;
constexpr std::uint32_t kPes = 2;

void forge(Pe& own, std::uint32_t to, Step step, const WaveName& name) {
  ProcessSet dead(kProcesses);
  for (std::uint32_t process = 0; process < name.leader; ++process) dead.add(process);
  const auto sets = static_cast<std::uint16_t>(step == Step::begin ? 1 : 0);
  Message* message = write(own.pool(), {step, 0, sets, name.leader, name.number, 0, 0}, &dead);
  ASSERT_NE(message, nullptr);
  ASSERT_EQ(send_of_kind(own, Kind::wave, to, *message), PH_OK);
}

// To every PE, itself too: the greatest wave of either process, but for that of process 0 which its
// own first PE would pass on; and answers to all requests.
void forge_all(Pe& own) {
  for (std::uint32_t to = 0; to < kProcesses * kPes; ++to) {
    for (std::uint32_t leader = 0; leader < kProcesses; ++leader) {
      const bool is_way_of_waves = own.rank() == 0 && to / kPes == own.shared().process;
      if (leader != 0 || !is_way_of_waves) forge(own, to, Step::begin, {leader, kGreatest});
    }
    for (std::uint64_t request = 1; request <= 2; ++request)
      forge(own, to, Step::done, {0, request});
  }
  for (const std::uint64_t number : {0, 77, 78, 76, 1000})  // it does not lead
    forge(own, kPes, Step::ask, {0, number});
}

// The PEs of process 1 forge while PE 0 has asked and is inside a task. A message that they send
// afterwards is met afterwards.
TEST(TaskQuiesceForged, waves_of_no_parent_and_answers_of_no_leader_are_not_believed) {
  TaskJob job(kProcesses, kPes);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    bool is_running = false;
    int forged = 0;
    int answers = 0;
    Function task = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      is_running = true;
      EXPECT_EQ(ph_task_quiesce(one, 1), PH_OK);
      for (std::uint32_t to = kPes; to < place.pes; ++to)
        EXPECT_EQ(ph_task_send(one, to, make(one, 2, 0)), PH_OK);
      while (forged != kPes) EXPECT_EQ(ph_task_run(one, 0, nullptr), PH_OK);
      is_running = false;
    };
    Function quiet = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_FALSE(is_running) << "a task was left";
      ++answers;
      ph_task_set_handler(message, 4);
      EXPECT_EQ(ph_task_broadcast(one, message, PH_TASK_WITH_SELF), PH_OK);
    };
    Function forges = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      forge_all(*reinterpret_cast<Pe*>(one));
      EXPECT_EQ(ph_task_send(one, 0, make(one, 3, 0)), PH_OK);
    };
    Function met = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      ++forged;
    };
    Function stop = [](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      EXPECT_EQ(ph_task_stop(one), PH_OK);
    };
    for (Function* one : {&task, &quiet, &forges, &met, &stop}) enroll(pe, *one);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      ASSERT_EQ(ph_task_send(pe, 0, make(pe, 0, 0)), PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(answers, place.pe == 0 ? 1 : 0);
    if (place.process == 1) {
      const Quiescence& quiescence = collect_of(*reinterpret_cast<Pe*>(pe)).quiescence;
      EXPECT_EQ(quiescence.waves(), 0u);
      EXPECT_EQ(quiescence.askers(), place.pe == kPes ? kPes : 0u) << "one entry a PE";
    }
    ASSERT_EQ(ph_task_barrier(pe), PH_OK);
  });
}

}  // namespace
}  // namespace photon::task::test
