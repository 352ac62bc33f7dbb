// Endpoints of libfabric beside the first: messages leave by the one that is named, and arrive at
// whichever they are sent to.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

#include "real_fabric.hpp"
#include "transport/ofi/fabric.hpp"
#include "watchdog.hpp"

namespace photon::transport::ofi {
namespace {

constexpr std::size_t kReceived = 4;

struct Talker {
  base::Result<std::unique_ptr<Fabric>> fabric = open_fabric({.provider = photon::test::kRxm,
                                                              .domain = "auto",
                                                              .is_one_host = true,
                                                              .peers_count = 1,
                                                              .sends_count = 1,
                                                              .receives_count = kReceived});
  std::array<std::byte, 8> said{}, heard[kReceived]{};
  Operation sent, receives[kReceived];
  std::map<const Operation*, unsigned> over;

  void receive(std::size_t index) {
    ASSERT_EQ((*fabric)->receive({heard[index]}, receives[index]), Taken::yes);
  }
  void look() {
    Completion completions[kReceived];
    std::size_t count = 0;
    ASSERT_EQ((*fabric)->read(completions, count), Fabric::Got::some) << (*fabric)->words();
    for (std::size_t i = 0; i < count; ++i) ++over[completions[i].operation];
  }
  unsigned heard_count() const {
    unsigned count = 0;
    for (const Operation& one : receives) {
      const auto found = over.find(&one);
      if (found != over.end()) count += found->second;
    }
    return count;
  }
};

TEST(FabricEndpoints, carry_messages_by_their_own_addresses_and_share_the_receives) {
  if (photon::test::no_real_fabric() != nullptr) GTEST_SKIP() << photon::test::no_real_fabric();
  const photon::test::Watchdog watchdog{std::chrono::seconds(60)};
  Talker a, b;
  ASSERT_TRUE(a.fabric && b.fabric);
  for (Talker* side : {&a, &b}) {
    ASSERT_TRUE((*side->fabric)->open_endpoint());
    ASSERT_EQ((*side->fabric)->endpoints_count(), 2u);
    for (std::size_t i = 0; i < kReceived; ++i) side->receive(i);
  }
  for (const Operation& one : a.receives) EXPECT_EQ(one.by, (&one - a.receives) % 2);
  unsigned expected = 0;
  for (const std::size_t from : {0u, 1u})
    for (const std::size_t at : {1u, 0u}) {
      const auto to = (*a.fabric)->insert((*b.fabric)->address(at));
      ASSERT_TRUE(to) << to.error().what;
      a.sent.rank = 1;
      while ((*a.fabric)->send({*to, from}, {a.said}, a.sent) != Taken::yes) {
        a.look();
        b.look();
      }
      ++expected;
      while (b.heard_count() < expected || a.over[&a.sent] < expected) {
        a.look();
        b.look();
      }
    }
  // Two came to each; what is posted next goes to both again.
  b.over.clear();
  for (std::size_t i = 0; i < kReceived; ++i) b.receive(i);
  unsigned second = 0;
  for (const Operation& one : b.receives) second += one.by;
  EXPECT_EQ(second, 2u);
  for (Talker* side : {&a, &b}) (*side->fabric)->stop();
}

}  // namespace
}  // namespace photon::transport::ofi
