// How the bytes of a posted buffer lie, where that is not one plain range: its segments, which are
// one logical range. And what its messages cover, where that is kept.
//
// Invariant: no segment is empty, wraps or meets another one, and the sum does not wrap, where
// why_no_buffer() has looked. Owner: a Window.
#pragma once

#include <photon/mailbox.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "service/mailbox/coverage.hpp"

namespace photon::service::mailbox {

// Why that cannot be posted; null: it can, as far as the buffer alone shows. Throws bad_alloc.
const char* why_no_buffer(const ph_mailbox_buffer& buffer);

class Layout {
 public:
  // At least one. Throws bad_alloc.
  explicit Layout(std::span<const ph_block> segments);

  std::uint64_t size_bytes() const noexcept { return segments_.back().end; }
  std::span<std::byte> first() const noexcept { return {segments_[0].data, segments_[0].end}; }
  bool holds(std::uint64_t offset, std::uint64_t size_bytes) const noexcept {
    return offset <= this->size_bytes() && size_bytes <= this->size_bytes() - offset;
  }
  // The bytes from `offset` on, up to the end of their segment; at most `most_bytes`. There is at
  // least one.
  std::span<std::byte> piece(std::uint64_t offset, std::uint64_t most_bytes) const noexcept;
  bool meets(std::span<const std::byte> range) const noexcept;
  bool meets(const Layout& other) const noexcept;
  bool meets_itself() const noexcept;

  void keep_coverage() { coverage_.emplace(); }
  // Null: it is not kept.
  Coverage* coverage() noexcept { return coverage_ ? &*coverage_ : nullptr; }
  const Coverage* coverage() const noexcept { return coverage_ ? &*coverage_ : nullptr; }

 private:
  struct Segment {
    std::byte* data = nullptr;
    std::uint64_t end = 0;  // where the next one begins in the logical range
  };

  std::span<std::byte> segment(std::size_t index) const noexcept {
    const std::uint64_t begin = index == 0 ? 0 : segments_[index - 1].end;
    return {segments_[index].data, segments_[index].end - begin};
  }

  std::vector<Segment> segments_;
  std::vector<std::uint16_t> by_address_;  // indexes
  std::optional<Coverage> coverage_;
};

}  // namespace photon::service::mailbox
