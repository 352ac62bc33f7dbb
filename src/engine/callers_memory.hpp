// Memory of callers that this process is about to copy by itself, later than in the call that named
// it, or at its peers' wish: it may have been unmapped or protected since, and a processor's copy
// would end the process.
//
//   nothing seen -- a part is asked for --> what follows it, too, is seen, as far as kAheadBytes
//   seen -- callers may have run --> nothing seen
//
// Invariant: what was seen could be used when the present call into the library began, or later;
// within a call no caller has unmapped it, but for threads that do while it is used. What is seen
// ahead is less than one call copies by far, so that asking costs a fortieth of the copy.
// Owner: the Engine, under the lane's lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/readable.hpp"
#include "base/result.hpp"

namespace photon::engine {

struct Request;

// Own memory of a put or a get cannot be used.
base::Error own_memory_error(const Request& request);

class CallersMemory {
 public:
  // Below it, a copy within the caller's own call, or of a record as it arrives, is not worth a
  // system call.
  static constexpr std::uint64_t kLeastBytes = 128 << 10;

  void forget() noexcept { seen_ = {}; }

  // `now` is copied next, and what follows it up to `left_bytes` soon. False: some of that cannot
  // be used.
  bool can_read(std::span<const std::byte> now, std::uint64_t left_bytes) noexcept {
    return can_use(Use::read, now, left_bytes);
  }
  bool can_write(std::span<std::byte> now, std::uint64_t left_bytes) noexcept {
    return can_use(Use::write, now, left_bytes);
  }

  // Each page of what is short; of what is long whether there are pages, and whether the first and
  // the last one can be used.
  static bool is_readable(std::span<const std::byte> memory) noexcept {
    if (memory.size() <= kEachPageBytes) return base::is_readable(memory);
    return base::is_mapped(memory) && base::is_readable(memory.first(kWordBytes)) &&
           base::is_readable(memory.last(kWordBytes));
  }
  static bool is_writable(std::span<std::byte> memory) noexcept {
    if (memory.size() <= kEachPageBytes) return base::is_writable(memory);
    return base::is_mapped(memory) && base::is_writable(memory.first(kWordBytes)) &&
           base::is_writable(memory.last(kWordBytes));
  }

 private:
  enum class Use : std::uint8_t { read, write };
  struct Seen {
    Use use = Use::read;
    const std::byte* begin = nullptr;
    std::size_t size_bytes = 0;
  };

  static constexpr std::size_t kEachPageBytes = 64 << 10;
  static constexpr std::uint64_t kAheadBytes = 256 << 10;
  static constexpr std::size_t kWordBytes = 8;

  bool can_use(Use use, std::span<const std::byte> now, std::uint64_t left_bytes) noexcept {
    const auto offset = static_cast<std::size_t>(now.data() - seen_.begin);
    if (use == seen_.use && now.data() >= seen_.begin && offset <= seen_.size_bytes &&
        now.size() <= seen_.size_bytes - offset)
      return true;
    const std::size_t bytes = std::max<std::size_t>(now.size(), std::min(left_bytes, kAheadBytes));
    auto* const begin = const_cast<std::byte*>(now.data());
    const bool is_good =
        use == Use::read ? is_readable({begin, bytes}) : is_writable({begin, bytes});
    if (is_good) seen_ = {use, begin, bytes};
    return is_good;
  }

  Seen seen_;
};

}  // namespace photon::engine
