// Fragments counted at their target, by the line of the record whose id waits for them
// (docs/posted-writes.md).
//
//   unknown -- fragment --> counted -- record --> coming -- last fragment --> unknown, id is ready
//   unknown -- record --> coming -- withdrawn --> unknown, the id is dropped
//   counted -- record that needs no more --> unknown, the id is ready
//
// Invariant: an entry is used by one record at a time, for its initiator takes no line that has
// fragments under way; who breaks that is told apart by the line, which stands here as in an imm.
// Owner: a Peer. Maps memory in open() only, which costs pages when fragments come.
#pragma once

#include <cstdint>
#include <optional>

#include "base/zero_array.hpp"

namespace photon::engine {

class Arrivals {
 public:
  enum class Verdict : std::uint8_t { coming, ready, wrong };

  bool is_open() const noexcept { return static_cast<bool>(entries_); }
  void open(std::uint64_t ring_lines) {
    entries_ = base::ZeroArray<Entry>(ring_lines);
    mask_ = ring_lines - 1;
  }

  // A fragment with that imm has landed. `is_possible`: its record may be still to come.
  // `queue_at`: where the id waits that is ready.
  Verdict fragment(std::uint64_t line, bool is_possible, std::uint64_t& queue_at) noexcept {
    Entry& entry = entries_[line & mask_];
    if (entry.expected == 0) {
      if (!is_possible || (entry.arrived != 0 && entry.line != line)) return Verdict::wrong;
      entry.line = line;
      return ++entry.arrived == 0 ? Verdict::wrong : Verdict::coming;
    }
    if (entry.line != line) return Verdict::wrong;
    if (++entry.arrived < entry.expected) return Verdict::coming;
    queue_at = entry.queue_at;
    entry = Entry{};
    return Verdict::ready;
  }

  // The record was read; if its id has to wait, it will be at `queue_at`.
  Verdict record(std::uint64_t line, std::uint64_t fragments, std::uint64_t queue_at) noexcept {
    Entry& entry = entries_[line & mask_];
    if (fragments == 0 || fragments > UINT32_MAX || entry.expected != 0 ||
        entry.arrived > fragments)
      return Verdict::wrong;
    if (entry.arrived != 0 && entry.line != line) return Verdict::wrong;
    if (entry.arrived == fragments) {
      entry = Entry{};
      return Verdict::ready;
    }
    entry.line = line;
    entry.expected = static_cast<std::uint32_t>(fragments);
    entry.queue_at = queue_at;
    return Verdict::coming;
  }

  // The fragments that are missing will never come. Where the id waits; nothing: none does.
  std::optional<std::uint64_t> withdraw(std::uint64_t line) noexcept {
    Entry& entry = entries_[line & mask_];
    if (entry.expected == 0 || entry.line != line) return std::nullopt;
    const std::uint64_t queue_at = entry.queue_at;
    entry = Entry{};
    return queue_at;
  }

 private:
  struct Entry {  // unknown: all zero
    std::uint64_t line = 0;
    std::uint64_t queue_at = 0;
    std::uint32_t arrived = 0;
    std::uint32_t expected = 0;  // 0: the record was not seen
  };

  base::ZeroArray<Entry> entries_;
  std::uint64_t mask_ = 0;
};

}  // namespace photon::engine
