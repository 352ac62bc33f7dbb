// How receivers prove that they read every byte: a sum of 64-bit words, wide enough to run at the
// speed of the caches. Ours and the limit programs use the same one.
// Owner: none (pure functions).
#pragma once

#include <cstddef>
#include <cstdint>

namespace photon::perf {

// Sum of the little-endian 64-bit words of [data, data + size_bytes), the last one zero-padded.
std::uint64_t checksum_of(const void* data, std::size_t size_bytes) noexcept;

// memcpy that sums on its way: one pass instead of two for a receiver that must copy out.
std::uint64_t copy_and_checksum(void* destination, const void* source,
                                std::size_t size_bytes) noexcept;

// Fill with words that differ by position and seed, so that a lost or stale line shows.
void fill_pattern(void* data, std::size_t size_bytes, std::uint64_t seed) noexcept;

}  // namespace photon::perf
