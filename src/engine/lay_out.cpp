// What a caller's description of a vectored operation becomes: checked block by block, before
// anything is taken or sent.
#include <algorithm>
#include <array>
#include <string>

#include "engine/engine.hpp"

namespace photon::engine {

namespace {

std::uint64_t address_of(const void* own) noexcept { return reinterpret_cast<std::uint64_t>(own); }

struct Segment {
  std::byte* own;
  ph_target at;
  std::uint64_t size_bytes;
};
Segment segment_of(const ph_put_segment& one) noexcept {
  return {static_cast<std::byte*>(const_cast<void*>(one.source)), one.target, one.size_bytes};
}
Segment segment_of(const ph_get_segment& one) noexcept {
  return {static_cast<std::byte*>(one.destination), one.source, one.size_bytes};
}

// One side of a grid.
struct Side {
  std::uint64_t address;
  std::int64_t ph_dimension::*stride;
};

// Whether all blocks lie in the address space.
bool fits(const Grid& grid, const Side& side) noexcept {
  std::uint64_t low = side.address;
  std::uint64_t size = grid.block_bytes;
  for (const ph_dimension& one : grid.dimensions) {
    const auto extent = wire::extent_of(low, size, one.count, one.*side.stride);
    if (!extent) return false;
    low = extent->address;
    size = extent->size_bytes;
  }
  return wire::extent_of(low, size, 1, 0).has_value();
}

std::uint64_t span_of(std::int64_t stride) noexcept {
  return stride < 0 ? -static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
}

// By its strides alone: in order of their size each spans all that the smaller ones fill. Of what
// fits the address space, so no sum overflows.
bool overlaps_itself(const Grid& grid, std::int64_t ph_dimension::*stride) noexcept {
  std::array<const ph_dimension*, PH_MAX_DIMENSIONS> order{};
  std::size_t count = 0;
  for (const ph_dimension& one : grid.dimensions) {
    if (one.count <= 1) continue;
    std::size_t at = count++;
    for (; at > 0 && span_of(order[at - 1]->*stride) > span_of(one.*stride); --at)
      order[at] = order[at - 1];
    order[at] = &one;
  }
  std::uint64_t filled = grid.block_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    if (span_of(order[i]->*stride) < filled) return true;
    filled += span_of(order[i]->*stride) * (order[i]->count - 1);
  }
  return false;
}

// Without what repeats nothing, and with blocks as large as they go on both sides.
struct Shape {
  std::uint64_t block_bytes = 0;
  std::array<ph_dimension, PH_MAX_DIMENSIONS> dimensions{};
  std::size_t count = 0;

  explicit Shape(const Grid& grid) noexcept : block_bytes(grid.block_bytes) {
    for (const ph_dimension& one : grid.dimensions) {
      if (one.count == 1) continue;
      const auto block = static_cast<std::int64_t>(block_bytes);
      if (count == 0 && one.local_stride_bytes == block && one.remote_stride_bytes == block)
        block_bytes *= one.count;
      else
        dimensions[count++] = one;
    }
    if (count == 0) dimensions[count++] = {1, 0, 0};
  }
};

}  // namespace

ph_status Engine::misfit(Rank rank, const Vectored& what, ph_status status,
                         const std::string& why) {
  return fail(status, rank,
              std::string(what.call) + " of rank " + std::to_string(rank) + ": " + why);
}

ph_status Engine::lay_out(Peer& peer, const Vectored& what, Layout& layout) {
  if (std::holds_alternative<Grid>(what.shape)) return lay_out_grid(peer, what, layout);
  if (what.is_get)
    return lay_out_list(peer, what, layout, std::get<std::span<const ph_get_segment>>(what.shape));
  return lay_out_list(peer, what, layout, std::get<std::span<const ph_put_segment>>(what.shape));
}

ph_status Engine::lay_out_list(Peer& peer, const Vectored& what, Layout& layout, const auto& list) {
  const std::uint32_t access = what.is_get ? PH_ACCESS_READ : PH_ACCESS_WRITE;
  if (list.size() > config_.max_segments)
    return misfit(peer.rank, what, PH_ERR_ARGUMENT,
                  std::to_string(list.size()) + " segments, the limit is " +
                      std::to_string(config_.max_segments) + "; raise PHOTON_MAX_SEGMENTS");
  if (list.data() == nullptr && !list.empty())
    return misfit(peer.rank, what, PH_ERR_ARGUMENT, "the list is null but has segments");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Segment one = segment_of(list[i]);
    if (one.size_bytes == 0) continue;
    const bool is_there = wire::extent_of(one.at.address, one.size_bytes, 1, 0).has_value();
    ph_status status = PH_OK;
    std::string why;
    if (one.own == nullptr)
      why = what.is_get ? "its destination is null" : "its source is null";
    else if (!wire::extent_of(address_of(one.own), one.size_bytes, 1, 0) ||
             __builtin_add_overflow(sum, one.size_bytes, &sum))
      why = "its end, or the sum of the bytes so far, overflows";
    if (!why.empty()) {
      status = PH_ERR_ARGUMENT;
    } else if (!is_there) {
      status = PH_ERR_RANGE;
      why = "it leaves the peer's address space";
    } else {
      status = check_target(peer, one.at, one.size_bytes, access);
      if (status != PH_OK) why = last_error_.what;
    }
    if (status != PH_OK)
      return misfit(peer.rank, what, status,
                    "segment " + std::to_string(i) + " of " + std::to_string(list.size()) + ", " +
                        std::to_string(one.size_bytes) + " bytes: " + why);
    layout.add_block(one.own, one.at, one.size_bytes);
  }
  return PH_OK;
}

