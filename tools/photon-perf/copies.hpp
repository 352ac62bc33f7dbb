// The ways in which a process can copy by itself, for the limit programs. Each returns when its
// stores are ordered before a release store that follows, non-temporal ones included.
// Owner: none (pure functions).
#pragma once

#include <cstddef>
#include <span>

namespace photon::perf {

struct CopyForm {
  const char* name;
  void (*copy)(std::byte* to, const std::byte* from, std::size_t size_bytes) noexcept;
};

// All that this processor has: those that suit a target whose next reader is another core.
std::span<const CopyForm> store_forms();
// Those that suit a target that this core reads next.
std::span<const CopyForm> load_forms();
// The widest non-temporal stores of this processor.
const CopyForm& widest_non_temporal();

}  // namespace photon::perf
