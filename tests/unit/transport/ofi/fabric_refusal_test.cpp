// What libfabric itself offers and this transport cannot use: the error names each provider that
// was tried, and why it was refused.
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <thread>

#include "real_fabric.hpp"
#include "transport/ofi/fabric.hpp"
#include "watchdog.hpp"

namespace photon::transport::ofi {
namespace {

class FabricRefusal : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* why = photon::test::no_real_fabric()) GTEST_SKIP() << why;
  }
  // What is said of what is asked for, which is refused.
  static std::string said_of(std::string_view provider, std::string_view domain,
                             bool is_one_host = true) {
    const auto opened = open_fabric({.provider = provider,
                                     .domain = domain,
                                     .is_one_host = is_one_host,
                                     .peers_count = 1,
                                     .sends_count = 4,
                                     .receives_count = 4,
                                     .fragments_count = 4});
    EXPECT_FALSE(opened) << provider << " " << domain;
    if (opened) return {};
    EXPECT_EQ(opened.error().status, PH_ERR_CONFIG);
    return opened.error().what;
  }
  static void expect_told(const std::string& said, const std::string& part) {
    EXPECT_NE(said.find(part), std::string::npos) << said << "\ndoes not say: " << part;
  }

 private:
  photon::test::Watchdog watchdog_{std::chrono::seconds(60)};
};

TEST_F(FabricRefusal, a_misspelt_provider_is_told_with_those_that_there_are) {
  const std::string said = said_of("tpc;ofi_rxm", "auto");
  expect_told(said, "ofi_provider = tpc;ofi_rxm");
  expect_told(said, "none of that name");
  expect_told(said, photon::test::kRxm);
}

TEST_F(FabricRefusal, one_that_there_is_under_another_name_is_told_by_its_own) {
  const std::string said = said_of("TCP", "auto");
  expect_told(said, "ofi_provider = TCP");
  expect_told(said, "tcp;ofi_rxm (lo) is not what setting ofi_provider names");
}

TEST_F(FabricRefusal, a_misspelt_domain_is_told_for_each_domain_of_each_provider) {
  std::string said = said_of("udp", "lO");
  expect_told(said, "ofi_domain = lO");
  if (said.find("none of that name") == std::string::npos)
    expect_told(said, "udp;ofi_rxd (lo) is not of the domain that setting ofi_domain names");
  said = said_of("auto", "lO");
  for (const char* one : {"tcp;ofi_rxm (lo)", "shm (shm)"})
    expect_told(said, std::string(one) + " is not of the domain that setting ofi_domain names");
}

// A host whose only interface is the loopback, and a job of several.
TEST_F(FabricRefusal, what_reaches_no_other_host_is_told_for_each_provider) {
  bool has_network = false;
  std::thread([&] {
    has_network = ::unshare(CLONE_NEWNET) == 0 && std::system("ip link set lo up") == 0;
    if (!has_network) return;
    const std::string said = said_of("auto", "auto", false);
    expect_told(said, "tcp;ofi_rxm (lo) is the loopback, and there are ranks on other hosts");
    expect_told(said, "shm (shm) reaches this host only");
    expect_told(said, "udp;ofi_rxd (lo) is a best effort over datagrams");
  }).join();
  if (!has_network) GTEST_SKIP() << "no network namespace here: it needs root and ip(8)";
}

}  // namespace
}  // namespace photon::transport::ofi
