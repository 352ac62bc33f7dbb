// Filling and checking what a rank shows.
#include "simtest/rank_memory.hpp"

namespace photon::simtest {

RankMemory::RankMemory(ph_rank rank, std::uint64_t window_bytes)
    : number_(rank),
      window_bytes_(window_bytes),
      library_at_(kGuardBytes + window_bytes + kGuardBytes),
      extra_at_(library_at_ + kLibraryBytes + kGuardBytes),
      bytes_(extra_at_ + kLentBytes + kGuardBytes),
      background_(Purpose::background, rank) {
  background_.fill(bytes_);
  Pattern(Purpose::library, number_).fill(library());
  contended_writes_.reset(background_, kContendedBytes);
  // The contended range has a pattern of its own: its first byte is number 0 of it.
  background_.fill(contended());
  lease(Area::extra).bytes = part(extra_at_, kLentBytes);
}

std::optional<std::uint64_t> RankMemory::window_difference(std::uint64_t begin,
                                                           std::uint64_t end) noexcept {
  const auto found =
      background_.difference(window().subspan(begin, end - begin), kGuardBytes + begin);
  if (!found) return std::nullopt;
  return begin + *found;
}

std::string RankMemory::damage() {
  const std::uint64_t guards[] = {0, kGuardBytes + window_bytes_, library_at_ + kLibraryBytes,
                                  extra_at_ + kLentBytes};
  const char* const names[] = {"before the window", "behind the window", "behind the library",
                               "behind the extra region"};
  for (std::size_t i = 0; i < 4; ++i)
    if (const auto at = background_.difference(part(guards[i], kGuardBytes), guards[i]))
      return std::string("the guard ") + names[i] + ", byte " + std::to_string(*at);
  if (const auto at = Pattern(Purpose::library, number_).difference(library()))
    return "the library, byte " + std::to_string(*at);
  return {};
}

Pattern RankMemory::untouched(Area area, std::uint32_t generation) const noexcept {
  if (!is_lent(area)) return background_;
  const std::uint64_t which = area == Area::arena ? 1 : 0;
  return {Purpose::background, (std::uint64_t{generation} * 2 + which) << 32 | number_};
}

void RankMemory::refresh(Area area) {
  Lease& one = lease(area);
  const Pattern fresh = untouched(area, one.generation + 1);
  fresh.fill(one.bytes);
  one.writes.reset(fresh, kLentBytes);
}

void RankMemory::reuse_extra() noexcept {
  Pattern(Purpose::retired, number_).fill(lease(Area::extra).bytes);
}

std::optional<std::uint64_t> RankMemory::reused_difference() {
  return Pattern(Purpose::retired, number_).difference(lease(Area::extra).bytes);
}

std::byte* RankMemory::address(Area area, std::uint64_t offset) noexcept {
  if (area == Area::library) return library().data() + offset;
  return (is_lent(area) ? lease(area).bytes.data() : window().data()) + offset;
}

std::uint64_t RankMemory::key_around(Area area, std::uint64_t offset,
                                     std::uint64_t size_bytes) noexcept {
  const auto end = offset + size_bytes;
  if (is_lent(area)) return lease(area).is_held() && end <= kLentBytes ? lease(area).region.key : 0;
  if (area == Area::library) return end <= kLibraryBytes ? library_region.key : 0;
  if (offset >= kInnerOffset && end <= kInnerOffset + kInnerBytes) return inner_region.key;
  return end <= window_bytes_ ? window_region.key : 0;
}

}  // namespace photon::simtest
