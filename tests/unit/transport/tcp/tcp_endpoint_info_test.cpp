#include "transport/tcp/tcp_endpoint_info.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace photon::transport::tcp {
namespace {

TcpEndpointInfo valid_endpoint_info() {
  TcpEndpointInfo endpoint_info;
  endpoint_info.settings = network::shared_settings(base::Config{}, 4);
  boot::Address address = *boot::choose_address("127.0.0.1", true);
  address.port = 77;
  endpoint_info.addresses.add(address);
  return endpoint_info;
}

TEST(TcpEndpointInfo, survives_the_side_channel_unchanged) {
  const TcpEndpointInfo endpoint_info = valid_endpoint_info();
  const auto decoded = decode_endpoint_info(encode(endpoint_info));
  ASSERT_TRUE(decoded) << decoded.error().what;
  EXPECT_EQ(std::memcmp(&*decoded, &endpoint_info, sizeof endpoint_info), 0);
  EXPECT_TRUE(network::check_settings(endpoint_info.settings, decoded->settings));
}

TEST(TcpEndpointInfo, cut_anywhere_or_followed_by_anything_is_malformed) {
  const TcpEndpointInfo endpoint_info = valid_endpoint_info();
  const auto bytes = encode(endpoint_info);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = decode_endpoint_info(bytes.first(size));
    ASSERT_FALSE(decoded) << size;
    EXPECT_EQ(decoded.error().status, PH_ERR_PROTOCOL);
  }
  std::vector<std::byte> longer(bytes.begin(), bytes.end());
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode_endpoint_info(longer));
}

TEST(TcpEndpointInfo, of_another_transport_is_told_by_both_names) {
  TcpEndpointInfo endpoint_info = valid_endpoint_info();
  std::memcpy(&endpoint_info.magic, "poficard", sizeof endpoint_info.magic);
  const auto decoded = decode_endpoint_info(encode(endpoint_info));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_NE(decoded.error().what.find("by ofi, and this rank by tcp"), std::string::npos);
  std::memcpy(&endpoint_info.magic, "phoffer", sizeof endpoint_info.magic);
  EXPECT_NE(decode_endpoint_info(encode(endpoint_info))
                .error()
                .what.find("by shared memory, and this rank by tcp"),
            std::string::npos);
  for (const char* none : {"p/1xcard", "ptcpcart", "xoficard"}) {
    std::memcpy(&endpoint_info.magic, none, sizeof endpoint_info.magic);
    EXPECT_EQ(decode_endpoint_info(encode(endpoint_info)).error().status, PH_ERR_PROTOCOL) << none;
  }
}

TEST(TcpEndpointInfo, of_another_version_is_told_by_both_numbers) {
  TcpEndpointInfo endpoint_info = valid_endpoint_info();
  endpoint_info.version = wire::kVersion + 1;
  const auto decoded = decode_endpoint_info(encode(endpoint_info));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().status, PH_ERR_BOOTSTRAP);
  for (const std::uint32_t version : {wire::kVersion, wire::kVersion + 1})
    EXPECT_NE(decoded.error().what.find(std::to_string(version)), std::string::npos);
}

}  // namespace
}  // namespace photon::transport::tcp
