// Writing and reading the data words of a record across its lines: fixed words, id, payload.
// Invariant: neither cursor leaves the lines of the record it was made for; the caller reserved
// (writer) or validated (reader) them. Owner: the caller's stack.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/parts/operation.hpp"
#include "engine/parts/peer.hpp"

namespace photon::engine {

// Up to 32 bytes without a call: two overlapping moves of the largest power of two that fits.
[[gnu::always_inline]] inline void copy_small(void* to, const void* from,
                                              std::size_t size) noexcept {
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  if (size == 8) [[likely]] {
    std::memcpy(out, in, 8);
  } else if (size >= 16) {
    std::byte head[16], tail[16];
    std::memcpy(head, in, 16);
    std::memcpy(tail, in + size - 16, 16);
    std::memcpy(out, head, 16);
    std::memcpy(out + size - 16, tail, 16);
  } else if (size > 8) {
    std::byte head[8], tail[8];
    std::memcpy(head, in, 8);
    std::memcpy(tail, in + size - 8, 8);
    std::memcpy(out, head, 8);
    std::memcpy(out + size - 8, tail, 8);
  } else {
    for (std::size_t i = 0; i < size; ++i) out[i] = in[i];
  }
}

class RecordWriter {
 public:
  explicit RecordWriter(LineProducer& ring) noexcept : ring_(ring) {}

  void word(std::uint64_t value) noexcept {
    ring_.line(at_ / sync::kWordsPerLine).words[at_ % sync::kWordsPerLine].set(value);
    ++at_;
  }
  // Pads the last word with what lies behind; readers know the size.
  void bytes(const void* data, std::size_t size) noexcept {
    const auto* from = static_cast<const std::byte*>(data);
    while (size > 0) {
      const std::uint64_t in_line = at_ % sync::kWordsPerLine;
      const std::size_t part =
          std::min<std::size_t>(size, (sync::kWordsPerLine - in_line) * sizeof(std::uint64_t));
      std::memcpy(&ring_.line(at_ / sync::kWordsPerLine).words[in_line], from, part);
      from += part;
      size -= part;
      at_ += (part + 7) / 8;
    }
  }

 private:
  LineProducer& ring_;
  std::uint64_t at_ = 0;
};

// Gives the record what names its operation should that fail late.
inline void name(Outgoing& out, const Request& request) noexcept {
  out.local_id = request.local_word;
  out.request = RequestPool::token(request);
  out.target = request.target;
  out.size_bytes = request.size_bytes;
}

class RecordReader {
 public:
  explicit RecordReader(const LineConsumer& ring) noexcept : ring_(ring) {}

  std::uint64_t word() noexcept {
    const auto value = ring_.line(at_ / sync::kWordsPerLine).words[at_ % sync::kWordsPerLine].get();
    ++at_;
    return value;
  }
  void skip(std::uint64_t words) noexcept { at_ += words; }
  void bytes(void* data, std::size_t size) noexcept {
    auto* to = static_cast<std::byte*>(data);
    while (size > 0) {
      const std::uint64_t in_line = at_ % sync::kWordsPerLine;
      const std::size_t part =
          std::min<std::size_t>(size, (sync::kWordsPerLine - in_line) * sizeof(std::uint64_t));
      std::memcpy(to, &ring_.line(at_ / sync::kWordsPerLine).words[in_line], part);
      to += part;
      size -= part;
      at_ += (part + 7) / 8;
    }
  }

 private:
  const LineConsumer& ring_;
  std::uint64_t at_ = 0;
};

}  // namespace photon::engine
