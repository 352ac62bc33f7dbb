#include "engine/parts/arena.hpp"

#include <cstdlib>
#include <cstring>

namespace photon::engine {

namespace {

constexpr std::size_t kGranule = 64;
constexpr std::size_t kPage = 4096;

std::size_t round_up(std::size_t value, std::size_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

Arena::Arena(std::span<std::byte> span, std::size_t limit_bytes)
    : span_(span), limit_(limit_bytes) {
  if (!span_.empty()) free_.emplace(0, span_.size());
}

Arena::~Arena() {
  if (!span_.empty()) return;
  for (const auto& [address, bytes] : used_) std::free(reinterpret_cast<void*>(address));
}

std::byte* Arena::take(std::size_t size_bytes) {
  if (size_bytes > SIZE_MAX / 2) return nullptr;
  const std::size_t bytes = round_up(size_bytes, kGranule);
  if (span_.empty()) return take_ordinary(bytes);
  const std::size_t unit = bytes >= kPage ? kPage : kGranule;  // large pieces: whole pages
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [begin, room] = *it;
    const std::size_t at = round_up(begin, unit);
    if (at - begin > room || room - (at - begin) < bytes) continue;
    free_.erase(it);
    if (at > begin) free_.emplace(begin, at - begin);
    if (begin + room > at + bytes) free_.emplace(at + bytes, begin + room - at - bytes);
    used_.emplace(at, bytes);
    if (at < fresh_from_) std::memset(span_.data() + at, 0, std::min(bytes, fresh_from_ - at));
    fresh_from_ = std::max(fresh_from_, at + bytes);
    return span_.data() + at;
  }
  return nullptr;
}

std::byte* Arena::take_ordinary(std::size_t bytes) {
  if (bytes > limit_ - ordinary_bytes_) return nullptr;
  void* base = std::aligned_alloc(kGranule, bytes);
  if (base == nullptr) return nullptr;
  ordinary_bytes_ += bytes;
  std::memset(base, 0, bytes);
  used_.emplace(reinterpret_cast<std::size_t>(base), bytes);
  return static_cast<std::byte*>(base);
}

void Arena::give(std::byte* base) noexcept {
  if (span_.empty()) {
    const auto piece = used_.find(reinterpret_cast<std::size_t>(base));
    if (piece == used_.end()) return;
    ordinary_bytes_ -= piece->second;
    used_.erase(piece);
    std::free(base);
    return;
  }
  const auto used = used_.find(static_cast<std::size_t>(base - span_.data()));
  if (used == used_.end()) return;
  auto [begin, bytes] = *used;
  used_.erase(used);
  const auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == begin + bytes) {
    bytes += next->second;
    free_.erase(next);
  }
  if (auto after = free_.lower_bound(begin); after != free_.begin()) {
    const auto previous = std::prev(after);
    if (previous->first + previous->second == begin) {
      previous->second += bytes;
      return;
    }
  }
  free_.emplace(begin, bytes);
}

}  // namespace photon::engine
