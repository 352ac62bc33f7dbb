#include "simtest/map_model.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace photon::simtest {

namespace {

std::uint64_t address_of(const void* local) noexcept {
  return reinterpret_cast<std::uint64_t>(local);
}

}  // namespace

// The order is that in which the library looks for what is wrong.
MapModel::Call MapModel::call_of(const Endpoint& at, const Step& step) {
  Call call;
  const bool is_rank = step.peer < ranks_;
  const Lease& lease = oracle_.memory(is_rank ? step.peer : at.rank).lease(Area::arena);
  call.region = {lease.region.address + step.offset, step.size_bytes, lease.region.key};
  if (step.fault == Fault::out_of_range) call.region.size_bytes = kLentBytes + 1 - step.offset;
  if (step.fault == Fault::stale_key)
    call.region.key =
        lease.stale_key != 0 ? lease.stale_key : lease.region.key ^ std::uint64_t{1} << 40;
  const std::uint64_t size_bytes = call.region.size_bytes;
  const auto right = [&] {
    if (at.lane != 0 || size_bytes == 0) return PH_ERR_ARGUMENT;
    if (!is_rank) return PH_ERR_RANK;
    if (step.peer == at.rank || !oracle_.is_memory_shared()) return PH_ERR_NOT_FOUND;
    if (!lease.is_held() || step.fault == Fault::stale_key) return PH_ERR_KEY;
    if (step.fault == Fault::out_of_range) return PH_ERR_RANGE;
    if (!reaches_(at.rank, step.peer, size_bytes)) return PH_ERR_NOT_FOUND;
    return call.right;
  };
  call.right = right();
  return call;
}

// The keys of a rank that leaves are stale before that is known; the memory of a dead one may be
// gone.
bool MapModel::may_say(const Endpoint& at, const Step& step, const Call& call, ph_status status) {
  if (status == call.right) return true;
  if (step.peer >= ranks_ || call.right == PH_ERR_ARGUMENT) return false;
  if (oracle_.may_be_gone(step.peer, status) || oracle_.may_be_lost(at.rank, step.peer, status))
    return true;
  const bool is_absent =
      oracle_.is_dead(step.peer) || oracle_.may_be_gone(step.peer, PH_ERR_DEPARTED);
  return is_absent && (status == PH_ERR_KEY || status == PH_ERR_NOT_FOUND);
}

void MapModel::mapped(const Endpoint& at, const Step& step, const Call& call, ph_status status,
                      void* local) {
  if (oracle_.failed()) return;
  oracle_.note(at, text_of(step) + " = " + std::to_string(status));
  const std::string whose = "rank " + std::to_string(at.rank) + ": " + text_of(step);
  if (!may_say(at, step, call, status))
    return oracle_.report("status", whose + " said " + std::to_string(status) + ", expected was " +
                                        std::to_string(call.right));
  const std::uint64_t right = status == PH_OK ? call.region.address : 0;
  if (address_of(local) != right)
    return oracle_.report("region", whose + " = " + std::to_string(status) +
                                        " gave a pointer that is not the place in the memory");
  if (status != PH_OK) return;
  Mapped* known = find(at.rank, local);
  if (known == nullptr)
    known = &mapped_[at.rank].emplace_back(Mapped{local, estate_of(step.peer), step.offset, 0, 0});
  known->size_bytes = std::max(known->size_bytes, step.size_bytes);
  ++known->count;
}

MapModel::Mapped* MapModel::find(ph_rank rank, void* local) noexcept {
  for (Mapped& one : mapped_[rank])
    if (one.local == local) return &one;
  return nullptr;
}

std::shared_ptr<MapModel::Estate> MapModel::estate_of(ph_rank owner) {
  const Lease& lease = oracle_.memory(owner).lease(Area::arena);
  std::shared_ptr<Estate>& latest = latest_[owner];
  if (latest == nullptr || latest->generation != lease.generation)
    latest = std::make_shared<Estate>(Estate{owner, lease.generation, lease.bytes, {}});
  return latest;
}

void* MapModel::pick(ph_rank rank, std::uint64_t number) const noexcept {
  const std::vector<Mapped>& all = mapped_[rank];
  return all.empty() ? nullptr : all[number % all.size()].local;
}

void* MapModel::stale(ph_rank rank) noexcept {
  return find(rank, stale_[rank]) == nullptr ? stale_[rank] : nullptr;
}

