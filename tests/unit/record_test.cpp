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

std::vector<std::uint32_t> id_sizes(Kind kind) {
  std::vector<std::uint32_t> sizes = {kNoId};
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
         encode(header->kind, header->id_bytes, header->payload_bytes) == (word & ~kTagMask);
}

TEST(RecordTest, every_kind_with_every_id_and_payload_size_survives_the_round_trip) {
  for (const Kind kind : all_kinds()) {
    for (const std::uint32_t id_bytes : id_sizes(kind)) {
      for (std::uint32_t payload = 0; payload <= max_payload(kind); ++payload) {
        const auto header = decode(encode(kind, id_bytes, payload));
        if (header && header->kind == kind && header->id_bytes == id_bytes &&
            header->payload_bytes == payload && header->lines == lines_for(kind, id_bytes, payload))
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
      const std::uint64_t word = encode(kind, kNoId, payload);
      for (std::uint64_t lines = 0; lines < 256; ++lines) {
        EXPECT_EQ(decode(with_field(word, 24, 8, lines)).has_value(),
                  lines == lines_for(kind, kNoId, payload));
      }
    }
  }
}

TEST(RecordTest, unknown_kinds_are_refused) {
  for (std::uint64_t kind = 0; kind < 256; ++kind) {
    const bool known = kind >= 1 && kind <= 21;
    EXPECT_EQ(decode(with_field(encode(Kind::bye, kNoId, 0), 16, 8, kind)).has_value(), known);
  }
}

TEST(RecordTest, ids_too_long_or_of_a_kind_without_are_refused_whatever_the_lines_say) {
  for (const Kind kind : all_kinds()) {
    for (std::uint32_t id_bytes = 0; id_bytes <= 0xffff; ++id_bytes) {
      const auto lines = static_cast<std::uint64_t>(lines_for(kind, id_bytes, 0));
      std::uint64_t word = with_field(encode(kind, kNoId, 0), 32, 16, id_bytes);
      word = with_field(word, 24, 8, lines);
      const bool allowed = id_bytes == kNoId || (may_have_id(kind) && id_bytes <= kMaxIdBytes);
      ASSERT_EQ(decode(word).has_value(), allowed) << static_cast<int>(kind) << " " << id_bytes;
    }
  }
}

TEST(RecordTest, payloads_too_long_or_of_a_kind_without_are_refused_whatever_the_lines_say) {
  for (const Kind kind : all_kinds()) {
    for (std::uint32_t payload = 0; payload <= 0xffff; ++payload) {
      const auto lines = static_cast<std::uint64_t>(lines_for(kind, kNoId, payload));
      std::uint64_t word = with_field(encode(kind, kNoId, 0), 48, 16, payload);
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
        const std::uint64_t word = encode(kind, id_bytes, payload);
        for (unsigned bit = 0; bit < 64; ++bit)
          ASSERT_TRUE(sane(word ^ std::uint64_t{1} << bit)) << word << " bit " << bit;
      }
    }
  }
}

}  // namespace
}  // namespace photon::wire
