// In which order a rank's addresses are tried, and what is said when none was it.
#include "boot/tries.hpp"

#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace photon::boot {
namespace {

Address at(const char* host, std::uint16_t port = 77) {
  Address made = *choose_address(host, true);
  made.port = port;
  return made;
}

Addresses list(const std::vector<const char*>& hosts) {
  Addresses made;
  for (const char* host : hosts) made.add(at(host));
  return made;
}

// The hosts of one round, each of which fails by `trouble`.
std::string round_of(Tries& tries, int trouble = ECONNREFUSED) {
  std::string hosts;
  for (bool goes_on = true; goes_on;) {
    hosts += (hosts.empty() ? "" : " ") + tries.now().text();
    goes_on = tries.next(trouble);
  }
  return hosts;
}

TEST(Tries, go_in_the_order_of_that_rank_and_begin_anew) {
  Tries tries(list({"10.9.0.2", "10.8.0.2"}), {.ours = list({"10.9.0.1"})});
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(tries.has_more());
    EXPECT_EQ(round_of(tries), "10.9.0.2:77 10.8.0.2:77") << i;
  }
}

TEST(Tries, leave_for_the_end_what_cannot_be_that_rank) {
  const Addresses theirs = list({"172.17.0.1", "fd77::2", "10.9.0.2"});
  Tries tries(theirs, {.ours = list({"172.17.0.1", "10.9.0.1"})});
  EXPECT_EQ(round_of(tries), "10.9.0.2:77 172.17.0.1:77 [fd77::2]:77");
  tries = Tries(theirs, {.ours = list({"172.17.0.1", "fd77::1"})});
  EXPECT_EQ(round_of(tries), "[fd77::2]:77 10.9.0.2:77 172.17.0.1:77");
}

TEST(Tries, of_a_rank_of_this_host_go_to_addresses_that_are_ours_too) {
  const Addresses both = list({"172.17.0.1", "10.9.0.1"});
  Tries tries(both, {.ours = both, .is_near = true});
  EXPECT_EQ(round_of(tries), "172.17.0.1:77 10.9.0.1:77");
}

TEST(Tries, begin_with_the_address_by_which_the_bootstrap_met_that_rank) {
  const Addresses theirs = list({"10.8.0.2", "10.9.0.2", "fd77::2"});
  for (const auto& [met, first] : {std::pair("10.9.0.2", "10.9.0.2:77 10.8.0.2:77 [fd77::2]:77"),
                                   std::pair("fd77::2", "[fd77::2]:77 10.8.0.2:77 10.9.0.2:77"),
                                   std::pair("10.1.1.1", "10.8.0.2:77 10.9.0.2:77 [fd77::2]:77")}) {
    Tries tries(theirs, {.ours = list({"10.8.0.1"}), .met = at(met, 1)});
    EXPECT_EQ(round_of(tries), first);
  }
}

TEST(Tries, of_one_address_or_none_are_over_at_once) {
  Tries one(list({"10.9.0.2"}), Tries::Here{});
  EXPECT_FALSE(one.has_more());
  EXPECT_FALSE(one.next(ETIMEDOUT));
  EXPECT_EQ(one.trouble(), ETIMEDOUT);
  Tries none;
  EXPECT_EQ(none.now().family, 0);
  EXPECT_FALSE(none.next(EAFNOSUPPORT));
}

TEST(Tries, say_of_each_address_what_stood_in_the_way_and_which_leaves_most_hope) {
  Tries tries(list({"10.9.0.2", "10.8.0.2", "10.7.0.2"}), {.ours = list({"10.9.0.1"})});
  ASSERT_TRUE(tries.next(Tries::kStranger));
  ASSERT_TRUE(tries.next(ETIMEDOUT));
  ASSERT_FALSE(tries.next(ECONNREFUSED));
  EXPECT_EQ(tries.trouble(), ETIMEDOUT);
  EXPECT_EQ(Tries(tries.order(), tries.troubles()).text(), tries.text()) << "as it is told";
  EXPECT_EQ(tries.text(),
            "10.9.0.2:77: who answers there cannot prove to be it; 10.8.0.2:77: Connection timed "
            "out; 10.7.0.2:77: Connection refused");
  ASSERT_TRUE(tries.next(Tries::kStranger));
  ASSERT_TRUE(tries.next(ECONNREFUSED));
  ASSERT_FALSE(tries.next(Tries::kStranger));
  EXPECT_EQ(tries.trouble(), ECONNREFUSED);
  ASSERT_TRUE(tries.next(Tries::kSilent));
  EXPECT_EQ(tries.trouble(), Tries::kSilent) << "it may compute";
}

