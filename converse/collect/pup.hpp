// One walk over a structure, by the program's own function: it measures, packs or unpacks.
// Invariant: used_ bytes lie behind where it began; packing never writes behind the limit.
// Owner: whoever has made it; pup_destroy() frees those of the program. Threads: one.
#pragma once

#include <converse.h>

#include <cstddef>
#include <cstdint>

namespace photon::converse {

class Pup {
 public:
  static constexpr std::size_t kNoLimit = SIZE_MAX;
  enum class Kind : std::uint8_t { sizing, packing, unpacking };

  static Pup sizer() noexcept { return {Kind::sizing, nullptr, kNoLimit}; }
  static Pup to(void* memory, std::size_t limit) noexcept {
    return {Kind::packing, static_cast<std::byte*>(memory), limit};
  }
  static Pup from(const void* memory) noexcept {
    return {Kind::unpacking, static_cast<std::byte*>(const_cast<void*>(memory)), kNoLimit};
  }

  Kind kind() const noexcept { return kind_; }
  std::size_t used() const noexcept { return used_; }
  void bytes(const char* call, void* values, std::size_t count, std::size_t size_bytes) noexcept;

 private:
  Pup(Kind kind, std::byte* at, std::size_t limit) noexcept : kind_(kind), at_(at), limit_(limit) {}

  Kind kind_;
  std::byte* at_;
  std::size_t limit_;
  std::size_t used_ = 0;
};

}  // namespace photon::converse
