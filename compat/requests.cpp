#include "compat/requests.hpp"

namespace photon::classic {

namespace {
constexpr unsigned kUseShift = 32;

photon_rid name(std::size_t index, std::uint32_t use) {
  return photon_rid{use} << kUseShift | static_cast<std::uint32_t>(index);
}
}  // namespace

Requests::Slot* Requests::slot_of(photon_rid rid) noexcept {
  const auto index = static_cast<std::uint32_t>(rid);
  const auto use = static_cast<std::uint32_t>(rid >> kUseShift);
  const bool named = index < slots_.size() && (use & 1) != 0 && slots_[index].use == use;
  return named ? &slots_[index] : nullptr;
}

photon_rid Requests::add(const Request& request) { return take_slot(&request); }

photon_rid Requests::reserve() { return take_slot(nullptr); }

photon_rid Requests::take_slot(const Request* request) {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) {
    free_.reserve(slots_.size() + 1);  // so that giving back never allocates
    slots_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  ++slot.use;
  slot.is_posted = request != nullptr;
  if (request != nullptr) slot.request = *request;
  return name(index, slot.use);
}

std::optional<Request> Requests::find(photon_rid rid) {
  const std::scoped_lock lock(mutex_);
  const Slot* slot = slot_of(rid);
  if (slot == nullptr || !slot->is_posted) return std::nullopt;
  return slot->request;
}

bool Requests::change(photon_rid rid, const Request& request) {
  const std::scoped_lock lock(mutex_);
  Slot* slot = slot_of(rid);
  if (slot == nullptr) return false;
  slot->request = request;
  slot->is_posted = true;
  return true;
}

bool Requests::remove(photon_rid rid) {
  const std::scoped_lock lock(mutex_);
  Slot* slot = slot_of(rid);
  if (slot == nullptr) return false;
  ++slot->use;
  slot->is_posted = false;
  slot->request = {};
  free_.push_back(static_cast<std::uint32_t>(rid));
  return true;
}

std::vector<photon_rid> Requests::all(RequestType type) {
  const std::scoped_lock lock(mutex_);
  std::vector<photon_rid> rids;
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].is_posted && slots_[i].request.type == type)
      rids.push_back(name(i, slots_[i].use));
  return rids;
}

void Requests::clear() noexcept {
  const std::scoped_lock lock(mutex_);
  slots_.clear();
  slots_.shrink_to_fit();
  free_.clear();
  free_.shrink_to_fit();
}

}  // namespace photon::classic
