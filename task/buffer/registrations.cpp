#include "task/buffer/registrations.hpp"

#include <algorithm>
#include <new>

#include "task/machine/rdma.hpp"

namespace photon::task {

ph_status Registrations::take(ph_context* lane, void* base, std::uint64_t size_bytes,
                              Registration& held) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  held = {};
  const bool is_to_stay = stays(address, size_bytes);
  if (is_to_stay && take_kept(address, size_bytes, held)) {
    ++hits_;
    return PH_OK;
  }
  ph_status status = set_rdma_info(lane, base, size_bytes, held.key);
  while (status == PH_ERR_MEMORY && drop_idle(lane))
    status = set_rdma_info(lane, base, size_bytes, held.key);
  if (status != PH_OK) return status;
  ++made_[bucket_of(held.key)];
  if (is_to_stay) add_kept(lane, address, size_bytes, held);
  return status;
}

bool Registrations::is_kept(std::uint64_t key) const noexcept {
  return std::ranges::any_of(kept_, [key](const Kept& one) { return one.key == key; });
}

// One of the same base that is shorter gives way.
void Registrations::add_kept(ph_context* lane, std::uintptr_t base, std::uint64_t size_bytes,
                             Registration& held) noexcept {
  ++misses_;
  if (const auto shorter = by_base_.find(base); shorter != by_base_.end()) {
    const Place place = shorter->second;
    hide(place);
    if (place->users == 0) drop(lane, place);
  }
  try {
    kept_.push_back({base, size_bytes, held.key, 1, false});
    held.kept = std::prev(kept_.end());
    held.of = Registration::Of::kept;
    kept_bytes_ += size_bytes;
    by_base_.emplace(base, held.kept);
    held.kept->is_found = true;
  } catch (const std::bad_alloc&) {
    // Without memory it is found by nobody, and revoked with its buffer.
  }
}

ph_status Registrations::find(ph_context* lane, const void* base, std::uint64_t size_bytes,
                              Registration& held) noexcept {
  held = {};
  held.of = Registration::Of::others;
  return find_rdma_info(lane, base, size_bytes, held.key);
}

bool Registrations::take_kept(std::uintptr_t base, std::uint64_t size_bytes,
                              Registration& held) noexcept {
  auto next = by_base_.upper_bound(base);
  if (next == by_base_.begin()) return false;
  const Place place = std::prev(next)->second;
  if (!Range{place->base, place->size_bytes}.contains(base, size_bytes)) return false;
  ++place->users;
  kept_.splice(kept_.end(), kept_, place);
  held = {place->key, place, Registration::Of::kept};
  return true;
}

void Registrations::give(ph_context* lane, Registration& held) noexcept {
  if (held.key == 0) return;
  switch (held.of) {
    case Registration::Of::own:
      --made_[bucket_of(held.key)];
      deregister(lane, held.key);
      break;
    case Registration::Of::kept:
      if (--held.kept->users == 0 && !held.kept->is_found)
        drop(lane, held.kept);
      else
        evict(lane);
      break;
    case Registration::Of::others: break;
  }
  held = {};
}

void Registrations::end(ph_context* lane) noexcept {
  for (const Kept& one : kept_) deregister_at_end(lane, one.key);
  kept_.clear();
  by_base_.clear();
  ranges_.clear();
  made_ = {};
  kept_bytes_ = 0;
}

bool Registrations::keep(std::uintptr_t base, std::uint64_t size_bytes) noexcept {
  try {
    ranges_.push_back({base, size_bytes});
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

bool Registrations::unkeep(ph_context* lane, std::uintptr_t base,
                           std::uint64_t size_bytes) noexcept {
  const auto found = std::ranges::find(ranges_, Range{base, size_bytes});
  if (found == ranges_.end()) return false;
  ranges_.erase(found);
  forget(lane, {base, size_bytes});
  return true;
}

bool Registrations::stays(std::uintptr_t base, std::uint64_t size_bytes) const noexcept {
  return std::ranges::any_of(ranges_,
                             [&](const Range& range) { return range.contains(base, size_bytes); });
}

// What another range that still stays holds is kept for that one.
void Registrations::forget(ph_context* lane, const Range& range) noexcept {
  for (Place place = kept_.begin(); place != kept_.end();) {
    const Place one = place++;
    const bool overlaps =
        one->base < range.base + range.size_bytes && range.base < one->base + one->size_bytes;
    if (!overlaps || stays(one->base, one->size_bytes)) continue;
    hide(one);
    if (one->users == 0) drop(lane, one);
  }
}

void Registrations::hide(Place place) noexcept {
  if (!place->is_found) return;
  place->is_found = false;
  by_base_.erase(place->base);
}

void Registrations::drop(ph_context* lane, Place place) noexcept {
  hide(place);
  --made_[bucket_of(place->key)];
  deregister(lane, place->key);
  kept_bytes_ -= place->size_bytes;
  kept_.erase(place);
}

// The least recently used one. False: there is none.
bool Registrations::drop_idle(ph_context* lane) noexcept {
  const Place idle = std::ranges::find(kept_, 0U, &Kept::users);
  if (idle == kept_.end()) return false;
  ++evictions_;
  drop(lane, idle);
  return true;
}

void Registrations::evict(ph_context* lane) noexcept {
  while (kept_bytes_ > kept_limit_ && drop_idle(lane)) {
  }
}

}  // namespace photon::task
