// In which order a rank's addresses are tried, and what is said when none was it.
#include "boot/tries.hpp"

#include <gtest/gtest.h>

#include <cerrno>
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

}  // namespace
}  // namespace photon::boot
