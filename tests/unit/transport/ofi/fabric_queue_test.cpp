// What is over by libfabric itself: each operation once, however many parts it was made in and
// however few completions are asked for at a time.
#include <gtest/gtest.h>
#include <photon/memory.h>

#include <algorithm>
#include <map>
#include <vector>

#include "real_fabric.hpp"
#include "transport/ofi/fabric.hpp"
#include "watchdog.hpp"

namespace photon::transport::ofi {
namespace {

constexpr std::size_t kFragmentsUnderWay = 6;

struct End {
  base::Result<std::unique_ptr<Fabric>> fabric = open_fabric({.provider = photon::test::kRxm,
                                                              .domain = "auto",
                                                              .is_one_host = true,
                                                              .peers_count = 1,
                                                              .sends_count = 1,
                                                              .receives_count = 1,
                                                              .fragments_count = kFragmentsUnderWay,
                                                              .told_count = kFragmentsUnderWay});
  std::unique_ptr<RmaEndpoint> rma_endpoint;
  std::map<const Operation*, unsigned> over;
  std::vector<std::uint64_t> told;
  std::size_t most_at_a_time = 1;

  // How many were found.
  std::size_t look() {
    std::vector<Completion> found(most_at_a_time);
    std::size_t count = 0;
    EXPECT_EQ((*fabric)->read(found, count), Fabric::Got::some) << (*fabric)->words();
    for (const Completion& one : std::span(found).first(count)) {
      if (one.operation != nullptr)
        ++over[one.operation];
      else
        told.push_back(one.data.value());
    }
    return count;
  }
};

class FabricQueue : public testing::TestWithParam<std::size_t> {};

TEST_P(FabricQueue, tells_each_fragment_once_and_each_that_tells_to_its_target_in_order) {
  if (photon::test::no_real_fabric() != nullptr) GTEST_SKIP() << photon::test::no_real_fabric();
  const photon::test::Watchdog watchdog{std::chrono::seconds(60)};
  End here, there;
  ASSERT_TRUE(here.fabric && there.fabric);
  here.most_at_a_time = GetParam();
  for (End* end : {&here, &there}) {
    auto rma_endpoint = (*end->fabric)->open_rma_endpoint();
    ASSERT_TRUE(rma_endpoint) << rma_endpoint.error().what;
    end->rma_endpoint = std::move(*rma_endpoint);
  }
  std::vector<std::byte> memory(1 << 16), source(1 << 16, std::byte{7});
  const auto exposed =
      (*there.fabric)->expose({memory, 0x5eed'5eed, PH_ACCESS_ALL}, *there.rma_endpoint);
  const auto to = (*here.fabric)->insert(there.rma_endpoint->address());
  ASSERT_TRUE(exposed && to);
  Operation operations[kFragmentsUnderWay];
  std::vector<std::uint64_t> sent;
  for (std::uint64_t i = 0; i < kFragmentsUnderWay; ++i) {
    if (i % 3 != 0) sent.push_back(operations[i].data.emplace(i));
    while (here.rma_endpoint->write(*to, {source, 0}, {exposed->begin, exposed->key},
                                    operations[i]) == Taken::full)
      here.look(), there.look();
    ASSERT_EQ(operations[i].data.has_value(), i % 3 != 0);
  }
  while (here.over.size() < kFragmentsUnderWay || there.told.size() < sent.size())
    here.look(), there.look();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(here.look(), 0u);
    EXPECT_EQ(there.look(), 0u);
  }
  for (const Operation& one : operations) EXPECT_EQ(here.over[&one], 1u);
  EXPECT_EQ(there.told, sent);
  EXPECT_TRUE(memory == source);
  (*there.fabric)->conceal(*exposed);
  for (End* end : {&here, &there}) {
    end->rma_endpoint.reset();
    (*end->fabric)->stop();
  }
}

INSTANTIATE_TEST_SUITE_P(at_a_time, FabricQueue, testing::Values(1, 2, 32),
                         [](const auto& one) { return std::to_string(one.param); });

}  // namespace
}  // namespace photon::transport::ofi
