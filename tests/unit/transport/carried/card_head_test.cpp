#include "transport/carried/card_head.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>

#include "wire/record.hpp"

namespace photon::transport::carried {
namespace {

using Card = std::array<std::byte, 32>;

Card card_of(const char (&name)[9], std::uint32_t version = wire::kVersion) {
  Card card{};
  std::memcpy(card.data(), name, 8);
  std::memcpy(card.data() + 8, &version, sizeof version);
  return card;
}

CardKind kind() {
  std::uint64_t magic = 0;
  std::memcpy(&magic, "pxyzcard", sizeof magic);
  return {"xyz", magic, sizeof(Card)};
}

TEST(CardHead, of_this_transport_and_version_is_let_pass_whatever_follows) {
  Card card = card_of("pxyzcard");
  EXPECT_TRUE(check_card_head(kind(), card));
  card.back() = std::byte{0xff};
  EXPECT_TRUE(check_card_head(kind(), card));
}

TEST(CardHead, of_another_version_is_told_by_both_numbers_whatever_its_length) {
  const Card card = card_of("pxyzcard", wire::kVersion + 1);
  for (const std::size_t size : {std::size_t{12}, card.size()}) {
    const auto checked = check_card_head(kind(), std::span(card).first(size));
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().status, PH_ERR_BOOTSTRAP);
    EXPECT_EQ(checked.error().what, "it speaks version " + std::to_string(wire::kVersion + 1) +
                                        " of the wire format, this rank version " +
                                        std::to_string(wire::kVersion) +
                                        "; run all ranks with one version of the library");
  }
}

TEST(CardHead, of_another_length_is_no_card) {
  const Card card = card_of("pxyzcard");
  std::array<std::byte, card.size() + 1> longer{};
  std::ranges::copy(card, longer.begin());
  for (std::size_t size = 0; size <= longer.size(); ++size) {
    if (size == card.size()) continue;
    const auto checked = check_card_head(kind(), std::span(longer).first(size));
    ASSERT_FALSE(checked) << size;
    EXPECT_EQ(checked.error().status, PH_ERR_PROTOCOL);
    EXPECT_EQ(checked.error().what, "malformed xyz card of " + std::to_string(size) + " bytes");
  }
}

TEST(CardHead, of_another_transport_is_told_by_both_names) {
  const auto checked = check_card_head(kind(), card_of("pabccard"));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_NE(checked.error().what.find("by abc, and this rank by xyz"), std::string::npos)
      << checked.error().what;
}

}  // namespace
}  // namespace photon::transport::carried
