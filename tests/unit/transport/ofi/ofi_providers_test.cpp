#include "transport/ofi/ofi_providers.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photon::transport::ofi {
namespace {

constexpr Offer kRxm{"tcp;ofi_rxm", "eth0", 1 << 20};

FabricWants wants(std::string_view provider, std::string_view domain, bool is_one_host) {
  return {.provider = provider, .domain = domain, .is_one_host = is_one_host};
}

TEST(Providers, whose_messages_cannot_hold_a_record_are_refused) {
  EXPECT_EQ(refusal(kRxm, wants("auto", "auto", true)), nullptr);
  Offer other = kRxm;
  other.most_bytes = kLeastMessageBytes - 1;
  EXPECT_NE(refusal(other, wants("auto", "auto", true)), nullptr);
}

TEST(Providers, that_are_named_are_the_only_ones_and_stand_for_what_is_layered_over_them) {
  EXPECT_EQ(refusal(kRxm, wants("tcp;ofi_rxm", "auto", true)), nullptr);
  EXPECT_EQ(refusal(kRxm, wants("tcp", "auto", true)), nullptr);
  EXPECT_NE(refusal(kRxm, wants("tc", "auto", true)), nullptr);
  EXPECT_NE(refusal(kRxm, wants("verbs", "auto", true)), nullptr);
}

TEST(Providers, that_nobody_should_get_unasked_are_taken_when_named) {
  for (const char* name : {"shm", "sockets", "net", "udp;ofi_rxd"}) {
    const Offer offer{name, "lo", 1 << 20};
    EXPECT_NE(refusal(offer, wants("auto", "auto", true)), nullptr) << name;
    EXPECT_EQ(refusal(offer, wants(name, "auto", true)), nullptr) << name;
  }
}

TEST(Providers, of_the_loopback_are_for_jobs_of_one_host_and_first_there) {
  const Offer loopback{"tcp;ofi_rxm", "lo", 1 << 20};
  EXPECT_EQ(refusal(loopback, wants("auto", "auto", true)), nullptr);
  const std::vector<Offer> both = {kRxm, loopback};
  EXPECT_EQ(choice(both, wants("auto", "auto", true)), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(choice(both, wants("auto", "auto", false)), (std::vector<std::size_t>{0}));
  EXPECT_NE(refusal(loopback, wants("auto", "auto", false)), nullptr);
  EXPECT_EQ(refusal(loopback, wants("auto", "lo", false)), nullptr) << "who names it gets it";
  EXPECT_NE(refusal(kRxm, wants("auto", "lo", true)), nullptr);
}

// The list goes from fast to slow: that others have met us there makes no provider faster.
TEST(Providers, begin_where_others_have_met_us_and_keep_their_order_otherwise) {
  std::vector<Offer> offers = {{"verbs;ofi_rxm", "mlx5_0", 1 << 20},
                               {"tcp;ofi_rxm", "docker0", 1 << 20},
                               {"tcp;ofi_rxm", "eth1", 1 << 20},
                               {"udp", "eth0", 1 << 20},
                               {"tcp;ofi_rxm", "eth0", 1 << 20}};
  using Order = std::vector<std::size_t>;
  EXPECT_EQ(choice(offers, wants("auto", "auto", false)), (Order{0, 1, 2, 4, 3}));
  offers[4].is_met = offers[3].is_met = true;
  EXPECT_EQ(choice(offers, wants("auto", "auto", false)), (Order{0, 4, 1, 2, 3}));
  EXPECT_EQ(choice(offers, wants("tcp", "eth1", false)), (Order{2}));
}

TEST(Providers, have_other_domains_that_an_error_names_with_the_setting_that_chooses) {
  const std::vector<Offer> offers = {{"tcp;ofi_rxm", "docker0", 1 << 20},
                                     {"tcp;ofi_rxm", "eth1", 1 << 20, true},
                                     {"tcp;ofi_rxm", "eth1", 1 << 20},
                                     {"tcp;ofi_rxm", "lo", 1 << 20},
                                     {"udp", "eth0", 1 << 20}};
  Fabric::Traits traits{.provider = "tcp;ofi_rxm", .domain = "eth1"};
  EXPECT_EQ(way_text(traits), "; tried by tcp;ofi_rxm, domain eth1");
  traits.other_domains = others_than(offers, 1, wants("auto", "auto", false));
  EXPECT_EQ(traits.other_domains, std::vector<std::string>{"docker0"});
  EXPECT_EQ(way_text(traits),
            "; tried by tcp;ofi_rxm, domain eth1; there are also docker0: the setting ofi_domain "
            "(PHOTON_OFI_DOMAIN) chooses");
  EXPECT_EQ(others_than(offers, 1, wants("auto", "eth1", false)), std::vector<std::string>{})
      << "one was asked for";
  traits.other_domains.assign(9, "v");
  EXPECT_NE(way_text(traits).find("v, v, v, v, v, v and others: "), std::string::npos);
}

TEST(Providers, with_queues_for_fewer_ranks_than_the_job_has_come_with_advice) {
  EXPECT_EQ(advice("tcp;ofi_rxm", 256, false), nullptr);
  EXPECT_EQ(advice("tcp;ofi_rxm", 257, true), nullptr) << "it was told";
  EXPECT_EQ(advice("psm3", 257, false), nullptr);
  const char* words = advice("verbs;ofi_rxm", 257, false);
  ASSERT_NE(words, nullptr);
  EXPECT_NE(std::string_view(words).find("FI_UNIVERSE_SIZE"), std::string_view::npos);
}

}  // namespace
}  // namespace photon::transport::ofi
