// Memory that the provider moves bytes of, or into, mapped and shown to it for as long as this
// lives. Only what is touched is there.
// Owner: who sends from it or receives into it; it outlives what the provider still has of it,
// unless the fabric was stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "transport/ofi/fabric.hpp"

namespace photon::transport::ofi {

class ShownMemory {
 public:
  // `fabric` outlives it. An error says what it was for.
  static base::Result<ShownMemory> make(Fabric& fabric, std::size_t size_bytes,
                                        const char* purpose);
  ShownMemory() noexcept = default;
  ~ShownMemory();
  ShownMemory(ShownMemory&& other) noexcept
      : fabric_(other.fabric_), all_(std::exchange(other.all_, {})) {}
  ShownMemory& operator=(ShownMemory&& other) noexcept {
    std::swap(fabric_, other.fabric_);
    std::swap(all_, other.all_);
    return *this;
  }

  std::uint64_t handle() const noexcept { return all_.handle; }
  std::span<std::byte> bytes() const noexcept { return all_.bytes; }
  // The i-th fragment of so many bytes.
  Buffer fragment(std::size_t i, std::size_t size_bytes) const noexcept {
    return {all_.bytes.subspan(i * size_bytes, size_bytes), all_.handle};
  }

 private:
  Fabric* fabric_ = nullptr;
  Buffer all_{};
};

}  // namespace photon::transport::ofi
