#include "task/buffer/awaited.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <vector>

#include "forked_job.hpp"
#include "task/buffer/buffer_job.hpp"

namespace photon::task::test {
namespace {

using Lost = std::vector<std::pair<std::uint32_t, ph_status>>;

TEST(TaskAwaited, who_lives_is_awaited_as_often_as_he_owes_an_answer) {
  run_on({"", 4, 1, 1, {}}, [](Station& station) {
    Machine& machine = of(station.pe).machine();
    Awaited awaited(station.place.processes);
    EXPECT_FALSE(awaited.any());
    const auto is_lost = [](std::uint32_t process, ph_status) { ADD_FAILURE() << process; };
    EXPECT_FALSE(awaited.look(machine, true, is_lost));
    EXPECT_FALSE(awaited.look(machine, false, is_lost));
    const std::uint32_t own = station.place.process;
    for (std::uint32_t process = 0; process < station.place.processes; ++process)
      for (int i = 0; i < 2 && process != own; ++i) awaited.add(process);
    for (std::uint32_t process = 0; process < station.place.processes; ++process)
      for (int i = 0; i < 2 && process != own; ++i) {
        EXPECT_TRUE(awaited.any());
        EXPECT_FALSE(awaited.look(machine, true, is_lost));
        EXPECT_FALSE(awaited.look(machine, false, is_lost));
        awaited.remove(process);
      }
    EXPECT_FALSE(awaited.any());
    station.meet();
  });
}

// Rank 0 awaits two processes that are killed and one that lives. What comes of others does not
// keep a lost one from being told of, and what comes of itself does.
int await_two_that_die(const ph_bootstrap& bootstrap) {
  const ph_config photon{sizeof photon, &bootstrap, nullptr, 0};
  ph_task_config config{};
  config.size = sizeof config;
  config.photon = &photon;
  ph_task_pe* pe = nullptr;
  if (ph_task_start(&config, &pe, nullptr) != PH_OK) return 1;
  Station station(pe);
  if (station.place.pe == 1 || station.place.pe == 2) {
    station.send(0, {});
    station.receive();
    ::kill(::getpid(), SIGKILL);
  }
  if (station.place.pe == 0) {
    Machine& machine = of(pe).machine();
    station.receive();
    station.receive();
    Awaited awaited(station.place.processes);
    for (const std::uint32_t process : {1U, 2U, 3U}) awaited.add(process);
    awaited.add(1);
    for (const std::uint32_t process : {1U, 2U}) station.send(process, {});
    Lost lost;
    const auto note = [&](std::uint32_t process, ph_status status) {
      lost.emplace_back(process, status);
      for (int i = process == 1 ? 2 : 1; i != 0; --i) awaited.remove(process);
    };
    const auto is_dead = [&](std::uint32_t process) {
      ph_contact_state state = PH_PEER_UNKNOWN;
      EXPECT_EQ(ph_peer_state(machine.lane(), process, &state), PH_OK);
      return state == PH_PEER_DEAD;
    };
    while (!is_dead(1) || !is_dead(2)) machine.progress();
    EXPECT_TRUE(awaited.look(machine, true, note)) << "they are marked";
    EXPECT_TRUE(lost.empty());
    ++machine.flow(1).arrived;
    ++machine.flow(3).arrived;
    EXPECT_TRUE(awaited.look(machine, true, note));
    EXPECT_EQ(lost, (Lost{{2, PH_ERR_PEER}})) << "something has come of the other one";
    for (int i = 0; i < 2; ++i) awaited.look(machine, false, note);  // one at a time
    EXPECT_EQ(lost, (Lost{{2, PH_ERR_PEER}, {1, PH_ERR_PEER}}));
    EXPECT_TRUE(awaited.any());
    EXPECT_FALSE(awaited.look(machine, true, note)) << "that one lives";
    station.send(3, {});
  }
  if (station.place.pe == 3) station.receive();
  static_cast<void>(ph_task_end(pe));
  return testing::Test::HasFailure() ? 2 : 0;
}

TEST(TaskAwaited, who_is_lost_is_told_of_once_when_no_more_comes_of_it) {
  const std::vector<int> ends = photon::test::fork_ranks(4, await_two_that_die);
  for (const std::size_t rank : {0U, 3U}) EXPECT_EQ(ends[rank], 0) << rank;
  for (const std::size_t rank : {1U, 2U}) EXPECT_TRUE(WIFSIGNALED(ends[rank])) << rank;
}

}  // namespace
}  // namespace photon::task::test
