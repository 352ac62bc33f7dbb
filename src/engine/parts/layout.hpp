// Which memory a vectored operation moves: runs of equal blocks, here and at the peer, and how far
// it has come.
//
//   empty -- add() ... --> built -- take() ... --> at its end      rewind(): from its beginning
//
// Invariant: no run has 0 blocks or blocks of 0 bytes; the sum of all bytes fits 64 bits (who adds
// sees to both). Nothing allocates but add(). What it grew to stays with it for the next operation.
// Owner: the Engine's LayoutPool, under the lane's lock; lent to one request at a time.
#pragma once

#include <photon/memory.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/parts/copy_blocks.hpp"
#include "engine/parts/request.hpp"
#include "wire/run.hpp"

namespace photon::engine {

// Where in a table of runs.
struct Place {
  std::size_t run = 0;
  std::uint64_t block = 0;
  std::uint64_t offset = 0;  // in the block
};

// Of one run: `count` blocks from `block` on, or a part of one.
struct Part {
  std::uint64_t block = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t count = 0;

  std::uint64_t bytes() const noexcept { return size_bytes * count; }
};

struct Most {
  std::uint64_t bytes = ~std::uint64_t{0};  // not 0
  std::uint64_t blocks = ~std::uint64_t{0};
};

// The next part of the run that `at` is in, of `count` blocks of `size_bytes`; moves `at` behind.
constexpr Part take_part(std::uint64_t size_bytes, std::uint64_t count, Place& at,
                         const Most& most) noexcept {
  Part part{at.block, at.offset, size_bytes, 1};
  if (at.offset != 0 || size_bytes > most.bytes) {
    part.size_bytes = std::min(size_bytes - at.offset, most.bytes);
    at.offset += part.size_bytes;
    if (at.offset == size_bytes) {
      at.offset = 0;
      ++at.block;
    }
  } else {
    part.count = std::min({count - at.block, most.bytes / size_bytes, most.blocks});
    at.block += part.count;
  }
  if (at.block == count) {
    at.block = 0;
    ++at.run;
  }
  return part;
}

// What a block costs at least, in bytes: small ones take a cache miss each.
inline constexpr std::uint64_t kBlockCost = 64;

class Layout {
 public:
  struct Run {
    std::byte* own = nullptr;
    std::int64_t own_stride = 0;
    ph_target at{};
    std::int64_t stride = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t count = 0;

    std::uint64_t bytes() const noexcept { return size_bytes * count; }
    std::byte* own_block(std::uint64_t index) const noexcept {
      return own + static_cast<std::int64_t>(index) * own_stride;
    }
    BlockRow own_row() const noexcept { return {own, own_stride}; }
    // Only of what has one: the posting call looks at every run.
    wire::Extent extent() const noexcept {
      return *wire::extent_of(at.address, size_bytes, count, stride);
    }
    // Of less than 2^32 bytes.
    wire::Run on_wire() const noexcept {
      return {at.address, at.key, static_cast<std::uint32_t>(size_bytes),
              static_cast<std::uint32_t>(count), stride};
    }
  };

  void clear() noexcept;
  void add(const Run& run);
  // A block, joined to what stands before it if it goes on in the same way.
  void add_block(std::byte* own, const ph_target& at, std::uint64_t size_bytes);

  const std::vector<Run>& runs() const noexcept { return runs_; }
  // Bytes, but a block counts as so many at least.
  std::uint64_t cost(std::uint64_t block_bytes) const noexcept {
    std::uint64_t sum = 0;
    for (const Run& run : runs_) sum += std::max(run.bytes(), run.count * block_bytes);
    return sum;
  }
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  std::uint64_t blocks() const noexcept { return blocks_; }
  bool is_plain() const noexcept { return blocks_ <= 1; }
  // How many fragments of at most so many bytes its blocks make.
  std::uint64_t fragments(std::uint64_t fragment_bytes) const noexcept;
  // Whether all of the own memory lies in the range.
  bool is_within(std::uint64_t begin, std::uint64_t end) const noexcept;

  // The next bytes from `at` on that make one run.
  Run take(Place& at, const Most& most) const noexcept;
  // What is left of the block that `at` is in.
  Run rest(Place at) const noexcept { return take(at, {.blocks = 1}); }
  bool is_end(const Place& at) const noexcept { return at.run == runs_.size(); }
  void rewind() noexcept { next = landing = Place{}; }

  // A chunk of the bulk ring: a table of runs, then their bytes.
  struct Chunk {
    std::uint64_t ring_bytes = 0;
    std::uint64_t data_bytes = 0;
    std::uint64_t runs = 0;
  };
  // What from `next` on fits a chunk of at most `ring_bytes`, at least 64.
  Chunk measure(std::uint64_t data_bytes, std::uint64_t ring_bytes) const noexcept;
  // Writes just that, and goes on behind it.
  void pack(const Chunk& chunk, std::byte* to) noexcept;
  // Bytes that arrived for `landing`.
  void unpack(const std::byte* from, std::uint64_t bytes) noexcept;

  Place next;     // to be moved, or asked for
  Place landing;  // a served get: of what comes in
  // A served get: where the questions under way end, oldest first.
  static constexpr std::size_t kMostAsked = 8;
  std::uint64_t asked_bytes = 0;
  std::size_t asked_count = 0;
  std::array<std::uint64_t, kMostAsked> asked_ends{};
  bool is_ours = false;  // a get: what its first step has found

 private:
  std::vector<Run> runs_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t blocks_ = 0;
};

class LayoutPool {
 public:
  // Null-free; may throw, and then nothing was taken.
  Layout& take();
  void give(Layout& layout) noexcept;
  std::uint64_t used() const noexcept { return all_.size() - free_.size(); }

 private:
  std::vector<std::unique_ptr<Layout>> all_;
  std::vector<Layout*> free_;  // its capacity is that of all_
};

// Given back unless a request has taken it over.
class LayoutLease {
 public:
  explicit LayoutLease(LayoutPool& pool) : pool_(pool), layout_(&pool.take()) {}
  LayoutLease(const LayoutLease&) = delete;
  LayoutLease& operator=(const LayoutLease&) = delete;
  ~LayoutLease() {
    if (layout_ != nullptr) pool_.give(*layout_);
  }
  Layout& operator*() const noexcept { return *layout_; }
  Layout* operator->() const noexcept { return layout_; }
  Layout* release() noexcept { return std::exchange(layout_, nullptr); }

 private:
  LayoutPool& pool_;
  Layout* layout_;
};

// What of an operation is moved next: the rest of its block, or of it all.
inline Layout::Run rest_of(const Request& request) noexcept {
  if (request.layout != nullptr) return request.layout->rest(request.layout->next);
  Layout::Run rest;
  rest.own = (request.kind == Request::Kind::get ? request.destination
                                                 : const_cast<std::byte*>(request.source)) +
             request.done_bytes;
  rest.at = {request.target.address + request.done_bytes, request.target.key};
  rest.size_bytes = request.size_bytes - request.done_bytes;
  rest.count = 1;
  return rest;
}

// The next bytes of it are on their way.
inline void went_on(Request& request, std::uint64_t bytes) noexcept {
  request.done_bytes += bytes;
  if (request.layout != nullptr)
    static_cast<void>(request.layout->take(request.layout->next, {.bytes = bytes, .blocks = 1}));
}

}  // namespace photon::engine
