// Records as tests send them: real kinds and sizes, every word a function of a seed, so that a
// receiver that knows the seed knows every byte that must arrive.
// Owner: the test; plain values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "transport/sim/sim_random.hpp"
#include "wire/record.hpp"

namespace photon::test {

using transport::sim::Random;

struct Record {
  wire::Kind kind = wire::Kind::put;
  std::uint32_t id_bytes = wire::kNoId;
  std::uint32_t payload_bytes = 0;
  std::vector<std::uint64_t> words;  // fixed words, id, payload
  std::vector<std::byte> bulk;

  bool operator==(const Record&) const = default;

  // Those of services have an owner.
  wire::Owner owner() const {
    return wire::is_of_service(kind) ? wire::Owner::echo : wire::Owner::application;
  }
  std::uint64_t header() const { return wire::encode(kind, id_bytes, payload_bytes, owner()); }
  std::uint32_t lines() const { return wire::lines_for(kind, id_bytes, payload_bytes); }
  bool has_bulk() const { return wire::announces_bulk(kind); }
};

using wire::kBulkSizeWord;

inline std::size_t words_of(wire::Kind kind, std::uint32_t id_bytes, std::uint32_t payload_bytes) {
  const std::uint32_t id_words = id_bytes == wire::kNoId ? 0 : (id_bytes + 7) / 8;
  return wire::fixed_words(kind) + id_words + (payload_bytes + 7) / 8;
}

inline Record filled(Record record, std::uint64_t seed) {
  Random random(seed);
  record.words.resize(words_of(record.kind, record.id_bytes, record.payload_bytes));
  for (auto& word : record.words) word = random.next();
  for (auto& byte : record.bulk) byte = static_cast<std::byte>(random.next());
  if (record.has_bulk()) {
    const bool has_marks = record.kind != wire::Kind::get_data && record.kind != wire::Kind::gather;
    const std::uint64_t marks =
        !has_marks ? 0 : random.next() & (wire::kBulkFirst | wire::kBulkLast);
    record.words[kBulkSizeWord] = record.bulk.size() | marks;
  }
  return record;
}

// A put that takes exactly so many lines; payload first, then id.
inline Record record_of_lines(std::uint32_t lines, std::uint64_t seed) {
  const std::uint32_t data_words = lines * wire::kWordsPerLine - wire::fixed_words(wire::Kind::put);
  Record record;
  record.payload_bytes = std::min(data_words * 8, wire::kMaxPackedBytes);
  const std::uint32_t rest = data_words * 8 - record.payload_bytes;
  if (rest > 0) record.id_bytes = std::min(rest, wire::kMaxIdBytes);
  return filled(std::move(record), seed);
}

inline Record bulk_record(std::uint64_t size_bytes, std::uint64_t seed) {
  Record record;
  record.kind = wire::Kind::bulk;
  record.id_bytes = 8;
  record.bulk.resize(size_bytes);
  return filled(std::move(record), seed);
}

// Anything the engine may send: mostly small, sometimes as large as allowed.
inline Record random_record(std::uint64_t seed, std::uint64_t max_bulk_bytes) {
  Random random(seed);
  Record record;
  record.kind = static_cast<wire::Kind>(1 + random.up_to(wire::kKinds - 1));
  const bool large = random.up_to(15) == 0;
  if (wire::may_have_id(record.kind) && (wire::is_of_service(record.kind) || random.up_to(3) != 0))
    record.id_bytes = static_cast<std::uint32_t>(random.up_to(large ? wire::kMaxIdBytes : 8));
  if (wire::may_have_payload(record.kind))
    record.payload_bytes =
        static_cast<std::uint32_t>(random.up_to(large ? wire::kMaxPackedBytes : 64));
  if (record.has_bulk()) record.bulk.resize(random.up_to(large ? max_bulk_bytes : 200));
  return filled(std::move(record), random.next());
}

}  // namespace photon::test
