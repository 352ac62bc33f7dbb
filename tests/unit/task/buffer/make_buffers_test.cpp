#include "task/buffer/make_buffers.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <vector>

#include "forked_job.hpp"
#include "task/buffer/buffer_job.hpp"

namespace photon::task::test {
namespace {

TEST(TaskMakeBuffers, each_pe_has_buffers_of_its_own) {
  TaskJob job(2, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Pe& own = of(pe);
    EXPECT_EQ(&buffers_of(own).pe, &own);
    for (std::uint32_t rank = 0; rank < place.pes_per_process; ++rank) {
      Pe& sibling = *own.shared().all[rank];
      EXPECT_EQ(&buffers_of(sibling).pe, &sibling);
    }
  });
}

// Two processes of one PE. PE 1 is killed when it was asked for many operations, and PE 0 has said
// so by the pipe; each look of PE 0 finds something of others.
int look_while_busy(const ph_bootstrap& bootstrap, const int (&pipe)[2]) {
  constexpr std::size_t kGets = 100;
  const ph_config photon{sizeof photon, &bootstrap, nullptr, 0};
  ph_task_config config{};
  config.size = sizeof config;
  config.photon = &photon;
  ph_task_pe* pe = nullptr;
  if (ph_task_start(&config, &pe, nullptr) != PH_OK) return 1;
  Station station(pe);
  Bytes bytes(100);
  if (station.place.pe == 1) {
    station.send(0, station.describe(station.make(bytes, PH_TASK_UNREG)));
    station.receive();
    char word = 0;
    EXPECT_EQ(::read(pipe[0], &word, 1), 1);
    ::kill(::getpid(), SIGKILL);
  }
  const ph_task_descriptor bare = station.receive();
  station.send(1, bare);  // the last that it gets a turn for
  std::vector<Bytes> landings(kGets, Bytes(100));
  for (Bytes& landing : landings)
    EXPECT_EQ(ph_task_get(pe, station.make(landing), &bare), PH_OK) << words_of(pe);
  EXPECT_EQ(::write(pipe[1], "a", 1), 1);
  Machine& machine = of(pe).machine();
  Rdma& rdma = machine.rdma();
  rdma.watch_us = 0;  // it looks when this test does
  for (ph_contact_state state = PH_PEER_UNKNOWN; state != PH_PEER_DEAD;) {
    machine.progress();
    EXPECT_EQ(ph_peer_state(machine.lane(), 1, &state), PH_OK);
  }
  EXPECT_EQ(station.buffers().underway.count(EndName::Says::turned), kGets);
  EXPECT_TRUE(rdma.looked(rdma.user, true)) << "another look is due at once";
  EXPECT_EQ(station.buffers().underway.count(EndName::Says::turned), kGets);
  EXPECT_TRUE(rdma.looked(rdma.user, true));
  EXPECT_EQ(station.buffers().underway.count(EndName::Says::turned), 0u) << "all at once";
  EXPECT_FALSE(rdma.looked(rdma.user, true));
  EXPECT_EQ(rdma.watch_us, 0);
  for (const ph_task_done& done : station.await(kGets)) EXPECT_EQ(done.status, PH_ERR_PEER);
  static_cast<void>(ph_task_end(pe));
  return testing::Test::HasFailure() ? 2 : 0;
}

TEST(TaskMakeBuffers, all_operations_of_a_lost_process_end_under_traffic) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const std::vector<int> ends = photon::test::fork_ranks(
      2, [&](const ph_bootstrap& bootstrap) { return look_while_busy(bootstrap, pipe); });
  ::close(pipe[0]);
  ::close(pipe[1]);
  EXPECT_EQ(ends[0], 0);
  EXPECT_TRUE(WIFSIGNALED(ends[1]));
}

}  // namespace
}  // namespace photon::task::test
