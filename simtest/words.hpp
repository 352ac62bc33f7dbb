// Words that a rank shows to be changed by atomics alone, of each type, in two kinds:
//
//   sums    positive numbers are added: what they hold only grows
//   trails  anything is done, and what they held is fetched each time: each operation leads from
//           the value it has fetched to the next one
//
// Invariant: what they hold are small whole numbers, the same in every type.
// Owner: a RankMemory; registered by the runner. Threads: one.
#pragma once

#include <photon/photon.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace photon::simtest {

class Words {
 public:
  static constexpr std::uint32_t kWords = 8;

  static constexpr bool is_sum(std::uint32_t word) noexcept { return word < 4; }
  static constexpr ph_type type_of(std::uint32_t word) noexcept {
    constexpr ph_type kTypes[kWords] = {PH_UINT64, PH_INT32,  PH_DOUBLE, PH_FLOAT,
                                        PH_INT64,  PH_UINT32, PH_UINT64, PH_INT32};
    return kTypes[word];
  }
  static constexpr std::uint64_t bytes_of(std::uint32_t word) noexcept {
    const ph_type type = type_of(word);
    return type == PH_UINT64 || type == PH_INT64 || type == PH_DOUBLE ? 8 : 4;
  }

  static ph_value value_of(std::uint32_t word, std::uint64_t number) noexcept {
    ph_value value{};
    switch (type_of(word)) {
      case PH_INT32: value.int32 = static_cast<std::int32_t>(number); break;
      case PH_UINT32: value.uint32 = static_cast<std::uint32_t>(number); break;
      case PH_INT64: value.int64 = static_cast<std::int64_t>(number); break;
      case PH_UINT64: value.uint64 = number; break;
      case PH_FLOAT: value.float32 = static_cast<float>(number); break;
      case PH_DOUBLE: value.float64 = static_cast<double>(number); break;
      default: break;  // of collectives only
    }
    return value;
  }
  static std::uint64_t number_of(std::uint32_t word, const void* at) noexcept {
    ph_value value{};
    std::memcpy(&value, at, bytes_of(word));
    switch (type_of(word)) {
      case PH_INT32: return static_cast<std::uint64_t>(value.int32);
      case PH_UINT32: return value.uint32;
      case PH_INT64: return static_cast<std::uint64_t>(value.int64);
      case PH_UINT64: return value.uint64;
      case PH_FLOAT: return static_cast<std::uint64_t>(value.float32);
      case PH_DOUBLE: return static_cast<std::uint64_t>(value.float64);
      default: return 0;  // of collectives only
    }
  }

  std::span<std::byte> bytes() noexcept { return std::as_writable_bytes(std::span(words_)); }
  std::uint64_t number(std::uint32_t word) const noexcept { return number_of(word, &words_[word]); }

 private:
  std::array<std::uint64_t, kWords> words_{};
};

}  // namespace photon::simtest