bool MapModel::unmapped(ph_rank rank, void* local) {
  if (--find(rank, local)->count != 0) return false;
  std::erase_if(mapped_[rank], [local](const Mapped& one) { return one.local == local; });
  stale_[rank] = local;
  return true;
}

// The step's bytes, as far as they lie in what is mapped.
MapModel::Place MapModel::place_of(ph_rank rank, const Step& step) const {
  const std::vector<Mapped>& all = mapped_[rank];
  if (all.empty()) return {};
  const Mapped& one = all[step.order % all.size()];
  const std::uint64_t begin = step.offset % one.size_bytes;
  return {one.estate, static_cast<std::byte*>(one.local) + begin, one.offset + begin,
          std::min(step.size_bytes, one.size_bytes - begin)};
}

void MapModel::store(ph_rank rank, const Step& step) {
  const Place place = place_of(rank, step);
  if (place.estate == nullptr || place.size_bytes == 0 || oracle_.failed()) return;
  Estate& estate = *place.estate;
  Step& resolved = stores_.emplace_back(step);
  resolved.peer = estate.owner;
  resolved.area = Area::arena;
  resolved.offset = place.offset;
  resolved.size_bytes = place.size_bytes;
  const Operation& op = oracle_.begin_store(rank, resolved);
  std::memcpy(place.at, op.buffer.data(), place.size_bytes);
  oracle_.note(rank, "store to " + text_of_place(place));
  if (!estate.is_freed()) return oracle_.stored(op.number);
  oracle_.stored_in_freed(op.number, estate.generation);
  std::copy(op.buffer.begin(), op.buffer.end(),
            estate.freed.begin() + static_cast<std::ptrdiff_t>(place.offset));
}

void MapModel::load(ph_rank rank, const Step& step) {
  const Place place = place_of(rank, step);
  if (place.estate == nullptr || oracle_.failed()) return;
  oracle_.note(rank, "load from " + text_of_place(place));
  check(rank, place);
}

void MapModel::load_all(ph_rank rank) {
  for (const Mapped& one : mapped_[rank])
    check(rank, {one.estate, static_cast<std::byte*>(one.local), one.offset, one.size_bytes});
}

void MapModel::check(ph_rank rank, const Place& place) {
  const Estate& estate = *place.estate;
  std::optional<std::uint64_t> wrong;
  const std::span<std::byte> whole{place.at - place.offset, kLentBytes};
  const std::uint64_t end = place.offset + place.size_bytes;
  if (!estate.is_freed()) {
    Lease& lease = oracle_.memory(estate.owner).lease(Area::arena);
    wrong = lease.writes.first_wrong(whole, place.offset, end);
  } else {
    for (std::uint64_t at = place.offset; at < end && !wrong; ++at)
      if (whole[at] != estate.freed[at]) wrong = at;
  }
  if (wrong)
    oracle_.report("bytes", "rank " + std::to_string(rank) + ": by its pointer, byte " +
                                std::to_string(*wrong) + " of " + text_of_place(place) +
                                " holds what nobody may have put there last");
}

std::string MapModel::text_of_place(const Place& place) {
  const Estate& estate = *place.estate;
  return std::to_string(place.size_bytes) + " bytes at " + std::to_string(place.offset) + " of " +
         "rank " + std::to_string(estate.owner) + "'s memory number " +
         std::to_string(estate.generation) + (estate.is_freed() ? ", which was freed" : "");
}

// The operations on it have ended: only those who have it mapped touch it from here on.
void MapModel::freed(ph_rank owner) {
  const std::shared_ptr<Estate> latest = std::exchange(latest_[owner], nullptr);
  if (latest == nullptr || latest.use_count() == 1) return;
  latest->freed.assign(latest->bytes.begin(), latest->bytes.end());
}

void MapModel::allocated(ph_rank owner, const ph_region& region) {
  for (ph_rank rank = 0; rank < ranks_; ++rank)
    for (const Mapped& one : mapped_[rank]) {
      if (one.estate->owner != owner) continue;
      const std::uint64_t held = address_of(one.estate->bytes.data());
      if (held < region.address + region.size_bytes && region.address < held + kLentBytes)
        return oracle_.report("region", "rank " + std::to_string(owner) +
                                            ": ph_alloc gives memory that it had freed, and that "
                                            "rank " +
                                            std::to_string(rank) + " has mapped");
    }
}

}  // namespace photon::simtest
