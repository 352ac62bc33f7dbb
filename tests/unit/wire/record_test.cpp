#include "wire/record.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "sync/line_ring.hpp"

namespace photon::wire {
namespace {

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (std::uint8_t kind = 1; kind <= kKinds; ++kind)
    if (is_kind(kind)) kinds.push_back(static_cast<Kind>(kind));
  return kinds;
}

// Whose records of this kind may be.
Owner owner_of(Kind kind) { return is_of_service(kind) ? Owner::echo : Owner::application; }

// Without an id, where that is a record.
std::uint64_t bare(Kind kind, std::uint32_t payload) {
  return encode(kind, is_of_service(kind) ? 0 : kNoId, payload, owner_of(kind));
}

std::vector<std::uint32_t> id_sizes(Kind kind) {
  std::vector<std::uint32_t> sizes;
  if (!is_of_service(kind)) sizes.push_back(kNoId);
  if (may_have_id(kind))
    for (std::uint32_t size = 0; size <= kMaxIdBytes; ++size) sizes.push_back(size);
  return sizes;
}

std::uint32_t max_payload(Kind kind) { return may_have_payload(kind) ? kMaxPackedBytes : 0; }

constexpr std::uint64_t kTagMask = 0xffff;

// The field at `shift`, `bits` wide, replaced.
std::uint64_t with_field(std::uint64_t word, unsigned shift, unsigned bits, std::uint64_t value) {
  const std::uint64_t mask = ((std::uint64_t{1} << bits) - 1) << shift;
  return (word & ~mask) | (value << shift & mask);
}

// Whether decode() refuses or keeps its word: limits, and no two words for one record.
bool sane(std::uint64_t word) {
  const auto header = decode(word);
  if (!header) return true;
  const auto kind = static_cast<std::uint8_t>(header->kind);
  return is_kind(kind) && header->lines >= 1 && header->lines <= kMaxLines &&
         (!header->has_id() || (may_have_id(header->kind) && header->id_bytes <= kMaxIdBytes)) &&
         header->payload_bytes <= max_payload(header->kind) &&
         fixed_words(header->kind) + header->id_words() + (header->payload_bytes + 7) / 8 <=
             header->lines * kWordsPerLine &&
         static_cast<std::uint8_t>(header->owner) < kOwners &&
         (!is_of_service(header->kind) || header->owner != Owner::application) &&
         encode(header->kind, header->id_bytes, header->payload_bytes, header->owner) ==
             (word & ~kTagMask);
}

TEST(RecordTest, every_kind_with_every_id_and_payload_size_survives_the_round_trip) {
  for (const Kind kind : all_kinds()) {
    for (const std::uint32_t id_bytes : id_sizes(kind)) {
      for (std::uint32_t payload = 0; payload <= max_payload(kind); ++payload) {
        const auto header = decode(encode(kind, id_bytes, payload, owner_of(kind)));
        if (header && header->kind == kind && header->id_bytes == id_bytes &&
            header->owner == owner_of(kind) && header->payload_bytes == payload &&
            header->lines == lines_for(kind, id_bytes, payload))
          continue;
        FAIL() << "kind " << static_cast<int>(kind) << " id " << id_bytes << " payload " << payload;
      }
    }
  }
}

TEST(RecordTest, a_record_takes_the_fewest_lines_that_hold_its_words) {
  for (const Kind kind : all_kinds()) {
    for (const std::uint32_t id_bytes : id_sizes(kind)) {
      for (std::uint32_t payload = 0; payload <= max_payload(kind); payload += 7) {
        const std::uint32_t id_words = id_bytes == kNoId ? 0 : (id_bytes + 7) / 8;
        const std::uint32_t words = fixed_words(kind) + id_words + (payload + 7) / 8;
        const std::uint32_t lines = lines_for(kind, id_bytes, payload);
        ASSERT_GE(lines, 1u);
        ASSERT_LE(words, lines * kWordsPerLine);
        if (lines > 1) {
          ASSERT_GT(words, (lines - 1) * kWordsPerLine);
        }
      }
    }
  }
}

TEST(RecordTest, an_8_byte_id_and_32_bytes_of_payload_fit_one_line) {
  EXPECT_EQ(lines_for(Kind::put, 8, 32), 1u);
  EXPECT_EQ(lines_for(Kind::put, 8, 33), 2u);
  EXPECT_EQ(lines_for(Kind::put, kNoId, 40), 1u);
  EXPECT_EQ(lines_for(Kind::bye, kNoId, 0), 1u);
}

TEST(RecordTest, the_largest_record_fits_three_quarters_of_the_smallest_ring) {
  EXPECT_EQ(kMaxLines, lines_for(Kind::put_acked, kMaxIdBytes, kMaxPackedBytes));
  EXPECT_LE(kMaxLines * 4, 64u * 3);
  EXPECT_EQ(kWordsPerLine, sync::kWordsPerLine);
}

TEST(RecordTest, the_tag_does_not_matter) {
  const std::uint64_t word = encode(Kind::put, 8, 16);
  for (std::uint64_t tag = 0; tag <= kTagMask; ++tag) ASSERT_TRUE(decode(word | tag)) << tag;
}

TEST(RecordTest, empty_memory_is_no_record) {
  EXPECT_FALSE(decode(0));
  EXPECT_FALSE(decode(~std::uint64_t{0}));
  EXPECT_FALSE(decode(kTagMask));
}

TEST(RecordTest, only_the_exact_number_of_lines_is_accepted) {
  for (const Kind kind : all_kinds()) {
    for (const std::uint32_t payload : {0u, 1u, 40u, 41u, 1024u}) {
      if (payload > max_payload(kind)) continue;
      const std::uint64_t word = bare(kind, payload);
      for (std::uint64_t lines = 0; lines < 256; ++lines) {
        EXPECT_EQ(decode(with_field(word, 24, 8, lines)).has_value(),
                  lines == lines_for(kind, kNoId, payload));
      }
    }
  }
}

TEST(RecordTest, unknown_kinds_are_refused) {
  for (std::uint64_t kind = 0; kind < 256; ++kind) {
    const bool known = kind >= 1 && kind <= 20;
    const bool wants_owner = known && is_of_service(static_cast<Kind>(kind));
    EXPECT_EQ(decode(with_field(encode(Kind::bye, kNoId, 0), 16, 8, kind)).has_value(),
              known && !wants_owner);
    EXPECT_EQ(decode(with_field(encode(Kind::message, 0, 0, Owner::echo), 16, 8, kind)).has_value(),
              known && may_have_id(static_cast<Kind>(kind)));
  }
}

TEST(RecordTest, ids_too_long_of_nobody_or_of_a_kind_without_are_refused_whatever_the_lines_say) {
  for (const Kind kind : all_kinds()) {
    for (std::uint32_t field = 0; field <= 0xffff; ++field) {
      const std::uint32_t id_bytes = field == kNoId ? kNoId : field & kIdBytesMask;
      const std::uint32_t owner = field >> kOwnerShift;
      const auto lines = static_cast<std::uint64_t>(lines_for(kind, id_bytes, 0));
      std::uint64_t word = with_field(bare(kind, 0), 32, 16, field);
      word = with_field(word, 24, 8, lines);
      const bool is_good_owner = owner < kOwners && (owner != 0 || !is_of_service(kind));
      const bool allowed = field == kNoId
                               ? !is_of_service(kind)
                               : may_have_id(kind) && id_bytes <= kMaxIdBytes && is_good_owner;
      ASSERT_EQ(decode(word).has_value(), allowed) << static_cast<int>(kind) << " " << field;
    }
  }
}

TEST(RecordTest, payloads_too_long_or_of_a_kind_without_are_refused_whatever_the_lines_say) {
  for (const Kind kind : all_kinds()) {
    for (std::uint32_t payload = 0; payload <= 0xffff; ++payload) {
      const auto lines = static_cast<std::uint64_t>(lines_for(kind, kNoId, payload));
      std::uint64_t word = with_field(bare(kind, 0), 48, 16, payload);
      word = with_field(word, 24, 8, lines);
      ASSERT_EQ(decode(word).has_value(), payload <= max_payload(kind))
          << static_cast<int>(kind) << " " << payload;
    }
  }
}

TEST(RecordTest, no_random_word_yields_anything_outside_the_limits) {
  std::mt19937_64 random(20240607);
  for (unsigned i = 0; i < 3'000'000; ++i) {
    const std::uint64_t word = random();
    ASSERT_TRUE(sane(word)) << word;
    // Random kinds are mostly unknown: ask again with a known one and small fields.
    const std::uint64_t near = with_field(word, 16, 8, 1 + (word & kTagMask) % kKinds) &
                               ~(std::uint64_t{0xf800} << 48) & ~(std::uint64_t{0xf800} << 32);
    ASSERT_TRUE(sane(near)) << near;
  }
}

TEST(RecordTest, no_single_flipped_bit_of_a_valid_header_leads_outside_the_limits) {
  for (const Kind kind : all_kinds()) {
    for (const std::uint32_t id_bytes : id_sizes(kind)) {
      for (std::uint32_t payload = 0; payload <= max_payload(kind); payload += 31) {
        const std::uint64_t word = encode(kind, id_bytes, payload, owner_of(kind));
        for (unsigned bit = 0; bit < 64; ++bit)
          ASSERT_TRUE(sane(word ^ std::uint64_t{1} << bit)) << word << " bit " << bit;
      }
    }
  }
}

}  // namespace
}  // namespace photon::wire
