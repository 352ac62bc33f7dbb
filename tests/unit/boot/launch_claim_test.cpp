#include "boot/launch_claim.hpp"

#include <fcntl.h>
#include <sys/wait.h>

#include <atomic>

#include "boot_ranks.hpp"

namespace photon::test {
namespace {

// As a launcher passes it: not close-on-exec.
std::array<base::UniqueFd, 2> make_channel(int type = SOCK_SEQPACKET) {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, type, 0, fds), 0);
  return {base::UniqueFd(fds[0]), base::UniqueFd(fds[1])};
}

ph_status claim_status(const std::string& text) {
  auto claimed = boot::claim_launch_fd(text);
  if (claimed) return PH_OK;
  EXPECT_NE(claimed.error().what.find("PHOTON_LAUNCH_FD"), std::string::npos);
  return claimed.error().status;
}

TEST(LaunchClaim, takes_a_launchers_socket_and_keeps_it_from_other_programs) {
  auto channel = make_channel();
  auto claimed = boot::claim_launch_fd(std::to_string(channel[1].release()));
  ASSERT_TRUE(claimed);
  EXPECT_EQ(::fcntl(claimed->fd.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_FALSE(claimed->is_next);
}

TEST(LaunchClaim, is_refused_a_second_time_while_held_and_after_it_was_closed) {
  auto channel = make_channel();
  const std::string text = std::to_string(channel[1].release());
  auto claimed = boot::claim_launch_fd(text);
  ASSERT_TRUE(claimed);
  EXPECT_EQ(claim_status(text), PH_ERR_BOOTSTRAP);
  claimed->fd.reset();
  EXPECT_EQ(claim_status(text), PH_ERR_BOOTSTRAP);
}

TEST(LaunchClaim, is_refused_for_a_duplicate_of_a_claimed_socket) {
  auto channel = make_channel();
  const base::UniqueFd copy(::dup(channel[1].get()));  // as a second program of a wrapper has it
  auto claimed = boot::claim_launch_fd(std::to_string(channel[1].release()));
  ASSERT_TRUE(claimed);
  EXPECT_EQ(claim_status(std::to_string(copy.get())), PH_ERR_BOOTSTRAP);
}

TEST(LaunchClaim, of_the_next_channel_is_the_process_s_that_left_it_and_not_a_childs) {
  auto channel = make_channel();
  const std::string text = std::to_string(channel[1].release());
  auto claimed = boot::claim_launch_fd(text);
  ASSERT_TRUE(claimed);
  auto next = boot::make_next_channel(claimed->fd);
  ASSERT_TRUE(next);
  boot::put_in_place(claimed->fd, *next);
  EXPECT_NE(std::to_string(claimed->fd.get()), text);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(boot::claim_launch_fd(text) ? 1 : 0);
  int end = -1;
  ASSERT_EQ(::waitpid(child, &end, 0), child);
  EXPECT_EQ(end, 0);
  auto again = boot::claim_launch_fd(text);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->is_next);
  EXPECT_EQ(claim_status(text), PH_ERR_BOOTSTRAP);
}

TEST(LaunchClaim, exactly_one_of_many_threads_gets_it) {
  auto channel = make_channel();
  const std::string text = std::to_string(channel[1].release());
  std::atomic<int> winners{0};
  std::vector<base::UniqueFd> held(8);
  std::vector<std::thread> threads;
  for (base::UniqueFd& place : held) {
    threads.emplace_back([&] {
      if (auto claimed = boot::claim_launch_fd(text)) {
        ++winners;
        place = std::move(claimed->fd);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
}

TEST(LaunchClaim, refuses_what_is_not_a_launchers_socket) {
  auto stream = make_channel(SOCK_STREAM);
  for (const std::string& text :
       {std::string("x"), std::string("-1"), std::string("3x"), std::string("99999999999"),
        std::string("65000"), std::to_string(stream[0].get())}) {
    EXPECT_EQ(claim_status(text), PH_ERR_BOOTSTRAP) << text;
  }
}

}  // namespace
}  // namespace photon::test
