// Fragments that NICs move: when they have landed and who is told, in which order.
#include <map>

#include "posted_nics.hpp"

namespace photon::test {
namespace {

TEST_P(PostedConformance, nothing_is_posted_to_a_rank_that_was_never_met) {
  EXPECT_EQ(nics().job[0].transport().reach(2, nics().at(0), 8).kind, Reach::Kind::none);
}

TEST_P(PostedConformance, the_ranks_of_a_job_agree_on_what_a_write_tells) {
  for (transport::Rank rank = 0; rank < 3; ++rank)
    EXPECT_EQ(nics().job[rank].transport().has_imm(rank == 1 ? 0 : 1), nics().is_named());
}

TEST_P(PostedConformance, the_bytes_of_a_write_are_there_when_either_side_hears_of_it) {
  std::size_t offset = 0;
  unsigned told = 0, done = 0;
  std::span<const std::byte> bytes;
  nics().job[0].at_done = [&](const Peer::Done& one) {
    EXPECT_EQ(one.status, PH_OK);
    EXPECT_TRUE(nics().there(offset, bytes));
    ++done;
  };
  nics().job[1].at_fragment = [&](std::uint32_t name) {
    EXPECT_EQ(name, 77 + told);
    EXPECT_TRUE(nics().there(offset, bytes));
    ++told;
  };
  for (unsigned i = 0; i < 60; ++i) {
    const std::size_t size_bytes = i < 4 ? 1 + i : 97 * i;
    const auto source = pattern(size_bytes, i);
    offset = 13 * i;
    bytes = source;
    PostedFragment fragment = nics().write(offset, source);
    if (nics().is_named()) fragment.imm = 77 + i;
    ASSERT_TRUE(nics().post(fragment));
    ASSERT_TRUE(nics().over(i + 1));
    ASSERT_TRUE(nics().job.eventually([&] { return !nics().is_named() || told == i + 1; }));
  }
  nics().job.settle();
  EXPECT_EQ(done, 60u);
  EXPECT_EQ(told, nics().is_named() ? 60u : 0u);
}

TEST_P(PostedConformance, a_write_changes_no_byte_beside_it) {
  const auto source = pattern(1000, 1);
  ASSERT_EQ(nics().outcome(nics().write(5000, source)), PH_OK);
  EXPECT_TRUE(nics().there(5000, source));
  for (std::size_t i = 0; i < kBytes; ++i)
    ASSERT_EQ(nics().memory[i] == std::byte{0}, i < 5000 || i >= 6000) << i;
}

TEST_P(PostedConformance, a_read_has_landed_when_it_is_over) {
  nics().memory = pattern(kBytes, 3);
  nics().republish(PH_ACCESS_READ);
  std::vector<std::byte> landing(5000 + 2);
  ASSERT_EQ(nics().outcome(nics().read(100, {landing.data() + 1, 5000})), PH_OK);
  EXPECT_TRUE(nics().there(100, {landing.data() + 1, 5000}));
  EXPECT_EQ(landing.front(), std::byte{0});
  EXPECT_EQ(landing.back(), std::byte{0});
  nics().job.settle();
  EXPECT_TRUE(nics().names().empty()) << "a read tells nobody";
}

TEST_P(PostedConformance, only_fragments_with_a_name_are_told_each_once) {
  const auto source = pattern(64, 1);
  std::map<std::uint32_t, unsigned> wanted;
  for (std::uint32_t i = 0; i < 200; ++i) {
    PostedFragment fragment = nics().write(64 * (i % 200), source);
    if (nics().is_named() && i % 3 != 0) {
      fragment.imm = i % 50 + 0xff'ff00;  // some names come again
      ++wanted[*fragment.imm];
    }
    ASSERT_TRUE(nics().post(fragment));
  }
  ASSERT_TRUE(nics().over(200));
  nics().job.settle();
  std::map<std::uint32_t, unsigned> told;
  for (const std::uint32_t imm : nics().names()) ++told[imm];
  EXPECT_EQ(told, wanted);
  EXPECT_EQ(nics().done().size(), 200u);
}

TEST_P(PostedConformance, each_fragment_is_over_once_with_its_token) {
  std::vector<std::vector<std::byte>> landings(100, std::vector<std::byte>(70));
  const auto source = pattern(50, 1);
  std::vector<std::uint64_t> wanted;
  for (std::size_t i = 0; i < 100; ++i) {
    const PostedFragment fragment =
        i % 2 == 0 ? nics().write(50 * i, source) : nics().read(50 * i, landings[i]);
    wanted.push_back(fragment.token);
    ASSERT_TRUE(nics().post(fragment));
  }
  ASSERT_TRUE(nics().over(100));
  nics().job.settle();
  std::vector<std::uint64_t> told;
  for (const Peer::Done& one : nics().done()) told.push_back(one.token);
  std::sort(told.begin(), told.end());
  EXPECT_EQ(told, wanted);
}

TEST_P(PostedConformance, registrations_of_own_memory_overlap_and_each_ends_for_itself) {
  transport::Transport& nic = nics().job[0].transport();
  const std::uint64_t granule = nic.local_granule();
  if (granule == 0) GTEST_SKIP() << "the NIC takes any memory";
  EXPECT_EQ(granule & (granule - 1), 0u);
  std::vector<std::byte> own(8 * granule + 64, std::byte{7});
  const auto address = reinterpret_cast<std::uintptr_t>(own.data());
  const auto* begin =
      reinterpret_cast<const std::byte*>((address + granule - 1) & ~std::uint64_t{granule - 1});
  const auto wide = nic.register_local({begin, 6 * granule}, false);
  const auto again = nic.register_local({begin, 6 * granule}, true);
  const auto inner = nic.register_local({begin + granule, granule}, false);
  ASSERT_TRUE(wide && again && inner);
  EXPECT_NE(*wide, 0u);
  EXPECT_NE(*wide, *again);
  EXPECT_NE(*again, *inner);
  const auto write = [&](std::uint64_t handle) {
    PostedFragment fragment = nics().write(0, {begin + granule, granule});
    fragment.local = handle;
    return nics().outcome(fragment);
  };
  EXPECT_EQ(write(*wide), PH_OK);
  nic.unregister_local(*wide);
  EXPECT_EQ(write(*again), PH_OK);
  EXPECT_EQ(write(*inner), PH_OK);
  nic.unregister_local(*inner);
  EXPECT_EQ(write(*again), PH_OK);
}

// The engine's counting rests on this.
TEST_P(PostedConformance,
       a_fragment_is_told_before_what_its_initiator_publishes_after_it_was_over) {
  if (!nics().is_named()) GTEST_SKIP() << "nothing is told to the target";
  const auto source = pattern(300, 1);
  std::size_t told = 0;
  nics().job[1].at_fragment = [&](std::uint32_t) { ++told; };
  for (std::uint32_t i = 0; i < 100; ++i) {
    PostedFragment fragment = nics().write(0, source);
    fragment.imm = i;
    ASSERT_TRUE(nics().post(fragment));
    ASSERT_TRUE(nics().over(i + 1));
    ASSERT_TRUE(nics().job[0].to(1).send(record_of_lines(1, i)));
    ASSERT_TRUE(nics().job.eventually([&] { return nics().job[1].to(0).has_record(); }));
    EXPECT_EQ(told, i + 1) << "the record has overtaken it";
    nics().job[1].to(0).receive();
  }
}

}  // namespace
INSTANTIATE_TEST_SUITE_P(transport, PostedConformance, testing::ValuesIn(nic_kinds()),
                         [](const auto& one) { return std::string(one.param.name); });
}  // namespace photon::test
