#include "service/am/prepared.hpp"

#include <algorithm>
#include <utility>

namespace photon::service::am {

// As much as there is room for, and behind it a header.
ph_status Prepared::reserve(Rank to, std::uint64_t least, std::uint64_t most,
                            std::span<std::byte>& span) {
  const std::uint64_t room_max = most_room(port_);
  if (room_max < round_up(least) + PH_AM_HEADER_BYTES) return PH_AGAIN;
  std::uint64_t size = std::min(most, (room_max - PH_AM_HEADER_BYTES) & ~std::uint64_t{7});
  for (;;) {
    std::span<std::byte> room;
    const ph_status status = port_.reserve(to, round_up(size) + PH_AM_HEADER_BYTES, room);
    if (status == PH_OK) span = room.first(size);
    if (status != PH_AGAIN || size == least) return status;
    size = std::max(least, size / 2);
  }
}

ph_status Prepared::open(Rank to, std::uint64_t least, std::uint64_t most, bool may_reserve,
                         ph_am_slot& slot) {
  Open& one = open_[to];
  if (one.token != 0) return port_.again();
  const ph_status status = may_reserve ? reserve(to, least, most, one.span) : PH_AGAIN;
  if (status != PH_OK && status != PH_AGAIN) return status;
  one.is_reserved = status == PH_OK;
  if (status == PH_AGAIN) {
    one.own = std::make_unique_for_overwrite<std::byte[]>(least + kAlign - 1);
    const auto address = reinterpret_cast<std::uintptr_t>(one.own.get());
    one.span = {one.own.get() + (kAlign - address % kAlign) % kAlign, least};
  }
  one.token = ++last_token_;
  ++held_;
  slot.data = one.span.data();
  slot.size_bytes = one.span.size();
  slot.token = one.token;
  slot.rank = to;
  return PH_OK;
}

bool Prepared::is_open(const ph_am_slot& slot) const noexcept {
  return slot.rank < open_.size() && slot.token != 0 && open_[slot.rank].token == slot.token;
}

ph_status Prepared::say(const ph_am_slot& slot, const Draft& draft) {
  Open& one = open_[slot.rank];
  if (!one.is_reserved) return PH_AGAIN;
  const ph_status status = say_room(port_, slot.rank, draft, one.span.data());
  one.is_reserved = status == PH_AGAIN;
  return status;
}

void Prepared::close(Rank rank) noexcept {
  Open& one = open_[rank];
  if (one.is_reserved) port_.cancel_room(rank);
  one = {};
  --held_;
}

void Prepared::close_all() noexcept {
  for (Rank rank = 0; held_ != 0 && rank < open_.size(); ++rank) {
    if (open_[rank].token == 0) continue;
    close(rank);
    port_.note_unheard(rank, PH_ERR_STATE,
                       "a span of ph_am_prepare() was neither committed nor cancelled");
  }
}

}  // namespace photon::service::am
