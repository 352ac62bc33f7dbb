// Statuses that come from peers: a word of a record, which may hold any number. Here alone stands
// which of them are statuses; what else a record says is malformed.
// Owner: none; plain values.
#pragma once

#include <photon/types.h>

#include <cstdint>

namespace photon::wire {

inline constexpr ph_status kLastError = PH_ERR_NO_BUFFER;  // of this version of types.h

// True if the word says how an operation ended: PH_OK or an error.
constexpr bool is_end(std::uint64_t word) noexcept {
  const auto number = static_cast<std::int64_t>(word);
  return number <= PH_OK && number >= kLastError;
}

constexpr bool is_error(std::uint64_t word) noexcept { return word != PH_OK && is_end(word); }

// The status in a word that is_end().
constexpr ph_status to_status(std::uint64_t word) noexcept {
  return static_cast<ph_status>(static_cast<std::int64_t>(word));
}

}  // namespace photon::wire
