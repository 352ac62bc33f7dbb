// Hands out pieces of one span of memory: first fit, 64-byte granules, neighbours merged on free.
// Without a span (a transport that cannot map memory) it hands out ordinary memory, up to `limit`.
// Invariant: free and used ranges partition the span. Memory it gives is zeroed.
// Owner: the Memory of a context, under its mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace photon::engine {

class Arena {
 public:
  Arena(std::span<std::byte> span, std::size_t limit_bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Null: no room.
  std::byte* take(std::size_t size_bytes);
  void give(std::byte* base) noexcept;
  std::size_t size_bytes() const noexcept { return span_.empty() ? limit_ : span_.size(); }

 private:
  std::byte* take_ordinary(std::size_t bytes);

  std::span<std::byte> span_;
  std::size_t limit_;                        // of ordinary memory
  std::size_t ordinary_bytes_ = 0;           // handed out
  std::map<std::size_t, std::size_t> free_;  // offset -> bytes
  std::map<std::size_t, std::size_t> used_;
  std::size_t fresh_from_ = 0;  // never handed out from here on: still zero
};

}  // namespace photon::engine
