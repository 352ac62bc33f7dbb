// Where the payload of an active message shall land (docs/active-messages.md, "A message at its
// target"): what a header handler has named, checked, and kept in a copy of its own.
//
//   payload:  | part 0     | part 1     | part 2  |     a part: what a completion handler is told
//   of landing:  | block 0       | block 1 | block 2 |     a piece ends where a part or a block
//   ends cycle:    part i lies in place i modulo the number of places
//
// Invariant: a landing that was taken has a place for each byte of its payload, or drops them all.
// Owner: whoever lands the payload. Threads: one at a time; nothing here needs a lock.
#pragma once

#include <photon/am.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace photon::service::am {

// What a handler has returned, as its sender hears it.
constexpr ph_status as_verdict(ph_status returned) noexcept {
  return returned > 0 ? PH_ERR_ARGUMENT : returned;
}

class Landing {
 public:
  enum class Kind : std::uint8_t { none, buffer, blocks, cycle, drop };

  // Takes what a header handler has named, before any other handler runs: its list of blocks may be
  // gone then. `is_here`: the payload was carried. PH_OK with Kind::none: it was used in place.
  // Else the landing is kept in so far that done() can be told the error.
  ph_status take(const ph_am_landing& named, std::uint64_t payload_bytes, bool is_here) noexcept;

  Kind kind() const noexcept { return kind_; }
  std::uint64_t payload_bytes() const noexcept { return payload_bytes_; }
  // Of all parts but the last; a landing that drops has one part.
  std::uint64_t part_bytes() const noexcept { return part_bytes_; }
  // So many parts may be filled before the first of them was handled; 0: all of them.
  std::uint64_t places() const noexcept { return places_; }
  ph_am_done done() const noexcept { return done_; }
  void* argument() const noexcept { return argument_; }

  // Where the part ends that has this byte.
  std::uint64_t part_end(std::uint64_t offset) const noexcept {
    return offset + std::min(part_bytes_ - offset % part_bytes_, payload_bytes_ - offset);
  }
  // The place of that byte and of those behind it in the same part and block; of a landing that
  // drops, or behind the last byte, there is none.
  std::span<std::byte> piece(std::uint64_t offset) const noexcept;
  // Copies that part of a payload to its place.
  void fill(std::uint64_t offset, std::span<const std::byte> bytes) const noexcept;

  // What a completion handler is told of the part that begins there: it has landed, or `status` is
  // why neither it nor anything behind it will.
  ph_am_part part(std::uint64_t offset) const noexcept;
  static ph_am_part ending(std::uint64_t offset, ph_status status) noexcept {
    return {.offset = offset, .size_bytes = 0, .data = nullptr, .status = status, .is_last = 1};
  }

 private:
  struct Block {
    std::uint64_t end = 0;  // of the payload, in it
    std::byte* at = nullptr;
    std::uint64_t size_bytes = 0;
  };

  ph_status take_list(const ph_am_landing& named) noexcept;
  ph_status take_buffer(const ph_am_landing& named) noexcept;
  std::byte* data_of(std::uint64_t offset) const noexcept;

  Kind kind_ = Kind::none;
  std::byte* buffer_ = nullptr;
  std::vector<Block> blocks_;  // none is empty
  std::uint64_t places_ = 0;
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t part_bytes_ = 1;  // never 0
  ph_am_done done_ = nullptr;
  void* argument_ = nullptr;
};

// Lands a payload that was carried, or drops any: `tell(part)` calls the completion handler, and
// hands back what it has returned. The status is what the sender hears.
template <class Tell>
ph_status land(const Landing& landing, std::span<const std::byte> payload, Tell tell) {
  std::uint64_t offset = 0;
  do {
    const ph_am_part part = landing.part(offset);
    if (landing.kind() != Landing::Kind::drop)
      landing.fill(offset, payload.subspan(offset, part.size_bytes));
    if (landing.done() != nullptr) {
      const ph_status verdict = as_verdict(tell(part));
      if (verdict != PH_OK && part.is_last == 0)
        tell(Landing::ending(offset + part.size_bytes, verdict));
      if (verdict != PH_OK) return verdict;
    }
    offset += part.size_bytes;
  } while (offset != landing.payload_bytes());
  return PH_OK;
}

}  // namespace photon::service::am
