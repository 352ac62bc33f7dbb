#include "task/thread/thread_parts.hpp"

#include <gtest/gtest.h>

#include <set>

#include "task/api/checks.hpp"
#include "task/thread/thread_calls.hpp"
#include "task/thread/threads.hpp"

namespace photon::task::test {
namespace {

TEST(TaskThreadParts, each_pe_has_threads_of_its_own_and_all_share_one_limit) {
  TaskJob job(1, 2);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Pe& own = of(pe);
    Pe& sibling = *own.shared().all[1 - place.rank];
    EXPECT_NE(&threads_of(own), &threads_of(sibling));
    ASSERT_NE(threads_of(own).limit(), nullptr);
    EXPECT_EQ(threads_of(own).limit(), threads_of(sibling).limit());
  });
}

TEST(TaskThreadParts, the_settings_of_the_start_hold_for_each_thread) {
  for (const std::uint64_t stack_bytes : {std::uint64_t{0}, std::uint64_t{300'000}}) {
    TaskJob job(1, 1);
    job.settings().guards = PH_TASK_GUARDS_OFF;
    job.settings().stack_bytes = stack_bytes;
    job.run([&](ph_task_pe* pe, const ph_task_place&) {
      EXPECT_EQ(threads_of(of(pe)).limit(), nullptr);
      ThreadBody body = [](ph_task_pe*) {};
      const Thread* thread = threads_of(of(pe)).find(make_thread(pe, body));
      ASSERT_NE(thread, nullptr);
      const auto room = static_cast<std::uint64_t>(thread->variables - thread->stack->bottom);
      EXPECT_GE(room, stack_bytes != 0 ? stack_bytes : std::uint64_t{64} << 10);
      EXPECT_LT(room, (stack_bytes != 0 ? stack_bytes : std::uint64_t{64} << 10) + 16384);
    });
  }
}

// A peer may send any body: what names nobody is counted and freed.
TEST(TaskThreadParts, a_token_that_names_nobody_is_counted) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Pe& own = of(pe);
    for (const std::uint64_t size_bytes : {0, 4, 8, 100}) {
      Message* token = own.pool().alloc(size_bytes);
      ASSERT_NE(token, nullptr);
      std::memset(body_of(*token), 0xff, size_bytes);
      token->wire.kind = Kind::token;
      own.push_own(*token);
    }
    std::uint64_t ran = 9;
    ASSERT_EQ(ph_task_run(pe, 0, &ran), PH_OK);
    EXPECT_EQ(ran, 0u);
    EXPECT_EQ(threads_of_pe(pe).stale_tokens, 4u);
  });
}

// Of a token: what was created is processed, and no more.
TEST(TaskThreadParts, each_token_is_created_and_processed_once) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Pe& own = of(pe);
    ThreadBody body = [](ph_task_pe* one) {
      for (int i = 0; i < 5; ++i) ph_task_thread_yield(one);
      EXPECT_EQ(of(one).balance().created, of(one).balance().processed + 1)
          << "it is under way while it runs";
    };
    const ph_task_thread thread = make_thread(pe, body);
    EXPECT_EQ(own.balance().created, 0u) << "a thread that waits is no token";
    ASSERT_EQ(ph_task_thread_awaken(pe, thread), PH_OK);
    EXPECT_EQ(own.balance().created, 1u);
    EXPECT_EQ(own.balance().processed, 0u);
    run_all(pe);
    EXPECT_EQ(own.balance().created, 6u);
    EXPECT_EQ(own.balance().processed, 6u);
  });
}

}  // namespace
}  // namespace photon::task::test
