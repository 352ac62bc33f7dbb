// Ranks that leave a job and come again, against photonrun.
#include <signal.h>

#include "launch_ranks.hpp"

namespace photon::test {
namespace {

void leave_and_flush(boot::Boot& boot) {
  ASSERT_TRUE(boot.leave());
  while (!boot.idle()) ASSERT_TRUE(boot.receive());
}

// Again and again: the last rank before the others have, who each time gather, talk, and hear of
// its end in the generation that it was in only. Then another one is not there the next time.
const RankBody comes_again_body("comes_again", [] {
  constexpr int kGenerations = 20;
  boot::Secret before{};
  for (int generation = 0; generation < kGenerations; ++generation) {
    const auto boot = join();
    EXPECT_NE(boot->secret(), before);
    before = boot->secret();
    const ph_rank last = boot->size() - 1;
    std::vector<int> all(boot->size());
    const int mine = 100 * generation + static_cast<int>(boot->rank());
    ASSERT_TRUE(boot->allgather(std::as_bytes(std::span(&mine, 1)),
                                std::as_writable_bytes(std::span(all)), [] {}));
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      EXPECT_EQ(all[rank], 100 * generation + static_cast<int>(rank));
    if (boot->rank() == last) {
      for (ph_rank to = 0; to < last; ++to) send_number(*boot, to, generation);
    } else {
      const auto message = await_message(*boot);
      ASSERT_TRUE(message);
      EXPECT_EQ(number_in(*message), generation);
      const auto gone = await_message(*boot);
      ASSERT_TRUE(gone);
      EXPECT_EQ(gone->kind, boot::Message::Kind::gone);
      EXPECT_EQ(gone->from, last);
      EXPECT_TRUE(boot->has_left(last));
    }
    leave_and_flush(*boot);
  }
  if (std::getenv(PH_LAUNCH_RANK_VARIABLE) == std::string("0")) return;
  const auto boot = join();
  const auto met = boot->barrier([] {});
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().rank, 0u);
});

// Rank 0 is two generations ahead of the last one when it speaks to it.
const RankBody runs_ahead_body("runs_ahead", [] {
  if (std::getenv(PH_LAUNCH_RANK_VARIABLE) == std::string("0")) {
    for (int generation = 0; generation < 2; ++generation) leave_and_flush(*join());
    const auto boot = join();
    send_number(*boot, boot->size() - 1, 7);
    ASSERT_TRUE(boot->barrier([] {}));
    return;
  }
  for (int generation = 0; generation < 2; ++generation) {
    const auto boot = join();
    for (bool is_gone = false; !is_gone;) {  // rank 0 has left this one
      const auto message = await_message(*boot);
      ASSERT_TRUE(message);
      is_gone = message->kind == boot::Message::Kind::gone && message->from == 0;
    }
    leave_and_flush(*boot);
  }
  const auto boot = join();
  if (boot->rank() + 1 == boot->size()) {
    const auto message = await_message(*boot);
    ASSERT_TRUE(message);
    EXPECT_EQ(number_in(*message), 7);
  }
  ASSERT_TRUE(boot->barrier([] {}));
});

// More of them than photonrun serves at a time, by each rank as fast as it can.
const RankBody comes_and_leaves_without_meeting_body("comes_and_leaves_without_meeting", [] {
  for (int generation = 0; generation < 500; ++generation) leave_and_flush(*join());
  ASSERT_TRUE(join()->barrier([] {}));
});

void await_news_of_the_end() {
  sigset_t news;
  sigemptyset(&news);
  sigaddset(&news, SIGUSR1);
  int number = 0;
  ASSERT_EQ(::sigwait(&news, &number), 0);
}

// The last rank goes without leaving, or leaves and ends while a child of its lives that has all of
// its descriptors. The others hear of it in their next generation, long before that process, or
// that child, ends: they end it.
void ends_for_good(bool is_by_its_end) {
  sigset_t news;
  sigemptyset(&news);
  sigaddset(&news, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &news, nullptr);
  auto boot = join();
  const ph_rank last = boot->size() - 1;
  if (boot->rank() == last) {
    const pid_t child = is_by_its_end ? ::fork() : ::getpid();
    if (child == 0) {
      await_news_of_the_end();
      ::_exit(0);
    }
    send_number(*boot, 0, child);
    ASSERT_TRUE(boot->barrier([] {}));
    if (is_by_its_end) {
      leave_and_flush(*boot);
      ::_exit(0);
    }
    boot.reset();
    return await_news_of_the_end();
  }
  const auto message = boot->rank() == 0 ? await_message(*boot) : std::nullopt;
  ASSERT_TRUE(boot->barrier([] {}));
  leave_and_flush(*boot);
  boot = join();
  const auto met = boot->barrier([] {});
  ASSERT_FALSE(met);  // for the last rank, or for one that has heard of it and ended since
  if (boot->rank() != 0) return;
  ASSERT_TRUE(message);
  ::kill(number_in(*message), SIGUSR1);
}
const RankBody goes_for_good_body("goes_for_good", [] { ends_for_good(false); });
const RankBody ends_between_body("ends_between", [] { ends_for_good(true); });

TEST(LaunchGenerations, who_has_left_may_come_again) {
  for (const char* size : {"2", "5"}) expect_success(ranks_of("comes_again", size));
}
TEST(LaunchGenerations, who_runs_ahead_is_heard_when_the_others_come) {
  expect_success(ranks_of("runs_ahead", "3"));
  expect_success_on_hosts("runs_ahead", "4", "2");
}
TEST(LaunchGenerations, who_runs_far_ahead_waits_for_the_others) {
  expect_success(ranks_of("comes_and_leaves_without_meeting", "3"));
  expect_success_on_hosts("comes_and_leaves_without_meeting", "4", "2");
}
TEST(LaunchGenerations, who_will_not_come_again_is_waited_for_by_nobody) {
  expect_success(ranks_of("goes_for_good", "3"));
  expect_success(ranks_of("ends_between", "3", {"sh", "-c", "\"$0\" \"$@\"; exit $?"}));
}
TEST(LaunchGenerations, on_two_hosts_who_will_not_come_again_is_waited_for_by_nobody) {
  expect_success_on_hosts("goes_for_good", "4", "2");
}
TEST(LaunchGenerations, who_has_left_may_come_again_through_wrappers) {
  expect_success(ranks_of("comes_again", "3", {"sh", "-c", "\"$0\" \"$@\"; exit $?"}));
}
TEST(LaunchGenerations, on_two_hosts_who_has_left_may_come_again) {
  expect_success_on_hosts("comes_again", "5", "3");
}
}  // namespace
}  // namespace photon::test
