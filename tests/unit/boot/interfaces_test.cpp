// Which interface is taken, and what is said of each that is not.
#include "boot/interfaces.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <functional>
#include <thread>

namespace photon::boot {
namespace {

constexpr InterfaceWish kOneHost{"auto", true};
constexpr InterfaceWish kHosts{"auto", false};

Interface made(const char* name, bool is_up, const std::vector<const char*>& addresses) {
  Interface one{.name = name, .is_up = is_up, .is_loopback = std::string(name) == "lo"};
  for (const char* text : addresses) one.addresses.push_back(*choose_address(text, true));
  return one;
}

std::string texts(const std::vector<Address>& addresses) {
  std::string text;
  for (const Address& one : addresses) text += one.text() + " ";
  return text;
}

TEST(Interfaces, are_judged_by_what_is_wanted_of_them) {
  const Interface lo = made("lo", true, {"127.0.0.1", "::1"});
  const Interface eth = made("eth0", true, {"10.0.0.7"});
  EXPECT_EQ(refusal(lo, kOneHost), nullptr);
  EXPECT_NE(refusal(lo, kHosts), nullptr);
  EXPECT_EQ(refusal(lo, {"lo", false}), nullptr) << "who names it gets it";
  EXPECT_NE(refusal(eth, kOneHost), nullptr);
  EXPECT_EQ(refusal(eth, kHosts), nullptr);
  EXPECT_NE(refusal(eth, {"eth1", false}), nullptr);
  EXPECT_NE(refusal(made("eth0", false, {"10.0.0.7"}), kHosts), nullptr);
  EXPECT_NE(refusal(made("eth0", true, {}), {"eth0", false}), nullptr);
  EXPECT_NE(refusal(made("eth0", true, {"fe80::1"}), kHosts), nullptr);
  EXPECT_EQ(refusal(made("eth0", true, {"fe80::1", "fd77::1"}), kHosts), nullptr);
}

TEST(Interfaces, of_ipv4_come_first_and_addresses_of_a_link_never) {
  const std::vector<Interface> all = {made("a", true, {"fe80::1", "fd77::1"}),
                                      made("b", true, {"10.0.0.8"})};
  EXPECT_EQ(texts(choose(all, kHosts)), "10.0.0.8:0 [fd77::1]:0 ");
  EXPECT_EQ(texts(choose(all, {"a", false})), "[fd77::1]:0 ");
  EXPECT_EQ(texts(choose(all, kOneHost)), "");
}

TEST(Interfaces, that_are_preferred_come_first_and_those_without_a_carrier_last) {
  std::vector<Interface> all = {
      made("lo", true, {"127.0.0.1", "::1"}), made("docker0", true, {"172.17.0.1"}),
      made("eth0", true, {"10.9.0.1", "fd77::1"}), made("eth1", true, {"10.8.0.1"}),
      made("eth2", false, {"10.7.0.1"})};
  all[1].is_running = false;
  EXPECT_EQ(texts(choose(all, kHosts)), "10.9.0.1:0 10.8.0.1:0 [fd77::1]:0 172.17.0.1:0 ");
  const std::vector<Address> met = {*choose_address("10.8.0.1", true),
                                    *choose_address("10.3.3.3", true)};
  EXPECT_EQ(texts(choose(all, kHosts, met)), "10.8.0.1:0 10.9.0.1:0 [fd77::1]:0 172.17.0.1:0 ");
  EXPECT_EQ(texts(choose(all, kOneHost, met)), "127.0.0.1:0 ") << "one will do on one host";
}

TEST(Interfaces, that_are_not_taken_are_named_each_with_its_reason) {
  const std::vector<Interface> all = {made("lo", true, {"127.0.0.1", "::1"}),
                                      made("eth0", false, {}), made("eth1", true, {}),
                                      made("eth2", true, {"fe80::7"})};
  const std::string said = refusals(all, kHosts);
  for (const char* part :
       {"lo 127.0.0.1 [::1] is the loopback", "eth0 is down", "eth1 has no IPv4 or IPv6 address",
        "eth2 [fe80::7] has only an address of its link"})
    EXPECT_NE(said.find(part), std::string::npos) << said << " does not say: " << part;
  EXPECT_EQ(refusals(all, {"eth0", false}).find("eth0 is down; "), 0u) << "what was named is first";
  EXPECT_EQ(refusals({}, kHosts), "there is none");
}

bool ip(const std::string& words) { return std::system(("ip " + words).c_str()) == 0; }

// In a thread with a network of its own, of which it changes what it likes.
void in_a_network_of_its_own(const std::function<void()>& look) {
  bool has_network = false;
  std::thread([&] {
    has_network =
        ::unshare(CLONE_NEWNET) == 0 && ip("link add v0 type veth peer name v1 2>/dev/null");
    if (has_network) look();
  }).join();
  if (!has_network) GTEST_SKIP() << "no network namespace here: it needs root and ip(8)";
}

std::string why_none(std::string_view wanted, bool is_one_host) {
  const auto chosen = choose_address(wanted, is_one_host);
  EXPECT_FALSE(chosen) << chosen->text();
  return chosen ? "" : chosen.error().what;
}

void expect_told(const std::string& said, const std::string& part) {
  EXPECT_NE(said.find(part), std::string::npos) << said << " does not say: " << part;
}

TEST(Interfaces, of_this_machine_are_each_told_why_they_are_not_taken) {
  in_a_network_of_its_own([] {
    ASSERT_TRUE(ip("link set lo up"));
    std::string said = why_none("auto", false);
    expect_told(said, "lo 127.0.0.1 [::1] is the loopback, which ranks on other hosts");
    expect_told(said, "v0 is down");
    expect_told(said, "v1 is down");
    said = why_none("v1", false);
    expect_told(said, "tcp_interface = \"v1\"");
    expect_told(said, ": v1 is down; ");
    expect_told(said, "v0 is another");
    ASSERT_TRUE(ip("link set v0 addrgenmode none && ip link set v0 up"));
    expect_told(why_none("auto", false), "v0 has no IPv4 or IPv6 address");
    ASSERT_TRUE(ip("address add fe80::77/64 dev v0 nodad"));
    expect_told(why_none("auto", false), "v0 [fe80::77] has only an address of its link");
    ASSERT_TRUE(ip("address add 10.77.0.1/24 dev v0"));
    const auto chosen = choose_address("auto", false);
    ASSERT_TRUE(chosen) << chosen.error().what;
    EXPECT_EQ(chosen->text(), "10.77.0.1:0");
  });
}

}  // namespace
}  // namespace photon::boot
