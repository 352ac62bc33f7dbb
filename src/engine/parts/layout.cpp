// Runs of a vectored operation: building them, walking them, and chunks of them.
#include "engine/parts/layout.hpp"

#include <cstring>

namespace photon::engine {

namespace {

std::int64_t distance(std::uint64_t from, std::uint64_t to) noexcept {
  return static_cast<std::int64_t>(to - from);
}

std::uint64_t address_of(const std::byte* own) noexcept {
  return reinterpret_cast<std::uint64_t>(own);
}

}  // namespace

void Layout::clear() noexcept {
  runs_.clear();
  size_bytes_ = blocks_ = 0;
  asked_bytes = 0;
  asked_count = 0;
  is_ours = false;
  rewind();
}

void Layout::add(const Run& run) {
  runs_.push_back(run);
  size_bytes_ += run.bytes();
  blocks_ += run.count;
}

void Layout::add_block(std::byte* own, const ph_target& at, std::uint64_t size_bytes) {
  Run* last = runs_.empty() ? nullptr : &runs_.back();
  if (last != nullptr && last->at.key == at.key) {
    const bool is_one = last->count == 1;
    if (is_one && address_of(last->own) + last->size_bytes == address_of(own) &&
        last->at.address + last->size_bytes == at.address) {
      last->size_bytes += size_bytes;
      size_bytes_ += size_bytes;
      return;
    }
    const Run& run = *last;
    const std::int64_t own_stride =
        distance(address_of(run.own_block(run.count - 1)), address_of(own));
    const std::uint64_t before =
        run.at.address + (run.count - 1) * static_cast<std::uint64_t>(run.stride);
    const std::int64_t stride = distance(before, at.address);
    const bool goes_on = is_one || (own_stride == run.own_stride && stride == run.stride);
    // One that leaves the address space stays apart: runs have an extent.
    if (size_bytes == run.size_bytes && goes_on &&
        wire::extent_of(run.at.address, size_bytes, run.count + 1, stride)) {
      last->own_stride = own_stride;
      last->stride = stride;
      ++last->count;
      ++blocks_;
      size_bytes_ += size_bytes;
      return;
    }
  }
  add({own, 0, at, 0, size_bytes, 1});
}

std::uint64_t Layout::fragments(std::uint64_t fragment_bytes) const noexcept {
  std::uint64_t all = 0;
  for (const Run& run : runs_)
    all += run.count * (run.size_bytes / fragment_bytes + (run.size_bytes % fragment_bytes != 0));
  return all;
}

bool Layout::is_within(std::uint64_t begin, std::uint64_t end) const noexcept {
  return std::all_of(runs_.begin(), runs_.end(), [&](const Run& run) {
    const auto own =
        wire::extent_of(address_of(run.own), run.size_bytes, run.count, run.own_stride);
    return own && own->address >= begin && own->address + own->size_bytes <= end;
  });
}

Layout::Run Layout::take(Place& at, const Most& most) const noexcept {
  Run run = runs_[at.run];
  const Part part = take_part(run.size_bytes, run.count, at, most);
  run.own = run.own_block(part.block) + part.offset;
  run.at.address += part.block * static_cast<std::uint64_t>(run.stride) + part.offset;
  run.size_bytes = part.size_bytes;
  run.count = part.count;
  return run;
}

Layout::Chunk Layout::measure(std::uint64_t data_bytes, std::uint64_t ring_bytes) const noexcept {
  Chunk chunk;
  for (Place at = next; !is_end(at) && chunk.data_bytes < data_bytes &&
                        chunk.ring_bytes + wire::kRunBytes < ring_bytes;) {
    const std::uint64_t room = ring_bytes - chunk.ring_bytes - wire::kRunBytes;
    const Run run = take(at, {.bytes = std::min(room, data_bytes - chunk.data_bytes)});
    chunk.ring_bytes += wire::kRunBytes + run.bytes();
    chunk.data_bytes += run.bytes();
    ++chunk.runs;
  }
  return chunk;
}

void Layout::pack(const Chunk& chunk, std::byte* to) noexcept {
  std::uint64_t left = chunk.data_bytes;  // a bound that cuts the runs where measure() has
  std::byte* data = to + chunk.runs * wire::kRunBytes;
  for (std::uint64_t i = 0; i < chunk.runs; ++i) {
    const Run run = take(next, {.bytes = left});
    const wire::Run entry = run.on_wire();
    std::memcpy(to + i * wire::kRunBytes, &entry, sizeof entry);
    copy_blocks({data, static_cast<std::int64_t>(run.size_bytes)}, run.own_row(), run.size_bytes,
                run.count);
    data += run.bytes();
    left -= run.bytes();
  }
}

void Layout::unpack(const std::byte* from, std::uint64_t bytes) noexcept {
  while (bytes > 0) {
    const Run run = take(landing, {.bytes = bytes});
    copy_blocks(run.own_row(), packed_row(from, run.size_bytes), run.size_bytes, run.count);
    from += run.bytes();
    bytes -= run.bytes();
  }
}

Layout& LayoutPool::take() {
  if (free_.empty()) {
    free_.reserve(all_.size() + 1);
    all_.push_back(std::make_unique<Layout>());
    free_.push_back(all_.back().get());
  }
  Layout& layout = *free_.back();
  free_.pop_back();
  layout.clear();
  return layout;
}

void LayoutPool::give(Layout& layout) noexcept { free_.push_back(&layout); }

}  // namespace photon::engine
