// Our own memory, where the provider wants it registered for fragments.
#include <unistd.h>

#include <vector>

#include "ofi_ranks.hpp"

namespace photon::transport::ofi::test {
namespace {

class OfiLocals : public OfiTest {
 protected:
  OfiRanks ranks(const FakeManners& manners) {
    base::Config config = ofi_config();
    config.ofi_direct_least_bytes = 64;
    return OfiRanks(2, manners, config);
  }
  std::vector<std::byte> own_ = std::vector<std::byte>(1 << 16);
};

TEST_F(OfiLocals, are_wanted_by_pages_where_the_provider_registers_and_there_are_rma_endpoints) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(ranks({.has_rma_endpoints = true, .registers_all = true})[0].transport->local_granule(),
            page);
  EXPECT_EQ(ranks({.has_rma_endpoints = true})[0].transport->local_granule(), 0u);
  EXPECT_EQ(ranks({.registers_all = true})[0].transport->local_granule(), 0u);
}

// The fake minds what its end finds registered.
TEST_F(OfiLocals, end_one_by_one_or_with_the_transport) {
  auto job = ranks({.has_rma_endpoints = true, .registers_all = true});
  Transport& us = *job[0].transport;
  const std::size_t before = job[0].fabric().shown();
  const auto one = us.register_local(own_, false), other = us.register_local(own_, true);
  ASSERT_TRUE(one && other);
  EXPECT_NE(*one, *other);
  EXPECT_EQ(job[0].fabric().shown(), before + 2);
  us.unregister_local(*one);
  EXPECT_EQ(job[0].fabric().shown(), before + 1);
}

TEST_F(OfiLocals, beyond_the_limit_of_the_endpoint_info_are_refused_as_memory) {
  auto job = ranks({.has_rma_endpoints = true, .registers_all = true, .registers_most = 1});
  Transport& us = *job[0].transport;
  const auto one = us.register_local(own_, false);
  ASSERT_TRUE(one);
  const auto more = us.register_local(own_, false);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().status, PH_ERR_MEMORY);
  us.unregister_local(*one);
  EXPECT_TRUE(us.register_local(own_, false));
}

}  // namespace
}  // namespace photon::transport::ofi::test
