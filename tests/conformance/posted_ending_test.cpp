// Fragments that a NIC refuses, keys that are taken back, full queues, and ranks that end.
#include "posted_nics.hpp"

namespace photon::test {
namespace {

TEST_P(PostedConformance, the_peers_nic_refuses_what_its_key_does_not_grant) {
  const auto source = pattern(100, 1);
  const auto with = [&](std::uint64_t address, std::uint64_t key) {
    PostedFragment fragment = nics().write(0, source);
    fragment.address = address;
    fragment.key = key;
    if (nics().is_named()) fragment.imm = 1;
    return nics().outcome(fragment);
  };
  const std::uint64_t begin = nics().at(0), end = nics().at(0) + kBytes;
  EXPECT_EQ(with(begin, kKey + 64), PH_ERR_KEY);  // the same slot
  EXPECT_EQ(with(begin, kKey + 1), PH_ERR_KEY);   // a free one
  EXPECT_EQ(with(begin, 0), PH_ERR_KEY);
  EXPECT_EQ(with(begin - 1, kKey), PH_ERR_RANGE);
  EXPECT_EQ(with(end - 99, kKey), PH_ERR_RANGE);
  EXPECT_EQ(with(end, kKey), PH_ERR_RANGE);
  EXPECT_EQ(with(~std::uint64_t{0} - 50, kKey), PH_ERR_RANGE);
  std::vector<std::byte> landing(100);
  nics().republish(PH_ACCESS_READ);
  EXPECT_EQ(with(begin, kKey), PH_ERR_ACCESS);
  EXPECT_EQ(nics().outcome(nics().read(0, landing)), PH_OK);
  nics().republish(PH_ACCESS_WRITE);
  EXPECT_EQ(nics().outcome(nics().read(0, landing)), PH_ERR_ACCESS);
  nics().job.settle();
  EXPECT_TRUE(nics().names().empty()) << "a refused fragment was told";
  EXPECT_EQ(nics().memory, std::vector<std::byte>(kBytes));
  EXPECT_EQ(with(end - 100, kKey), PH_OK);
}

TEST_P(PostedConformance, after_quiesce_nothing_changes_under_a_revoked_key) {
  for (unsigned polls = 0; polls < 40; ++polls) {
    renew();
    const auto source = pattern(kBytes, 1);
    std::size_t posted = 0;
    for (const auto fragment = nics().write(0, source);
         posted < 3 && nics().job[0].transport().post(fragment);)
      ++posted;
    for (unsigned i = 0; i < polls; ++i) nics().job[0].poll();
    nics().revoke();
    const auto before = nics().memory;
    ASSERT_TRUE(nics().over(posted));
    EXPECT_EQ(nics().outcome(nics().write(0, source)), PH_ERR_KEY);
    nics().job.settle();
    EXPECT_EQ(nics().memory, before);
  }
}

TEST_P(PostedConformance, a_full_queue_loses_nothing_and_comes_free_again) {
  const auto source = pattern(10, 1);
  constexpr std::size_t kMost = 1 << 20;
  std::size_t posted = 0;
  while (posted < kMost && nics().job[0].transport().post(nics().write(0, source))) ++posted;
  if (posted == kMost) GTEST_SKIP() << "the queue has no end that a test would find";
  ASSERT_GT(posted, 0u);
  EXPECT_FALSE(nics().job[0].transport().post(nics().write(0, source)));
  ASSERT_TRUE(nics().over(posted));
  std::size_t again = 0;
  while (nics().job[0].transport().post(nics().write(0, source))) ++again;
  EXPECT_EQ(again, posted);
  ASSERT_TRUE(nics().over(posted + again));
  nics().job.settle();
  EXPECT_EQ(nics().done().size(), posted + again) << "what did not fit was told";
}

TEST_P(PostedConformance, a_rank_that_ends_answers_all_fragments_before_it_is_gone) {
  for (unsigned polls = 0; polls < 40; ++polls) {
    renew();
    const auto source = pattern(1000, 1);
    std::size_t posted = 0;
    while (posted < 4 && nics().job[0].transport().post(nics().write(1000 * posted, source)))
      ++posted;
    for (unsigned i = 0; i < polls; ++i) nics().job[0].poll();
    nics().job.end(1);
    const auto before = nics().memory;
    ASSERT_TRUE(nics().job.eventually([&] {
      if (nics().job[0].seen(1).gone_count == 0) return false;
      EXPECT_EQ(nics().done().size(), posted);
      return true;
    }));
    for (const Peer::Done& one : nics().done()) {
      const std::size_t offset = 1000 * (one.token - 1000);
      EXPECT_EQ(one.status, nics().there(offset, source) ? PH_OK : PH_ERR_PEER);
    }
    nics().job.settle();
    EXPECT_EQ(nics().done().size(), posted);
    EXPECT_EQ(nics().memory, before) << "it was written to after its end";
    EXPECT_EQ(nics().job[0].transport().reach(1, nics().at(0), 8).kind, Reach::Kind::none);
  }
}

TEST_P(PostedConformance, an_initiator_that_ends_leaves_its_memory_alone) {
  for (unsigned polls = 0; polls < 40; ++polls) {
    renew();
    auto source = pattern(kBytes, 1);
    ASSERT_TRUE(nics().post(nics().write(0, source)));
    for (unsigned i = 0; i < polls; ++i) nics().job[1].poll();
    nics().job.end(0);
    std::fill(source.begin(), source.end(), std::byte{0xee});
    nics().job.settle();
    EXPECT_EQ(std::count(nics().memory.begin(), nics().memory.end(), std::byte{0xee}), 0);
  }
}

}  // namespace
}  // namespace photon::test
