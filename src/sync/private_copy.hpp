// A value that another process may be changing, read once: what was checked is what is used. A
// plain copy does not do: to the compiler the memory is ours alone, and it may read it again.
// Owner: none.
#pragma once

#include <cstring>
#include <type_traits>

namespace photon::sync {

template <class T>
[[gnu::always_inline]] inline T private_copy(const void* shared) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  T copy;
  std::memcpy(&copy, shared, sizeof copy);
  asm volatile("" : : "r"(&copy) : "memory");  // from here on only `copy` is known to hold it
  return copy;
}

}  // namespace photon::sync
