#include "transport/tcp/tcp_card.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace photon::transport::tcp {
namespace {

TcpCard valid_card() {
  TcpCard card;
  card.settings = network::shared_settings(base::Config{}, 4);
  boot::Address address = *boot::choose_address("127.0.0.1", true);
  address.port = 77;
  card.addresses.add(address);
  return card;
}

TEST(TcpCard, survives_the_side_channel_unchanged) {
  const TcpCard card = valid_card();
  const auto decoded = decode_card(encode(card));
  ASSERT_TRUE(decoded) << decoded.error().what;
  EXPECT_EQ(std::memcmp(&*decoded, &card, sizeof card), 0);
  EXPECT_TRUE(network::check_settings(card.settings, decoded->settings));
}

TEST(TcpCard, cut_anywhere_or_followed_by_anything_is_malformed) {
  const TcpCard card = valid_card();
  const auto bytes = encode(card);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = decode_card(bytes.first(size));
    ASSERT_FALSE(decoded) << size;
    EXPECT_EQ(decoded.error().status, PH_ERR_PROTOCOL);
  }
  std::vector<std::byte> longer(bytes.begin(), bytes.end());
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode_card(longer));
}

TEST(TcpCard, of_another_transport_is_told_by_both_names) {
  TcpCard card = valid_card();
  std::memcpy(&card.magic, "poficard", sizeof card.magic);
  const auto decoded = decode_card(encode(card));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_NE(decoded.error().what.find("by ofi, and this rank by tcp"), std::string::npos);
  std::memcpy(&card.magic, "phoffer", sizeof card.magic);
  EXPECT_NE(decode_card(encode(card)).error().what.find("by shared memory, and this rank by tcp"),
            std::string::npos);
  for (const char* none : {"p/1xcard", "ptcpcart", "xoficard"}) {
    std::memcpy(&card.magic, none, sizeof card.magic);
    EXPECT_EQ(decode_card(encode(card)).error().status, PH_ERR_PROTOCOL) << none;
  }
}

TEST(TcpCard, of_another_version_is_told_by_both_numbers) {
  TcpCard card = valid_card();
  card.version = wire::kVersion + 1;
  const auto decoded = decode_card(encode(card));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().status, PH_ERR_BOOTSTRAP);
  for (const std::uint32_t version : {wire::kVersion, wire::kVersion + 1})
    EXPECT_NE(decoded.error().what.find(std::to_string(version)), std::string::npos);
}

}  // namespace
}  // namespace photon::transport::tcp
