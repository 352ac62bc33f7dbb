// What happened, one line an event: kept only if somebody wants to read it, and always as a digest,
// so that two runs can be compared.
// Invariant: the digest is that of the text, kept or not. Owner: the runner. Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace photon::simtest {

class History {
 public:
  explicit History(bool keep) : keep_(keep) {}

  void add(std::uint64_t now_ns, std::uint32_t rank, std::string_view what) {
    line_.clear();
    line_.append(std::to_string(now_ns)).append(" rank ").append(std::to_string(rank));
    line_.append(": ").append(what).append("\n");
    for (const char c : line_) {  // FNV-1a
      digest_ ^= static_cast<unsigned char>(c);
      digest_ *= 0x100000001b3;
    }
    ++events_;
    if (keep_) text_ += line_;
  }

  std::uint64_t digest() const noexcept { return digest_; }
  std::uint64_t events() const noexcept { return events_; }
  const std::string& text() const noexcept { return text_; }

 private:
  const bool keep_;
  std::uint64_t digest_ = 0xcbf29ce484222325;
  std::uint64_t events_ = 0;
  std::string line_;
  std::string text_;
};

}  // namespace photon::simtest
