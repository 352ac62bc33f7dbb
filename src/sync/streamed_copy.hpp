// Copies by non-temporal stores: whole lines go to memory without being fetched first, past the
// caches. Where another core has the lines of the destination and is far away, fetching them is
// most of what an ordinary copy costs.
//
// Such stores are not ordered with later ones of the same core, as all others are on x86-64. So
// copy_streamed() ends with a fence: its bytes are visible before any store that follows it in
// program order, and all that is argued for ordinary stores in front of a release store holds for
// them (docs/visibility-and-order.md, "Non-temporal copies").
// Owner: none.
#pragma once

#include <cstddef>

namespace photon::sync {

// As memmove(). Threads: any.
void copy_streamed(std::byte* to, const std::byte* from, std::size_t size_bytes) noexcept;

// The same without the fence, for a test that shows what it is for.
void copy_streamed_unfenced(std::byte* to, const std::byte* from, std::size_t size_bytes) noexcept;

// A clock of this core for short times: ticks, which no other core need agree with.
inline unsigned long long core_ticks() noexcept { return __builtin_ia32_rdtsc(); }

}  // namespace photon::sync
