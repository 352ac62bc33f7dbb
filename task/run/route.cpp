#include "task/run/route.hpp"

#include <algorithm>

namespace photon::task {

std::optional<std::uint64_t> Route::place_of(std::uint32_t process) const noexcept {
  if (is_all_) {
    if (process >= places_) return std::nullopt;
    return (process + places_ - root_) % places_;
  }
  if (process == root_) return 0;
  const auto found = std::ranges::lower_bound(listed_, process);
  if (found == listed_.end() || *found != process) return std::nullopt;
  return static_cast<std::uint64_t>(found - listed_.begin()) + 1;
}

std::uint32_t Route::at(std::uint64_t place) const noexcept {
  if (is_all_) return static_cast<std::uint32_t>((place + root_) % places_);
  return place == 0 ? root_ : listed_[place - 1];
}

Children Route::children_of(std::uint64_t place) const noexcept {
  const std::uint64_t first = kBranches * place + 1;
  const std::uint64_t end = std::min(first + kBranches, places_);
  return {first, first < end ? static_cast<std::uint32_t>(end - first) : 0};
}

std::optional<std::uint64_t> Route::place_below(std::uint32_t above,
                                                std::uint32_t process) const noexcept {
  const std::optional<std::uint64_t> place = place_of(process);
  const std::optional<std::uint64_t> from = place_of(above);
  if (!place || !from || *place == *from || !is_above(*from, *place)) return std::nullopt;
  return place;
}

bool Route::is_above(std::uint64_t above, std::uint64_t place) noexcept {
  while (place > above) place = parent_of(place);
  return place == above;
}

}  // namespace photon::task