// What is wrong with a grid as such; how many blocks it has.
ph_status Engine::check_grid(const Peer& peer, const Vectored& what, std::uint64_t& blocks) {
  const Grid& grid = std::get<Grid>(what.shape);
  const Side own{address_of(grid.own), &ph_dimension::local_stride_bytes};
  const Side there{grid.at.address, &ph_dimension::remote_stride_bytes};
  const auto is_none = [](const ph_dimension& one) { return one.count == 0; };
  const auto dimensions = grid.dimensions;
  blocks = grid.block_bytes != 0 && std::none_of(dimensions.begin(), dimensions.end(), is_none);
  if (blocks == 0) return PH_OK;
  for (const ph_dimension& one : dimensions)
    if (__builtin_mul_overflow(blocks, one.count, &blocks) || blocks > config_.max_segments)
      return misfit(peer.rank, what, PH_ERR_ARGUMENT,
                    "more blocks than the limit of " + std::to_string(config_.max_segments) +
                        "; raise PHOTON_MAX_SEGMENTS");
  std::uint64_t sum = 0;
  if (grid.own == nullptr)
    return misfit(peer.rank, what, PH_ERR_ARGUMENT,
                  what.is_get ? "the destination is null" : "the source is null");
  if (!fits(grid, own) || __builtin_mul_overflow(blocks, grid.block_bytes, &sum))
    return misfit(peer.rank, what, PH_ERR_ARGUMENT,
                  "local strides and counts leave the address space");
  if (!fits(grid, there))
    return misfit(peer.rank, what, PH_ERR_RANGE,
                  "remote strides and counts leave the address space");
  if (overlaps_itself(grid, what.is_get ? own.stride : there.stride))
    return misfit(peer.rank, what, PH_ERR_ARGUMENT,
                  "the destination overlaps itself: a stride is less than what the smaller ones "
                  "span");
  return PH_OK;
}

// All blocks of a row at once; if that fails, the first that does. Blocks that touch on both sides
// are one.
ph_status Engine::check_row(Peer& peer, const Vectored& what, const Layout::Run& row,
                            std::uint64_t before) {
  const std::uint32_t access = what.is_get ? PH_ACCESS_READ : PH_ACCESS_WRITE;
  const wire::Extent extent = row.extent();
  if (check_target(peer, {extent.address, row.at.key}, extent.size_bytes, access) == PH_OK)
    return PH_OK;
  for (std::uint64_t i = 0; i < row.count; ++i) {
    const std::uint64_t address = row.at.address + i * static_cast<std::uint64_t>(row.stride);
    const auto status = check_target(peer, {address, row.at.key}, row.size_bytes, access);
    if (status == PH_OK) continue;
    const std::string known = last_error_.what;
    return misfit(peer.rank, what, status, "block " + std::to_string(before + i) + ": " + known);
  }
  return PH_OK;  // its region changed between two looks; the copy looks again
}

// A run for each row of the first dimension that is left.
ph_status Engine::lay_out_grid(Peer& peer, const Vectored& what, Layout& layout) {
  std::uint64_t blocks = 0;
  if (const auto status = check_grid(peer, what, blocks); status != PH_OK || blocks == 0)
    return status;
  const Grid& grid = std::get<Grid>(what.shape);
  const Shape shape(grid);
  const ph_dimension& row = shape.dimensions[0];
  std::array<std::size_t, PH_MAX_DIMENSIONS> index{};
  const std::uint64_t rows = blocks * grid.block_bytes / (shape.block_bytes * row.count);
  for (std::uint64_t i = 0; i < rows; ++i) {
    Layout::Run run{grid.own,          row.local_stride_bytes,
                    grid.at,           row.remote_stride_bytes,
                    shape.block_bytes, row.count};
    for (std::size_t d = 1; d < shape.count; ++d) {
      const auto at = static_cast<std::int64_t>(index[d]);
      run.own += at * shape.dimensions[d].local_stride_bytes;
      run.at.address += static_cast<std::uint64_t>(at * shape.dimensions[d].remote_stride_bytes);
    }
    if (const auto status = check_row(peer, what, run, layout.blocks()); status != PH_OK)
      return status;
    layout.add(run);
    for (std::size_t d = 1; d < shape.count && ++index[d] == shape.dimensions[d].count; ++d)
      index[d] = 0;
  }
  return PH_OK;
}

}  // namespace photon::engine
