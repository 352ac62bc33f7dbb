#include "transport/network/nic_head.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <span>
#include <string>

#include "wire/record.hpp"

namespace photon::transport::network {
namespace {

using Nic = std::array<std::byte, 32>;

Nic nic_of(const char (&name)[9], std::uint32_t version = wire::kVersion) {
  Nic nic{};
  std::memcpy(nic.data(), name, 8);
  std::memcpy(nic.data() + 8, &version, sizeof version);
  return nic;
}

NicKind kind() {
  std::uint64_t magic = 0;
  std::memcpy(&magic, "pxyzcard", sizeof magic);
  return {"xyz", magic, sizeof(Nic)};
}

TEST(NicHead, of_this_transport_and_version_is_let_pass_whatever_follows) {
  Nic nic = nic_of("pxyzcard");
  EXPECT_TRUE(check_nic_head(kind(), nic));
  nic.back() = std::byte{0xff};
  EXPECT_TRUE(check_nic_head(kind(), nic));
}

TEST(NicHead, of_another_version_is_told_by_both_numbers_whatever_its_length) {
  const Nic nic = nic_of("pxyzcard", wire::kVersion + 1);
  for (const std::size_t size : {std::size_t{12}, nic.size()}) {
    const auto checked = check_nic_head(kind(), std::span(nic).first(size));
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().status, PH_ERR_BOOTSTRAP);
    EXPECT_EQ(checked.error().what, "it speaks version " + std::to_string(wire::kVersion + 1) +
                                        " of the wire format, this rank version " +
                                        std::to_string(wire::kVersion) +
                                        "; run all ranks with one version of the library");
  }
}

TEST(NicHead, of_another_length_is_no_nic) {
  const Nic nic = nic_of("pxyzcard");
  for (std::size_t size = 0; size < nic.size(); ++size) {
    const auto checked = check_nic_head(kind(), std::span(nic).first(size));
    ASSERT_FALSE(checked) << size;
    EXPECT_EQ(checked.error().status, PH_ERR_PROTOCOL);
    EXPECT_EQ(checked.error().what, "malformed xyz NIC of " + std::to_string(size) + " bytes");
  }
}

TEST(NicHead, of_another_transport_is_told_by_both_names) {
  const auto checked = check_nic_head(kind(), nic_of("pabccard"));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_NE(checked.error().what.find("by abc, and this rank by xyz"), std::string::npos)
      << checked.error().what;
}

}  // namespace
}  // namespace photon::transport::network
