// When a stream of small records fetches its next lines, several at once.
//
// A line that its consumer has read lies in the consumer's cache, and the first store to it waits
// until it is back. Cores that keep stores in order fetch several lines at a time only for stores
// that follow each other without any between them; a put makes some twenty to its own memory
// between two lines, so each line's way was a wait of its own (and a prefetch for writing did not
// shorten it, on the processors we tried). So a stream stores once to each of its next kLines
// lines, in one go, before it writes the first of them:
//
//   kLines lines since the last claim, nothing met meanwhile    a stream: claim the next kLines
//   a record of the peer's was met                              an exchange, for now: the peer may
//                                                               be looking at the next line
//
// (In an exchange Engine::take_hot() claims one line, at the one moment when the peer is not.)
//
// Owner: a Peer, under the lane's lock.
#pragma once

#include <cstdint>

namespace photon::engine {

class LinePrefetch {
 public:
  static constexpr std::uint64_t kLines = 6;

  // Whether take() wants to be asked before the line at `tail` is written: never in an exchange,
  // whose posts would meet a branch that goes now this way, now that.
  bool is_due(std::uint64_t tail) const noexcept { return tail >= due_; }
  // Whether the kLines lines from `tail` on are to be claimed now; `free_count` of them may be.
  bool take(std::uint64_t tail, std::uint64_t free_count) noexcept {
    due_ = tail + kLines;
    return free_count >= kLines;
  }
  // Records of the peer's were met when ours ended at `tail`.
  void met(std::uint64_t tail) noexcept { due_ = tail + kLines; }

 private:
  std::uint64_t due_ = kLines;
};

}  // namespace photon::engine
