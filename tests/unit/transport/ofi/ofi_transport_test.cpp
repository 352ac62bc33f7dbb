// Opening, ending, and what is said of paths.
#include "ofi_ranks.hpp"

namespace photon::transport::ofi::test {
namespace {

class OfiTransportTest : public OfiTest {};

TEST_F(OfiTransportTest, describes_each_path_by_its_provider) {
  OfiRanks ranks(2);
  ph_path path{};
  ranks[0].transport->describe(1, path);
  EXPECT_NE(std::string(path.reason).find("no contact yet"), std::string::npos) << path.reason;
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[0].transport->describe(1, path);
  EXPECT_STREQ(path.transport, "ofi");
  EXPECT_NE(std::string(path.reason).find("fake (here)"), std::string::npos) << path.reason;
  ranks.tell(0, std::uint64_t{4711});
  ranks.settle();
  ranks[0].transport->describe(0, path);
  EXPECT_STREQ(path.transport, "self");
  EXPECT_NE(std::string(path.reason).find("refused 1"), std::string::npos) << path.reason;
}

TEST_F(OfiTransportTest, a_provider_whose_messages_are_short_gets_short_ones) {
  OfiRanks ranks(2, {.most_bytes = kLeastMessageBytes});
  ASSERT_TRUE(ranks.join(0, 1));
  ph_path path{};
  ranks[0].transport->describe(1, path);
  EXPECT_NE(std::string(path.reason).find("4096 bytes"), std::string::npos) << path.reason;
}

TEST_F(OfiTransportTest, what_the_fabric_says_when_it_does_not_open_is_the_error) {
  MemoryJob job(1);
  const auto boot = job.boot(0);
  const auto opened = open_ofi_over(
      ofi_config(), *boot, [](const FabricWants& wants) -> base::Result<std::unique_ptr<Fabric>> {
        return base::Error{PH_ERR_CONFIG, 0, "no " + std::string(wants.provider)};
      });
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().what, "no auto");
}

TEST_F(OfiTransportTest, ends_at_any_time_whatever_is_under_way) {
  OfiRanks ranks(2, {.wants_memory_shown = true});
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[0].fabric().hold_completions(true);
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(ranks[0].say(1, i));
  ranks[0].transport.reset();
  ranks.settle();
}

}  // namespace
}  // namespace photon::transport::ofi::test
