// Real processes, of one PE each, of which one is killed.
#include <signal.h>
#include <unistd.h>

#include <optional>

#include "forked_job.hpp"
#include "task/program/program_job.hpp"

namespace photon::task::test::typed_losses {
namespace {

using Numbers = std::vector<std::uint64_t>;

ph_task_pe* start_on(const ph_bootstrap& bootstrap, const char* transport) {
  const ph_option option{"transport", transport};
  const ph_config photon{sizeof photon, &bootstrap, &option, 1};
  ph_task_config config{};
  config.size = sizeof config;
  config.photon = &photon;
  ph_task_pe* pe = nullptr;
  ph_error error{};
  EXPECT_EQ(ph_task_start(&config, &pe, &error), PH_OK) << error.text;
  return pe;
}

// PE 1 has three offers whose landings are to be posted, and dies.
int lose_the_target(const ph_bootstrap& bootstrap, const char* transport) {
  ph_task_pe* pe = start_on(bootstrap, transport);
  if (pe == nullptr) return 1;
  {
    Office office(pe, kAllOffered);
    Numbers row(100'000);
    std::uint32_t released = 0;
    std::uint32_t come = 0;
    const auto handler = office.tasks.on(
        [&](Room<std::uint64_t> room) {
          (void)room.later();
          ++come;
        },
        [](std::span<std::uint64_t>) { ADD_FAILURE(); });
    const auto die = office.tasks.on([] { ::kill(::getpid(), SIGKILL); });
    bool is_gathered = false;
    const auto gathered = office.tasks.on([&] { is_gathered = true; });
    office.begin();
    if (office.own() == 1) {
      office.until([&] { return come == 3; });
      EXPECT_EQ(office.tasks.send(0, gathered), PH_OK);
      office.until([] { return false; });
    }
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(office.tasks.send(1, handler, zero_copy(row, [&] { ++released; })), PH_OK);
    office.until([&] { return is_gathered; });
    EXPECT_EQ(office.tasks.unreleased(), 3u);
    EXPECT_EQ(office.tasks.send(1, die), PH_OK);
    office.until([&] { return released == 3; });  // each is a task
    EXPECT_EQ(office.failures.size(), 3u);
    for (const Failure& failure : office.failures) {
      EXPECT_EQ(failure.status, PH_ERR_PEER);
      EXPECT_EQ(failure.pe, 1u);
      EXPECT_TRUE(failure.is_sender);
    }
    // It is known to be lost now: nothing is taken from the caller.
    EXPECT_EQ(office.tasks.send(1, handler, zero_copy(row, [&] { ++released; })), PH_ERR_PEER);
    EXPECT_EQ(office.tasks.unreleased(), 0u);
    EXPECT_EQ(released, 3u);
  }
  ph_task_end(pe);
  return testing::Test::HasFailure() ? 2 : 0;
}

TEST(TaskLost, the_end_of_the_target_releases_what_was_offered_to_it) {
  for (const char* transport : {"shm", "tcp"}) {
    SCOPED_TRACE(transport);
    const std::vector<int> statuses = photon::test::fork_ranks(
        2, [&](const ph_bootstrap& bootstrap) { return lose_the_target(bootstrap, transport); });
    EXPECT_EQ(statuses[0], 0);
    EXPECT_TRUE(WIFSIGNALED(statuses[1]));
  }
}

// PE 1 has offered two spans and dies before they are posted.
int lose_the_source(const ph_bootstrap& bootstrap, const char* transport) {
  ph_task_pe* pe = start_on(bootstrap, transport);
  if (pe == nullptr) return 1;
  {
    Office office(pe, kAllOffered);
    Numbers row(100'000, 2);
    Numbers landing(100'000, 1);
    std::vector<Ticket<std::uint64_t>> tickets;
    const auto handler = office.tasks.on(
        [&](Room<std::uint64_t> one, Room<std::uint64_t> two) {
          tickets.push_back(one.later());
          tickets.push_back(two.later());
        },
        [](std::span<std::uint64_t>, std::span<std::uint64_t>) { ADD_FAILURE(); });
    const auto die = office.tasks.on([] { ::kill(::getpid(), SIGKILL); });
    office.begin();
    if (office.own() == 1) {
      EXPECT_EQ(office.tasks.send(0, handler, zero_copy(row), zero_copy(row)), PH_OK);
      office.until([] { return false; });
    }
    office.until([&] { return tickets.size() == 2; });
    EXPECT_EQ(office.tasks.send(1, die), PH_OK);
    ph_contact_state state = PH_PEER_UNKNOWN;
    while (state != PH_PEER_DEAD) {
      EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
      EXPECT_EQ(ph_task_process_state(pe, 1, &state), PH_OK);
    }
    EXPECT_EQ(office.tasks.post(tickets[0], std::span(landing)), PH_OK);
    while (office.failures.empty()) EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_EQ(office.failures[0].status, PH_ERR_PEER);
    EXPECT_FALSE(office.failures[0].is_sender);
    EXPECT_EQ(office.tasks.post(tickets[1], std::span(landing)), PH_ERR_NOT_FOUND);
  }
  ph_task_end(pe);
  return testing::Test::HasFailure() ? 2 : 0;
}

TEST(TaskLost, the_end_of_the_source_ends_what_waits_for_its_elements) {
  for (const char* transport : {"shm", "tcp"}) {
    SCOPED_TRACE(transport);
    const std::vector<int> statuses = photon::test::fork_ranks(
        2, [&](const ph_bootstrap& bootstrap) { return lose_the_source(bootstrap, transport); });
    EXPECT_EQ(statuses[0], 0);
    EXPECT_TRUE(WIFSIGNALED(statuses[1]));
  }
}

}  // namespace
}  // namespace photon::task::test::typed_losses
