#include "transport/ofi/ofi_endpoint_info.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photon::transport::ofi {
namespace {

OfiEndpointInfo valid_endpoint_info() {
  const std::vector<std::byte> address(16, std::byte{5});
  return *make_endpoint_info(network::shared_settings(base::Config{}, 4),
                             {"tcp;ofi_rxm", address, 8192});
}

TEST(OfiEndpointInfoTest, comes_out_as_it_went_in) {
  const auto decoded = decode_endpoint_info(encode(valid_endpoint_info()));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->provider_name(), "tcp;ofi_rxm");
  EXPECT_EQ(decoded->address_span().size(), 16u);
  EXPECT_TRUE(check_agreement(valid_endpoint_info(), *decoded));
}

TEST(OfiEndpointInfoTest, that_is_none_is_refused) {
  EXPECT_EQ(decode_endpoint_info({}).error().status, PH_ERR_PROTOCOL);
  EXPECT_EQ(decode_endpoint_info(encode(valid_endpoint_info()).first(100)).error().status,
            PH_ERR_PROTOCOL);
  OfiEndpointInfo long_address = valid_endpoint_info();
  long_address.address_bytes = 513;
  EXPECT_EQ(decode_endpoint_info(encode(long_address)).error().status, PH_ERR_PROTOCOL);
  OfiEndpointInfo endless = valid_endpoint_info();
  endless.provider.fill('x');
  EXPECT_EQ(decode_endpoint_info(encode(endless)).error().status, PH_ERR_PROTOCOL);
  OfiEndpointInfo wordy = valid_endpoint_info();
  wordy.why.fill('x');
  EXPECT_EQ(decode_endpoint_info(encode(wordy)).error().status, PH_ERR_PROTOCOL);
  OfiEndpointInfo unknown = valid_endpoint_info();
  unknown.what = static_cast<OfiEndpointInfo::What>(5);
  EXPECT_EQ(decode_endpoint_info(encode(unknown)).error().status, PH_ERR_PROTOCOL);
  OfiEndpointInfo other_version = valid_endpoint_info();
  other_version.version = wire::kVersion + 1;
  EXPECT_EQ(decode_endpoint_info(encode(other_version)).error().status, PH_ERR_BOOTSTRAP);
}

TEST(OfiEndpointInfoTest, of_another_provider_is_told_by_both_names) {
  OfiEndpointInfo other = valid_endpoint_info();
  other.provider = {"verbs;ofi_rxm"};
  const auto same = check_agreement(valid_endpoint_info(), other);
  ASSERT_FALSE(same);
  EXPECT_NE(same.error().what.find("verbs;ofi_rxm"), std::string::npos) << same.error().what;
  EXPECT_NE(same.error().what.find("tcp;ofi_rxm"), std::string::npos) << same.error().what;
  EXPECT_NE(same.error().what.find("ofi_provider"), std::string::npos) << same.error().what;
}

TEST(OfiEndpointInfoTest, of_who_moves_memory_is_refused_by_who_does_not) {
  OfiEndpointInfo other = valid_endpoint_info();
  other.moves_memory = 1;
  for (const auto& same : {check_agreement(valid_endpoint_info(), other),
                           check_agreement(other, valid_endpoint_info())}) {
    ASSERT_FALSE(same);
    EXPECT_EQ(same.error().status, PH_ERR_BOOTSTRAP);
    EXPECT_NE(same.error().what.find("ofi_direct_least_bytes"), std::string::npos)
        << same.error().what;
  }
}

TEST(OfiEndpointInfoTest, of_messages_of_another_size_is_told_by_both_sizes) {
  OfiEndpointInfo other = valid_endpoint_info();
  other.message_bytes = 4096;
  const auto same = check_agreement(valid_endpoint_info(), other);
  ASSERT_FALSE(same);
  EXPECT_EQ(same.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_NE(same.error().what.find("4096"), std::string::npos) << same.error().what;
  EXPECT_NE(same.error().what.find("8192"), std::string::npos) << same.error().what;
}

TEST(OfiEndpointInfoTest, says_as_much_of_why_as_fits) {
  OfiEndpointInfo endpoint_info = valid_endpoint_info();
  endpoint_info.set_why(std::string(1000, 'w'));
  const auto decoded = decode_endpoint_info(encode(endpoint_info));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::string_view(decoded->why.data()), std::string(255, 'w'));
}

TEST(OfiEndpointInfoTest, takes_no_address_that_is_too_long) {
  const std::vector<std::byte> address(513);
  EXPECT_FALSE(make_endpoint_info({}, {"fake", address, 4096}));
}

}  // namespace
}  // namespace photon::transport::ofi
