#include "boot/endpoint_info.hpp"

#include <sys/wait.h>

#include "boot_ranks.hpp"

namespace photon::test {
namespace {

// A process that waits for its standing order, a closed pipe, and what its endpoint info says.
struct Child {
  Child() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid = ::fork();
    if (pid == 0) {
      ::close(ends[1]);
      char text;
      (void)!::read(ends[0], &text, 1);
      ::_exit(0);
    }
    ::close(ends[0]);
    order.reset(ends[1]);
  }
  void end() {
    order.reset();
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  }
  boot::EndpointInfo endpoint_info() const {
    boot::EndpointInfo endpoint_info = *boot::own_endpoint_info();
    endpoint_info.pid = static_cast<std::uint32_t>(pid);
    endpoint_info.start_ticks = 0;
    return endpoint_info;
  }

  pid_t pid = 0;
  base::UniqueFd order;
};

TEST(EndpointInfo, two_of_one_process_reach_each_other_and_differ_in_their_names) {
  const boot::EndpointInfo one = *boot::own_endpoint_info();
  const boot::EndpointInfo other = *boot::own_endpoint_info();
  EXPECT_TRUE(boot::says_same_host(one, other));
  EXPECT_NE(one.name, other.name);
  EXPECT_NE(one.nonce, other.nonce);
  EXPECT_EQ(one.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_NE(one.start_ticks, 0u);
}

TEST(EndpointInfo, another_host_or_network_namespace_cannot_be_reached) {
  const boot::EndpointInfo own = *boot::own_endpoint_info();
  boot::EndpointInfo other = own;
  other.host[0] = '?';
  EXPECT_FALSE(boot::says_same_host(own, other));
  other = own;
  ++other.network_namespace;
  EXPECT_FALSE(boot::says_same_host(own, other));
}

TEST(EndpointInfo, a_watched_process_makes_its_descriptor_readable_when_it_ends) {
  Child child;
  const boot::Process process =
      boot::watch_process(*boot::own_endpoint_info(), child.endpoint_info());
  ASSERT_EQ(process.state, boot::Process::State::watched);
  EXPECT_FALSE(is_readable(process.pidfd.get()));
  child.end();
  EXPECT_TRUE(is_readable(process.pidfd.get()));
}

TEST(EndpointInfo, a_process_that_ended_before_is_known_as_ended) {
  Child child;
  child.end();
  EXPECT_EQ(boot::watch_process(*boot::own_endpoint_info(), child.endpoint_info()).state,
            boot::Process::State::ended);
}

TEST(EndpointInfo, a_process_that_has_begun_to_end_is_told_from_one_that_lives) {
  Child child;
  const auto pid = static_cast<std::uint32_t>(child.pid);
  EXPECT_FALSE(boot::is_exiting(pid));
  EXPECT_FALSE(boot::is_exiting(static_cast<std::uint32_t>(::getpid())));
  child.order.reset();
  siginfo_t end{};
  ASSERT_EQ(::waitid(P_PID, pid, &end, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(boot::is_exiting(pid)) << "it is not reaped yet";
  child.end();
  EXPECT_FALSE(boot::is_exiting(pid)) << "nobody is there";
}

TEST(EndpointInfo, a_pid_that_went_to_a_later_process_is_not_taken_for_the_peer) {
  Child child;
  boot::EndpointInfo endpoint_info = child.endpoint_info();
  endpoint_info.start_ticks = 1;
  EXPECT_EQ(boot::watch_process(*boot::own_endpoint_info(), endpoint_info).state,
            boot::Process::State::ended);
  child.end();
}

TEST(EndpointInfo, another_pid_namespace_and_our_own_process_are_not_watched) {
  Child child;
  boot::EndpointInfo endpoint_info = child.endpoint_info();
  ++endpoint_info.pid_namespace;
  EXPECT_EQ(boot::watch_process(*boot::own_endpoint_info(), endpoint_info).state,
            boot::Process::State::unknown);
  const boot::EndpointInfo own = *boot::own_endpoint_info();
  EXPECT_EQ(boot::watch_process(own, own).state, boot::Process::State::unknown);
  child.end();
}

}  // namespace
}  // namespace photon::test
