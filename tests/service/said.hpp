// What goes over a port that a test has made: messages that the service has said, and messages for
// it. Owner: whoever made the value.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "service/service.hpp"

namespace photon::test {

using service::Rank;
using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(std::span<const std::byte> span) { return {span.begin(), span.end()}; }
inline Bytes words_of(const std::vector<std::uint64_t>& words) {
  return bytes_of(std::as_bytes(std::span(words)));
}
inline std::vector<std::uint64_t> words_in(const Bytes& bytes) {
  std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof words[0]);
  return words;
}

// A message that the service has said.
struct Said {
  Rank to = 0;
  Bytes header;
  Bytes payload;
  bool is_body = false;
  Bytes body;
  std::uint64_t token = 0;  // of a body: its end was not told yet
};

// A message for the service; with a body, of which a part may come.
struct Coming {
  Rank from = 0;
  Bytes header;
  Bytes payload;
  Bytes body;
  std::uint64_t offset = 0;      // of the body: this part
  std::uint64_t size_bytes = 0;  // of the whole body; 0: a message without one
};

}  // namespace photon::test
