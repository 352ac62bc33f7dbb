#include "transport/ofi/ofi_card.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photon::transport::ofi {
namespace {

OfiCard valid_card() {
  const std::vector<std::byte> address(16, std::byte{5});
  return *make_card(network::shared_settings(base::Config{}, 4), {"tcp;ofi_rxm", address, 8192});
}

TEST(OfiCardTest, comes_out_as_it_went_in) {
  const auto decoded = decode_card(encode(valid_card()));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->provider_name(), "tcp;ofi_rxm");
  EXPECT_EQ(decoded->address_span().size(), 16u);
  EXPECT_TRUE(check_agreement(valid_card(), *decoded));
}

TEST(OfiCardTest, that_is_none_is_refused) {
  EXPECT_EQ(decode_card({}).error().status, PH_ERR_PROTOCOL);
  EXPECT_EQ(decode_card(encode(valid_card()).first(100)).error().status, PH_ERR_PROTOCOL);
  OfiCard long_address = valid_card();
  long_address.address_bytes = 513;
  EXPECT_EQ(decode_card(encode(long_address)).error().status, PH_ERR_PROTOCOL);
  OfiCard endless = valid_card();
  endless.provider.fill('x');
  EXPECT_EQ(decode_card(encode(endless)).error().status, PH_ERR_PROTOCOL);
  OfiCard wordy = valid_card();
  wordy.why.fill('x');
  EXPECT_EQ(decode_card(encode(wordy)).error().status, PH_ERR_PROTOCOL);
  OfiCard unknown = valid_card();
  unknown.what = static_cast<OfiCard::What>(5);
  EXPECT_EQ(decode_card(encode(unknown)).error().status, PH_ERR_PROTOCOL);
  OfiCard other_version = valid_card();
  other_version.version = wire::kVersion + 1;
  EXPECT_EQ(decode_card(encode(other_version)).error().status, PH_ERR_BOOTSTRAP);
}

TEST(OfiCardTest, of_another_provider_is_told_by_both_names) {
  OfiCard other = valid_card();
  other.provider = {"verbs;ofi_rxm"};
  const auto same = check_agreement(valid_card(), other);
  ASSERT_FALSE(same);
  EXPECT_NE(same.error().what.find("verbs;ofi_rxm"), std::string::npos) << same.error().what;
  EXPECT_NE(same.error().what.find("tcp;ofi_rxm"), std::string::npos) << same.error().what;
  EXPECT_NE(same.error().what.find("ofi_provider"), std::string::npos) << same.error().what;
}

TEST(OfiCardTest, of_who_moves_memory_is_refused_by_who_does_not) {
  OfiCard other = valid_card();
  other.moves_memory = 1;
  for (const auto& same :
       {check_agreement(valid_card(), other), check_agreement(other, valid_card())}) {
    ASSERT_FALSE(same);
    EXPECT_EQ(same.error().status, PH_ERR_BOOTSTRAP);
    EXPECT_NE(same.error().what.find("ofi_direct_least_bytes"), std::string::npos)
        << same.error().what;
  }
}

TEST(OfiCardTest, of_messages_of_another_size_is_told_by_both_sizes) {
  OfiCard other = valid_card();
  other.message_bytes = 4096;
  const auto same = check_agreement(valid_card(), other);
  ASSERT_FALSE(same);
  EXPECT_EQ(same.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_NE(same.error().what.find("4096"), std::string::npos) << same.error().what;
  EXPECT_NE(same.error().what.find("8192"), std::string::npos) << same.error().what;
}

TEST(OfiCardTest, says_as_much_of_why_as_fits) {
  OfiCard card = valid_card();
  card.set_why(std::string(1000, 'w'));
  const auto decoded = decode_card(encode(card));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::string_view(decoded->why.data()), std::string(255, 'w'));
}

TEST(OfiCardTest, takes_no_address_that_is_too_long) {
  const std::vector<std::byte> address(513);
  EXPECT_FALSE(make_card({}, {"fake", address, 4096}));
}

}  // namespace
}  // namespace photon::transport::ofi
