#include "task/start/parts.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>

#include "shortage.hpp"
#include "task/api/checks.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

// What has been made is what is over, once nothing is under way: messages to PEs, to processes,
// to all of either, and enqueued ones.
TEST(TaskCounts, what_was_created_has_been_processed_when_all_is_over) {
  constexpr std::uint32_t kPes = 2;
  std::atomic<std::uint64_t> created{0};
  std::atomic<std::uint64_t> processed{0};
  TaskJob job(3, kPes);
  job.run([&](ph_task_pe* pe, const ph_task_place& place) {
    std::uint32_t met = 0;
    Function take = [&met](ph_task_pe* own, ph_task_message* message) {
      ++met;
      ph_task_free(own, message);
    };
    const std::uint32_t number = enroll(pe, take);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    for (std::uint32_t to = 0; to < place.pes; ++to)
      ASSERT_EQ(ph_task_send(pe, to, make(pe, number, to)), PH_OK);
    ASSERT_EQ(ph_task_broadcast(pe, make(pe, number, 0), PH_TASK_WITH_SELF), PH_OK);
    ASSERT_EQ(ph_task_broadcast(pe, make(pe, number, 0, 100'000), 0), PH_OK);
    const ph_task_priority none{};
    ASSERT_EQ(ph_task_enqueue(pe, make(pe, number, 0), &none), PH_OK);
    const std::uint32_t expected = place.pes + place.pes + (place.pes - 1) + 1;
    while (met < expected) ASSERT_EQ(ph_task_run(pe, 1, nullptr), PH_OK);
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    Pe& own = of(pe);
    std::uint64_t made = own.balance().created;
    for (std::uint32_t process = 0; process < place.processes; ++process)
      made += own.machine().sent_to(process);
    created += made;
    processed += own.balance().processed;
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    EXPECT_EQ(created, processed);
  });
  EXPECT_GE(created, 6 * (6 + 6 + 5 + 1));
}

// A message of a kind that nothing has made known: it came of a peer.
TEST(TaskParts, a_message_of_an_unknown_kind_is_freed) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Function none = [](ph_task_pe*, ph_task_message*) { ADD_FAILURE() << "it is no task"; };
    const std::uint32_t number = enroll(pe, none);
    ph_task_message* message = make(pe, number, 0);
    ASSERT_EQ(ph_task_retain(pe, message), PH_OK);
    of(message).wire.kind = static_cast<Kind>(kKinds - 1);
    of(pe).shared().on(static_cast<Kind>(kKinds - 1)) = drop_message;
    of(pe).push_own(of(message));
    std::uint64_t ran = 9;
    ASSERT_EQ(ph_task_run(pe, 0, &ran), PH_OK);
    EXPECT_EQ(ran, 0u);
    EXPECT_EQ(ph_task_free(pe, message), PH_OK);
    EXPECT_EQ(ph_task_free(pe, message), PH_ERR_STATE);
  });
}

// PEs, parts and threads: each step finds no memory once, and what was made before it is freed.
TEST(TaskParts, no_memory_at_any_step_of_making_pes_frees_what_was_made) {
  bool is_made = false;
  for (int allowed = 0; !is_made; ++allowed) {
    ASSERT_LT(allowed, 1'000);
    std::unique_ptr<Crew> crew;
    ph_status status = PH_ERR_MEMORY;
    try {
      const photon::test::Shortage shortage(allowed);
      crew = std::make_unique<Crew>(std::make_unique<Shared>(2, 0, 3), nullptr, false);
      make_parts(*crew, ph_task_config{});
      status = crew->launch([](ph_task_pe*, void*) { ADD_FAILURE(); }, nullptr);
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(status, PH_ERR_MEMORY);
    }
    if (crew != nullptr) crew->open_gate(false);
    is_made = status == PH_OK;
    if (is_made) {
      EXPECT_GT(allowed, 10);
    } else {
      EXPECT_EQ(status, PH_ERR_MEMORY) << allowed;
    }
  }
}

}  // namespace
}  // namespace photon::task::test
