// Filling and checking what a rank shows.
#include "simtest/rank_memory.hpp"

namespace photon::simtest {

RankMemory::RankMemory(ph_rank rank, std::uint64_t window_bytes)
    : number_(rank),
      window_bytes_(window_bytes),
      library_at_(kGuardBytes + window_bytes + kGuardBytes),
      extra_at_(library_at_ + kLibraryBytes + kGuardBytes),
      bytes_(extra_at_ + kExtraBytes + kGuardBytes),
      background_(Purpose::background, rank) {
  background_.fill(bytes_);
  Pattern(Purpose::library, number_).fill(library());
  contended_writes.reset(background_, kContendedBytes);
  // The contended range has a pattern of its own: its first byte is number 0 of it.
  background_.fill(contended());
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
                                  extra_at_ + kExtraBytes};
  const char* const names[] = {"before the window", "behind the window", "behind the library",
                               "behind the extra region"};
  for (std::size_t i = 0; i < 4; ++i)
    if (const auto at = background_.difference(part(guards[i], kGuardBytes), guards[i]))
      return std::string("the guard ") + names[i] + ", byte " + std::to_string(*at);
  if (const auto at = Pattern(Purpose::library, number_).difference(library()))
    return "the library, byte " + std::to_string(*at);
  return {};
}

void RankMemory::prepare_enroll() {
  const Pattern fresh(Purpose::background, (std::uint64_t{generation_} + 1) << 32 | number_);
  fresh.fill(extra());
  extra_writes.reset(fresh, kExtraBytes);
}

void RankMemory::enrolled(const ph_region& region) noexcept {
  extra_region = region;
  enrolled_ = true;
  ++generation_;
}

void RankMemory::retiring() noexcept {
  stale_key = extra_region.key;
  enrolled_ = false;
}

void RankMemory::retired() noexcept { Pattern(Purpose::retired, number_).fill(extra()); }

std::optional<std::uint64_t> RankMemory::retired_difference() {
  return Pattern(Purpose::retired, number_).difference(extra());
}

}  // namespace photon::simtest
