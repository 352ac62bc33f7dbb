#include "transport/shm/shm_offer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace photon::transport::shm {
namespace {

Offer valid() {
  Offer offer = describe_settings(base::Config{}, 4);
  offer.pid = 42;
  offer.arena_address = 1 << 20;
  return offer;
}

std::vector<std::byte> bytes_of(const Offer& offer) {
  const auto bytes = encode(offer);
  return {bytes.begin(), bytes.end()};
}

void expect_malformed(const Offer& offer, const std::string& word) {
  const auto decoded = decode(encode(offer));
  ASSERT_FALSE(decoded) << word;
  EXPECT_EQ(decoded.error().status, PH_ERR_PROTOCOL);
  EXPECT_NE(decoded.error().what.find(word), std::string::npos) << decoded.error().what;
}

TEST(Offer, survives_the_wire_unchanged) {
  Offer offer = valid();
  offer.flags = kNeedsFence | kLinesApart;
  offer.nonce.fill(std::byte{0xab});
  const auto decoded = decode(encode(offer));
  ASSERT_TRUE(decoded) << decoded.error().what;
  EXPECT_EQ(std::memcmp(&*decoded, &offer, sizeof offer), 0);
  EXPECT_TRUE(check_settings(offer, *decoded));
}

TEST(Offer, cut_anywhere_is_malformed) {
  const auto bytes = bytes_of(valid());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = decode(std::span(bytes).first(size));
    ASSERT_FALSE(decoded) << size;
    EXPECT_EQ(decoded.error().status, PH_ERR_PROTOCOL);
  }
}

TEST(Offer, with_bytes_behind_it_is_malformed) {
  auto bytes = bytes_of(valid());
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode(bytes));
}

TEST(Offer, of_random_bytes_is_never_accepted) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> bytes(random() % 300);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    EXPECT_FALSE(decode(bytes));
  }
}

TEST(Offer, with_any_bit_flipped_is_decoded_in_range_or_refused) {
  const auto original = bytes_of(valid());
  for (std::size_t bit = 0; bit < original.size() * 8; ++bit) {
    auto bytes = original;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    const auto decoded = decode(bytes);
    if (!decoded) continue;
    EXPECT_EQ(decoded->magic, kOfferMagic);
    EXPECT_GT(decoded->pid, 0U);
    EXPECT_GE(decoded->arena_address + decoded->arena_bytes, decoded->arena_address);
  }
}

TEST(Offer, of_another_version_names_both_even_if_its_size_differs) {
  Offer offer = valid();
  offer.version = 77;
  auto bytes = bytes_of(offer);
  bytes.resize(bytes.size() + 64);
  const auto decoded = decode(bytes);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_NE(decoded.error().what.find("version: " + std::to_string(wire::kVersion) +
                                      " here, 77 at the peer; run all ranks with one version"),
            std::string::npos)
      << decoded.error().what;
}

TEST(Offer, with_values_out_of_range_is_malformed) {
  Offer offer = valid();
  offer.pid = 0;
  expect_malformed(offer, "pid");
  offer.pid = std::uint64_t{1} << 31;
  expect_malformed(offer, "pid");
  offer = valid();
  offer.flags = 4;
  expect_malformed(offer, "flags");
  offer = valid();
  offer.arena_address = std::numeric_limits<std::uint64_t>::max() - 5;
  expect_malformed(offer, "arena");
  offer = valid();
  offer.arena_address += 1;
  expect_malformed(offer, "arena");
  offer = valid();
  offer.magic += 1;
  expect_malformed(offer, "magic");
}

TEST(Offer, of_another_transport_is_told_by_both_names) {
  Offer offer = valid();
  std::memcpy(&offer.magic, "ptcpcard", sizeof offer.magic);
  const auto decoded = decode(encode(offer));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_NE(decoded.error().what.find("by tcp, and this rank by shared memory"), std::string::npos);
  for (const char* none : {"p/1xcard", "ptcpcart", "xtcpcard"}) {
    std::memcpy(&offer.magic, none, sizeof offer.magic);
    expect_malformed(offer, "magic");
  }
}

TEST(Offer, with_another_setting_names_it_and_both_values) {
  const Offer mine = valid();
  const std::pair<const char*, std::uint64_t Offer::*> settings[] = {
      {"ring_lines", &Offer::ring_lines},     {"bulk_bytes", &Offer::bulk_bytes},
      {"bulk_chunk", &Offer::bulk_chunk},     {"ledger_slots", &Offer::ledger_slots},
      {"max_cid_size", &Offer::max_cid_size}, {"max_regions", &Offer::max_regions},
      {"arena_bytes", &Offer::arena_bytes},   {"page size", &Offer::page_bytes}};
  for (const auto& [name, member] : settings) {
    Offer theirs = valid();
    theirs.*member += 1;
    const auto checked = check_settings(mine, theirs);
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().status, PH_ERR_BOOTSTRAP);
    const std::string expected = std::string(name) + ": " + std::to_string(mine.*member) +
                                 " here, " + std::to_string(theirs.*member) + " at the peer";
    EXPECT_NE(checked.error().what.find(expected), std::string::npos) << checked.error().what;
  }
}

TEST(Offer, of_a_job_of_another_size_is_refused) {
  Offer theirs = valid();
  theirs.ranks_count = 5;
  const auto checked = check_settings(valid(), theirs);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().what.find("4 here, 5 at the peer"), std::string::npos);
}

TEST(Offer, is_no_nudge_and_a_nudge_is_no_offer) {
  EXPECT_TRUE(is_nudge(encode_nudge()));
  EXPECT_FALSE(decode(encode_nudge()));
  const Offer offer = valid();
  EXPECT_FALSE(is_nudge(encode(offer)));
  EXPECT_FALSE(is_nudge({}));
}

}  // namespace
}  // namespace photon::transport::shm
