// The bytes of a message, one part behind the other, for whoever copies them piece by piece.
// Owner: one copy of a message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace photon::service::mailbox {

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::span<const std::byte>> parts) noexcept : parts_(parts) {}
  // The next bytes; there are so many.
  void read(std::span<std::byte> to) noexcept {
    while (!to.empty()) {
      const std::span<const std::byte> left = parts_.front().subspan(at_);
      const std::size_t bytes = std::min(to.size(), left.size());
      if (bytes != 0) std::memcpy(to.data(), left.data(), bytes);
      to = to.subspan(bytes);
      at_ += bytes;
      if (at_ != parts_.front().size()) return;
      parts_ = parts_.subspan(1);
      at_ = 0;
    }
  }

 private:
  std::span<const std::span<const std::byte>> parts_;
  std::uint64_t at_ = 0;
};

}  // namespace photon::service::mailbox
