// Two copies through a ring of chunks in shared memory, both sides at once: from memory of the heap
// into memory of the heap, without the kernel. A ring that a core's own cache holds is handed over
// line by line, modified; one that it does not hold is met in the cache that cores share, or in
// memory. Which is faster is the machine's choice, hence several sizes.
#include <fmt/core.h>

#include <algorithm>

#include "copies.hpp"
#include "means.hpp"

namespace photon::perf {
namespace {

constexpr std::size_t kRingLineBytes = 64;
constexpr std::size_t kRings[] = {256 << 10, 1 << 20, 2 << 20, kRingBytes};
constexpr std::size_t kChunks[] = {8 << 10, 16 << 10, 32 << 10, 64 << 10};
constexpr std::size_t kLeastForAllRings = 512;

struct Ring {
  std::size_t ring_bytes;
  std::size_t chunk_bytes;
  CopyForm in;
  CopyForm out;

  std::size_t depth() const noexcept { return ring_bytes / chunk_bytes; }
};

void push(Channel& channel, std::uint64_t number, const Ring& ring) {
  auto& area = channel.area();
  const auto* const source = channel.source(number);
  auto& chunk = channel.chunks;
  for (std::size_t done = 0; done < channel.size_bytes(); done += ring.chunk_bytes, ++chunk) {
    const auto slot = chunk % ring.depth();
    if (chunk >= ring.depth()) {
      spin_until_at_least<SpinForm::tight>(area.drained.line.flag, chunk - ring.depth() + 1);
    }
    ring.in.copy(area.ring + slot * ring.chunk_bytes, source + done,
                 std::min(ring.chunk_bytes, channel.size_bytes() - done));
    area.chunk_flags[slot].flag.store_release(chunk + 1);
  }
}

void pull(Channel& channel, std::uint64_t number, const Ring& ring) {
  auto& area = channel.area();
  auto* const landing = channel.landing(number);
  auto& chunk = channel.chunks;
  for (std::size_t done = 0; done < channel.size_bytes(); done += ring.chunk_bytes, ++chunk) {
    const auto slot = chunk % ring.depth();
    channel.await(area.chunk_flags[slot].flag, chunk + 1);
    ring.out.copy(landing + done, area.ring + slot * ring.chunk_bytes,
                  std::min(ring.chunk_bytes, channel.size_bytes() - done));
    area.drained.line.flag.store_release(chunk + 1);
  }
}

Means means_of(const Ring& ring) {
  Means means;
  means.name =
      fmt::format("ring {}K by {}K, {} > {}", ring.ring_bytes >> 10,
                  static_cast<double>(ring.chunk_bytes) / 1024, ring.in.name, ring.out.name);
  means.family = "two-copy ring";
  means.send = [ring](Channel& channel, std::uint64_t number) { push(channel, number, ring); };
  means.await = [ring](Channel& channel, std::uint64_t number) { pull(channel, number, ring); };
  means.is_buffered = true;
  return means;
}

constexpr std::size_t whole_lines(std::size_t bytes) noexcept {
  return (bytes + kRingLineBytes - 1) / kRingLineBytes * kRingLineBytes;
}

// A small message has a chunk of its own size, so that the ring is as dense as it can be, and the
// smallest of the others; a large one each that is not larger than it.
std::vector<std::size_t> chunks_for(std::size_t size_bytes) {
  std::vector<std::size_t> chunks;
  if (size_bytes < kChunks[0])
    chunks.push_back(whole_lines(std::max(size_bytes, kLeastForAllRings)));
  for (const auto chunk : kChunks) {
    if (chunk == kChunks[0] || chunk <= size_bytes) chunks.push_back(chunk);
  }
  return chunks;
}

}  // namespace

void add_rings(std::vector<Means>& all, std::size_t size_bytes) {
  const auto& memcpy_form = store_forms().front();
  const auto& loop_form = load_forms().back();
  for (const auto ring_bytes : kRings) {
    for (const auto chunk_bytes : chunks_for(size_bytes)) {
      if (ring_bytes / chunk_bytes > kRingChunks) continue;
      all.push_back(means_of({ring_bytes, chunk_bytes, memcpy_form, memcpy_form}));
      if (size_bytes < kLeastForAllRings) return;
      all.push_back(means_of({ring_bytes, chunk_bytes, memcpy_form, loop_form}));
      all.push_back(means_of({ring_bytes, chunk_bytes, widest_non_temporal(), memcpy_form}));
      all.push_back(means_of({ring_bytes, chunk_bytes, widest_non_temporal(), loop_form}));
    }
  }
}

}  // namespace photon::perf
