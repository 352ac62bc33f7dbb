#include "service/am/landing.hpp"

#include <new>

namespace photon::service::am {
namespace {

constexpr std::uint64_t kMostPlaces = 65536;

bool names_a_buffer(const ph_am_landing& named) noexcept {
  return named.buffer != nullptr || named.buffer_bytes != 0;
}
bool names_a_list(const ph_am_landing& named) noexcept {
  return named.blocks != nullptr || named.blocks_count != 0;
}

}  // namespace

ph_status Landing::take(const ph_am_landing& named, std::uint64_t payload_bytes,
                        bool is_here) noexcept {
  *this = Landing();
  payload_bytes_ = payload_bytes;
  part_bytes_ = std::max<std::uint64_t>(payload_bytes, 1);
  done_ = named.done;
  argument_ = named.argument;
  const bool has_buffer = names_a_buffer(named);
  const bool has_list = names_a_list(named);
  const bool drops = (named.flags & PH_AM_DROP) != 0;
  if ((named.flags & ~(PH_AM_DROP | PH_AM_CYCLE)) != 0) return PH_ERR_ARGUMENT;
  if ((named.flags & PH_AM_CYCLE) != 0 && !has_buffer) return PH_ERR_ARGUMENT;
  if (int{has_buffer} + int{has_list} + int{drops} > 1) return PH_ERR_ARGUMENT;
  if (drops) kind_ = Kind::drop;
  if (drops) return PH_OK;  // told of at once: parts are for those who use the bytes
  if (named.chunk_bytes != 0) part_bytes_ = std::min(named.chunk_bytes, part_bytes_);
  if (has_list) return take_list(named);
  if (has_buffer) return take_buffer(named);
  return is_here ? PH_OK : PH_ERR_ARGUMENT;
}

ph_status Landing::take_buffer(const ph_am_landing& named) noexcept {
  if (named.buffer == nullptr) return PH_ERR_ARGUMENT;
  if ((named.flags & PH_AM_CYCLE) != 0) {
    if (named.chunk_bytes == 0 || named.buffer_bytes % named.chunk_bytes != 0)
      return PH_ERR_ARGUMENT;
    const std::uint64_t places = named.buffer_bytes / named.chunk_bytes;
    if (places < 2 || places > kMostPlaces) return PH_ERR_ARGUMENT;
    places_ = places;
  } else if (named.buffer_bytes < payload_bytes_) {
    return PH_ERR_RANGE;
  }
  kind_ = places_ == 0 ? Kind::buffer : Kind::cycle;
  buffer_ = static_cast<std::byte*>(named.buffer);
  return PH_OK;
}

ph_status Landing::take_list(const ph_am_landing& named) noexcept {
  if (named.blocks == nullptr || named.blocks_count > PH_AM_BLOCKS) return PH_ERR_ARGUMENT;
  try {
    blocks_.reserve(named.blocks_count);
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;
  }
  std::uint64_t sum = 0;
  for (const ph_block& one : std::span(named.blocks, named.blocks_count)) {
    const std::uint64_t size_bytes = one.size_bytes;
    if (size_bytes == 0) continue;
    if (one.data == nullptr || sum + size_bytes < sum) return PH_ERR_ARGUMENT;
    sum += size_bytes;
    blocks_.push_back({sum, static_cast<std::byte*>(one.data), size_bytes});
  }
  if (sum < payload_bytes_) return PH_ERR_RANGE;
  kind_ = Kind::blocks;
  return PH_OK;
}

std::byte* Landing::data_of(std::uint64_t offset) const noexcept {
  switch (kind_) {
    case Kind::buffer: return buffer_ + offset;
    case Kind::cycle:
      return buffer_ + offset / part_bytes_ % places_ * part_bytes_ + offset % part_bytes_;
    case Kind::blocks: return blocks_.size() == 1 ? blocks_.front().at + offset : nullptr;
    default: return nullptr;
  }
}

std::span<std::byte> Landing::piece(std::uint64_t offset) const noexcept {
  if (offset >= payload_bytes_) return {};
  const std::uint64_t rest = part_end(offset) - offset;
  if (kind_ != Kind::blocks) {
    std::byte* const at = data_of(offset);
    return at == nullptr ? std::span<std::byte>() : std::span(at, rest);
  }
  const auto block =
      std::upper_bound(blocks_.begin(), blocks_.end(), offset,
                       [](std::uint64_t byte, const Block& one) { return byte < one.end; });
  const std::uint64_t left = block->end - offset;
  return {block->at + (block->size_bytes - left), std::min(left, rest)};
}

void Landing::fill(std::uint64_t offset, std::span<const std::byte> bytes) const noexcept {
  while (!bytes.empty()) {
    const std::span<std::byte> to = piece(offset);
    if (to.empty()) return;
    const std::size_t size_bytes = std::min(to.size(), bytes.size());
    std::memcpy(to.data(), bytes.data(), size_bytes);
    bytes = bytes.subspan(size_bytes);
    offset += size_bytes;
  }
}

ph_am_part Landing::part(std::uint64_t offset) const noexcept {
  const std::uint64_t end = part_end(offset);
  return {.offset = offset,
          .size_bytes = end - offset,
          .data = data_of(offset),
          .status = PH_OK,
          .is_last = end == payload_bytes_};
}

}  // namespace photon::service::am
