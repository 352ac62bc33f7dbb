// Whatever stands in a ring: the header decoder on every word of the input, then the input as a
// ring, read record by record as the engine reads it.
//
// Input: [ring's log2 - 6, modulo 3] [start position: laps] [start position: lines] lines...
// The lines are laid down from the start position on; what is missing is zero.
//
// A finding is an abort() here or a report of AddressSanitizer: every buffer has exactly its size.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "sync/line_ring.hpp"
#include "wire/record.hpp"

namespace {

using namespace photon;
using Policy = sync::HardwarePolicy;
using Line = sync::RingLine<Policy>;
using Credits = sync::CreditWords<Policy>;
using Consumer = sync::LineConsumer<Policy>;

constexpr std::size_t kPrefixBytes = 3;
constexpr std::size_t kLineBytes = sizeof(Line);

void require(bool holds) {
  if (!holds) std::abort();
}

void check_header(std::uint64_t word) {
  const auto header = wire::decode(word);
  if (!header) return;
  require(header->lines >= 1 && header->lines <= wire::kMaxLines);
  require(!header->has_id() || header->id_bytes <= wire::kMaxIdBytes);
  require(header->payload_bytes <= wire::kMaxPackedBytes);
  require(static_cast<std::uint8_t>(header->owner) < wire::kOwners);
  const bool is_users = header->owner == wire::Owner::application;
  require(is_users ? !wire::is_of_service(header->kind) : header->has_id());
  const std::uint64_t again =
      wire::encode(header->kind, header->id_bytes, header->payload_bytes, header->owner);
  require(again == (word & ~std::uint64_t{0xffff}));
}

void check_words(const std::uint8_t* data, std::size_t size_bytes) {
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= size_bytes; ++at) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + at, sizeof word);
    check_header(word);
  }
}

// The record's words one after the other; a read beyond its lines is a finding.
class Words {
 public:
  Words(const Consumer& ring, std::uint32_t lines)
      : ring_(ring), left_(lines * wire::kWordsPerLine) {}
  std::uint64_t next() {
    require(left_-- > 0);
    const std::uint64_t at = next_++;
    return ring_.line(at / wire::kWordsPerLine).words[at % wire::kWordsPerLine].get();
  }
  void copy(std::uint8_t* to, std::uint32_t bytes) {
    for (std::uint32_t done = 0; done < bytes; done += 8) {
      const std::uint64_t word = next();
      std::memcpy(to + done, &word, bytes - done < 8 ? bytes - done : 8);
    }
  }

 private:
  const Consumer& ring_;
  std::uint64_t next_ = 0;
  std::uint64_t left_;
};

// True: a whole record was taken.
bool take_record(Consumer& ring) {
  if (ring.peek() != Consumer::State::record) return false;
  check_header(ring.header());
  const auto header = wire::decode(ring.header());
  if (!header || header->lines > ring.capacity()) return false;
  for (std::uint32_t i = 1; i < header->lines; ++i)
    if (!ring.tagged(i)) return false;
  Words words(ring, header->lines);
  for (std::uint32_t i = 0; i < wire::fixed_words(header->kind); ++i) words.next();
  std::vector<std::uint8_t> id(header->has_id() ? header->id_bytes : 0);
  words.copy(id.data(), static_cast<std::uint32_t>(id.size()));
  std::vector<std::uint8_t> payload(header->payload_bytes);
  words.copy(payload.data(), header->payload_bytes);
  ring.pop(header->lines);
  return true;
}

void lay_down(Line* lines, std::uint64_t mask, std::uint64_t start, const std::uint8_t* data,
              std::size_t size_bytes) {
  for (std::uint64_t i = 0; i <= mask && i * kLineBytes < size_bytes; ++i) {
    std::uint64_t words[sync::kWordsPerLine + 1] = {};
    const std::size_t left = size_bytes - i * kLineBytes;
    std::memcpy(words, data + i * kLineBytes, left < kLineBytes ? left : kLineBytes);
    Line& line = lines[(start + i) & mask];
    line.head.store(words[0], std::memory_order_relaxed);
    for (unsigned word = 0; word < sync::kWordsPerLine; ++word)
      line.words[word].set(words[word + 1]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  check_words(data, size_bytes);
  if (size_bytes < kPrefixBytes) return 0;
  const unsigned log2 = 6 + data[0] % 3;
  const std::uint64_t mask = (std::uint64_t{1} << log2) - 1;
  const std::uint64_t start = (std::uint64_t{data[1]} << log2) + (data[2] & mask);
  const auto lines = std::make_unique<Line[]>(mask + 1);
  lay_down(lines.get(), mask, start, data + kPrefixBytes, size_bytes - kPrefixBytes);

  Credits credits;
  Consumer ring(lines.get(), &credits, log2);
  ring.pop(start);
  ring.publish_lines();
  while (take_record(ring)) continue;
  // A line has one tag, so it is part of one lap's record at most.
  require(ring.owed() <= ring.capacity());
  ring.publish_lines();
  return 0;
}
