#include "transport/network/info_head.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>

#include "wire/record.hpp"

namespace photon::transport::network {
namespace {

using Info = std::array<std::byte, 32>;

Info info_of(const char (&name)[9], std::uint32_t version = wire::kVersion) {
  Info info{};
  std::memcpy(info.data(), name, 8);
  std::memcpy(info.data() + 8, &version, sizeof version);
  return info;
}

InfoKind kind() {
  std::uint64_t magic = 0;
  std::memcpy(&magic, "pxyzcard", sizeof magic);
  return {"xyz", magic, sizeof(Info)};
}

TEST(InfoHead, of_this_transport_and_version_is_let_pass_whatever_follows) {
  Info info = info_of("pxyzcard");
  EXPECT_TRUE(check_info_head(kind(), info));
  info.back() = std::byte{0xff};
  EXPECT_TRUE(check_info_head(kind(), info));
}

TEST(InfoHead, of_another_version_is_told_by_both_numbers_whatever_its_length) {
  const Info info = info_of("pxyzcard", wire::kVersion + 1);
  for (const std::size_t size : {std::size_t{12}, info.size()}) {
    const auto checked = check_info_head(kind(), std::span(info).first(size));
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().status, PH_ERR_BOOTSTRAP);
    EXPECT_EQ(checked.error().what, "it speaks version " + std::to_string(wire::kVersion + 1) +
                                        " of the wire format, this rank version " +
                                        std::to_string(wire::kVersion) +
                                        "; run all ranks with one version of the library");
  }
}

TEST(InfoHead, of_another_length_is_no_info) {
  const Info info = info_of("pxyzcard");
  std::array<std::byte, info.size() + 1> longer{};
  std::ranges::copy(info, longer.begin());
  for (std::size_t size = 0; size <= longer.size(); ++size) {
    if (size == info.size()) continue;
    const auto checked = check_info_head(kind(), std::span(longer).first(size));
    ASSERT_FALSE(checked) << size;
    EXPECT_EQ(checked.error().status, PH_ERR_PROTOCOL);
    EXPECT_EQ(checked.error().what,
              "malformed xyz endpoint info of " + std::to_string(size) + " bytes");
  }
}

TEST(InfoHead, of_another_transport_is_told_by_both_names) {
  const auto checked = check_info_head(kind(), info_of("pabccard"));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_NE(checked.error().what.find("by abc, and this rank by xyz"), std::string::npos)
      << checked.error().what;
}

}  // namespace
}  // namespace photon::transport::network
