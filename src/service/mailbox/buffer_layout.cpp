#include "service/mailbox/buffer_layout.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace photon::service::mailbox {

namespace {

constexpr unsigned kPointerAlignment = 64;

static_assert(PH_MAILBOX_MOST_SEGMENTS <= std::numeric_limits<std::uint16_t>::max());

bool wraps(const void* data, std::uint64_t size_bytes) noexcept {
  return reinterpret_cast<std::uint64_t>(data) > ~size_bytes;
}

const char* why_no_segments(const ph_mailbox_buffer& buffer) {
  if (buffer.segments == nullptr) return "the segments are null";
  if (buffer.segment_count == 0) return "there are no segments";
  if (buffer.segment_count > PH_MAILBOX_MOST_SEGMENTS) return "there are more than 1,024 segments";
  if (buffer.data != nullptr || buffer.size_bytes != 0)
    return "it has segments, and data or size_bytes of its own";
  const std::span segments(buffer.segments, buffer.segment_count);
  std::uint64_t whole = 0;
  for (const ph_block& one : segments) {
    if (one.data == nullptr || one.size_bytes == 0) return "a segment is null or has no bytes";
    if (wraps(one.data, one.size_bytes)) return "a segment wraps around";
    if (whole > ~std::uint64_t{one.size_bytes}) return "the sum of the segments wraps around";
    whole += one.size_bytes;
  }
  return Layout(segments).meets_itself() ? "its segments overlap" : nullptr;
}

}  // namespace

const char* why_no_buffer(const ph_mailbox_buffer& buffer) {
  if (reinterpret_cast<std::uint64_t>(buffer.pointer) % kPointerAlignment != 0)
    return "the pointer is not at a multiple of 64 bytes";
  if (buffer.segments != nullptr || buffer.segment_count != 0) return why_no_segments(buffer);
  if (buffer.data == nullptr || buffer.size_bytes == 0) return "the buffer is null or has no bytes";
  return wraps(buffer.data, buffer.size_bytes) ? "the buffer wraps around" : nullptr;
}

Layout::Layout(std::span<const ph_block> segments) : by_address_(segments.size()) {
  segments_.reserve(segments.size());
  std::uint64_t end = 0;
  for (const ph_block& one : segments)
    segments_.push_back({static_cast<std::byte*>(one.data), end += one.size_bytes});
  std::iota(by_address_.begin(), by_address_.end(), std::uint16_t{0});
  std::sort(by_address_.begin(), by_address_.end(), [this](std::uint16_t one, std::uint16_t other) {
    return std::less<>{}(segments_[one].data, segments_[other].data);
  });
}

std::span<std::byte> Layout::piece(std::uint64_t offset, std::uint64_t most_bytes) const noexcept {
  const auto found =
      std::upper_bound(segments_.begin(), segments_.end(), offset,
                       [](std::uint64_t at, const Segment& one) { return at < one.end; });
  const auto whole = segment(static_cast<std::size_t>(found - segments_.begin()));
  const std::uint64_t left = found->end - offset;
  return whole.last(left).first(std::min(left, most_bytes));
}

// The first one that ends behind the range's begin decides: they are in order, and disjoint.
bool Layout::meets(std::span<const std::byte> range) const noexcept {
  const auto found =
      std::partition_point(by_address_.begin(), by_address_.end(), [&](std::uint16_t index) {
        const auto one = segment(index);
        return std::less_equal<const std::byte*>{}(one.data() + one.size(), range.data());
      });
  return found != by_address_.end() &&
         std::less<const std::byte*>{}(segments_[*found].data, range.data() + range.size());
}

bool Layout::meets(const Layout& other) const noexcept {
  if (segments_.size() > other.segments_.size()) return other.meets(*this);
  for (std::size_t i = 0; i < segments_.size(); ++i)
    if (other.meets(segment(i))) return true;
  return false;
}

bool Layout::meets_itself() const noexcept {
  for (std::size_t i = 1; i < by_address_.size(); ++i) {
    const auto before = segment(by_address_[i - 1]);
    if (std::less<>{}(segments_[by_address_[i]].data, before.data() + before.size())) return true;
  }
  return false;
}

}  // namespace photon::service::mailbox