// A bridge of the same name and number on both hosts refuses, or somebody behind it says nothing.
TEST(Tries, wait_for_a_rank_that_computes_where_its_host_is_known_to_be) {
  const Addresses theirs = list({"10.9.0.2", "172.17.0.1"});
  const Addresses ours = list({"10.9.0.1", "172.17.0.1"});
  for (const Tries::Here& here :
       {Tries::Here{.ours = ours, .met = at("10.9.0.2", 1)},
        Tries::Here{.ours = ours, .launchers_met = true}, Tries::Here{.ours = ours}}) {
    const bool is_known = here.met || here.launchers_met;
    Tries tries(theirs, here);
    EXPECT_TRUE(tries.is_hurried()) << "in the first round";
    ASSERT_TRUE(tries.next(Tries::kSilent));
    EXPECT_TRUE(tries.is_hurried());
    ASSERT_FALSE(tries.next(ECONNREFUSED));
    EXPECT_EQ(tries.may_compute(), is_known);
    EXPECT_EQ(tries.is_hurried(), !is_known) << "in the second one";
    ASSERT_TRUE(tries.next(ECONNREFUSED));
    ASSERT_FALSE(tries.next(Tries::kSilent));
    EXPECT_FALSE(tries.may_compute()) << "it is the bridge that says nothing";
    EXPECT_TRUE(tries.is_hurried());
  }
}

TEST(Tries, of_a_rank_of_this_host_lead_to_it_wherever_somebody_says_nothing) {
  const Addresses both = list({"172.17.0.1", "10.9.0.1"});
  Tries tries(both, {.ours = both, .is_near = true});
  ASSERT_TRUE(tries.next(ECONNREFUSED));
  ASSERT_FALSE(tries.next(Tries::kSilent));
  EXPECT_TRUE(tries.may_compute());
  EXPECT_TRUE(tries.is_hurried()) << "at the first, which refused";
  ASSERT_TRUE(tries.next(ECONNREFUSED));
  EXPECT_FALSE(tries.is_hurried());
}

TEST(Tries, wait_at_the_last_address_where_somebody_says_nothing_at_each) {
  Tries tries(list({"10.9.0.2", "10.8.0.2"}), {.ours = list({"10.9.0.1"})});
  EXPECT_EQ(round_of(tries, Tries::kSilent), "10.9.0.2:77 10.8.0.2:77");
  EXPECT_TRUE(tries.may_compute());
  EXPECT_TRUE(tries.is_hurried());
  ASSERT_TRUE(tries.next(Tries::kSilent));
  EXPECT_FALSE(tries.is_hurried());
}

TEST(Tries, of_one_address_wait_for_whoever_is_connected) {
  EXPECT_FALSE(Tries(list({"10.9.0.2"}), Tries::Here{}).is_hurried());
  EXPECT_FALSE(Tries().is_hurried());
}

TEST(Tries, give_each_trouble_an_errno_which_says_whether_that_rank_may_live) {
  EXPECT_EQ(trouble_errno(Tries::kSilent), ETIMEDOUT);
  EXPECT_EQ(trouble_errno(Tries::kStranger), 0);
  EXPECT_EQ(trouble_errno(ECONNREFUSED), ECONNREFUSED);
}

// In a network namespace of its own, with two ports for connections.
bool has_two_ports() {
  if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  ifreq loopback{};
  std::strcpy(loopback.ifr_name, "lo");
  loopback.ifr_flags = IFF_UP | IFF_RUNNING;
  const base::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  std::ofstream range("/proc/sys/net/ipv4/ip_local_port_range");
  range << "40000 40001" << std::flush;
  return ::ioctl(socket.get(), SIOCSIFFLAGS, &loopback) == 0 && range.good();
}

constexpr int kNoNamespace = 77;

// The troubles of three connections, or kNoNamespace.
[[noreturn]] void connect_three_times() {
  if (!has_two_ports()) ::_exit(kNoNamespace);
  Address listening = *choose_address("127.0.0.1", true);
  listening.port = 50'000;
  const auto listener = listen_at(listening);
  std::vector<base::UniqueFd> sockets;
  bool is_good = static_cast<bool>(listener);
  for (const int expected : {0, 0, Tries::kNoPort}) {
    sockets.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    is_good = is_good && begin_connection(sockets.back().get(), listening) == expected;
  }
  ::_exit(is_good ? 0 : 1);
}

TEST(Tries, find_that_no_port_is_left_for_a_connection) {
  const pid_t child = ::fork();
  if (child == 0) connect_three_times();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoNamespace)
    GTEST_SKIP() << "no network namespace of our own here";
  EXPECT_EQ(status, 0);
}

TEST(Tries, blame_the_range_of_ports_only_where_no_port_is_left) {
  EXPECT_NE(trouble_text(Tries::kNoPort).find("ip_local_port_range"), std::string::npos);
  EXPECT_EQ(trouble_errno(Tries::kNoPort), EADDRNOTAVAIL);
  EXPECT_EQ(trouble_text(EADDRNOTAVAIL).find("port"), std::string::npos);
}

}  // namespace
}  // namespace photon::boot
