// Notes of puts that have gone into a peer's ring and may still turn out not to have arrived: by
// the line of its record, the names that its caller gave it.
//
//   noted -- refused by the peer, or the peer is lost before it is known to have read it --> told
//         -- its line is used again --> forgotten: then the peer has read it
//
// Small puts on a credit grant (fast_path.hpp) leave no note: of them only that some were lost is
// known. Owner: the Peer.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/zero_array.hpp"

namespace photon::engine {

struct SentPut {
  std::uint64_t ends = 0;      // one more than the line's position; 0: none
  std::uint64_t local_id = 0;  // its first 8 bytes
  std::uint64_t address = 0;   // of the whole operation
  std::uint64_t size_bytes = 0;
  std::uint64_t request = 0;  // its token; its caller may not have taken it yet
  bool is_told = false;       // its end was told: what is read of it later is no news
};

class SentPuts {
 public:
  void open(std::uint64_t ring_lines) {
    puts_ = base::ZeroArray<SentPut>(ring_lines);
    mask_ = ring_lines - 1;
  }
  void close() noexcept { puts_.reset(); }
  bool is_open() const noexcept { return static_cast<bool>(puts_); }

  void note(std::uint64_t line, SentPut put) noexcept {
    put.ends = line + 1;
    puts_[line & mask_] = put;
  }
  // Its failure was told. Another record may have taken its place meanwhile.
  void told(std::uint64_t line) noexcept {
    if (find(line) != nullptr) puts_[line & mask_].is_told = true;
  }
  // The same, for all chunks of a queued operation.
  void told_request(std::uint64_t request) noexcept {
    for (std::uint64_t line = 0; is_open() && line <= mask_; ++line)
      if (puts_[line].request == request) puts_[line].is_told = true;
  }
  // Null: the record of that line is none of these, or another has taken its place.
  const SentPut* find(std::uint64_t line) const noexcept {
    if (!is_open()) return nullptr;
    const SentPut& put = puts_[line & mask_];
    return put.ends == line + 1 ? &put : nullptr;
  }

  // All records that end before this line have been read.
  void read_to(std::uint64_t line) noexcept { read_ = std::max(read_, line); }
  std::uint64_t read() const noexcept { return read_; }

 private:
  base::ZeroArray<SentPut> puts_;
  std::uint64_t mask_ = 0;
  std::uint64_t read_ = 0;
};

}  // namespace photon::engine
