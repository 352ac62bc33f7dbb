// Addresses in words, as debuggers and maps show them.
// Owner: none.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>

namespace photon::base {

inline std::string hex(std::uint64_t value) {
  char digits[sizeof "0x" + 16];
  std::snprintf(digits, sizeof digits, "0x%" PRIx64, value);
  return digits;
}

}  // namespace photon::base
