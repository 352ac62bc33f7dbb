// Refusing a call: what is checked of its arguments, the words that it leaves, and of whose loss
// they tell.
#include <new>
#include <string>
#include <utility>

#include "base/hex.hpp"
#include "engine/engine.hpp"
#include "engine/services.hpp"

namespace photon::engine {

// The caller is told this of a rank: if that is lost, the launcher hears first whose loss it is,
// for the caller may end by it.
void EngineState::blame(ph_status status, Rank rank) {
  if (status == PH_OK || rank >= size_) return;
  const Peer* const peer = peers_[rank].get();
  const bool is_lost = status == PH_ERR_PEER || status == PH_ERR_DEPARTED ||
                       (peer != nullptr && peer->broken != PH_OK);
  if (!is_lost) return;
  try {
    boot_->blame(rank);
  } catch (const std::bad_alloc&) {  // the launcher hears of it by the rank's end
  }
}

ph_status Engine::fail(ph_status status, Rank rank, std::string what, int native_errno) {
  blame(status, rank);
  if (is_quiet_) return status;
  if (services_ != nullptr) services_->before_error();
  last_error_ = base::Error{status, native_errno, std::move(what), rank};
  return status;
}

ph_status Engine::fail(const base::Error& error) {
  blame(error.status, error.rank);
  if (is_quiet_) return error.status;
  base::Error words = error;  // it may be the last one
  if (services_ != nullptr) services_->before_error();
  last_error_ = std::move(words);
  return last_error_.status;
}

// An error that another thread has met meanwhile is newer than both, and stands.
void Services::before_error() noexcept {
  const bool is_inside = is_run_by_caller();
  if (is_inside && !is_displaced_) displaced_ = std::move(engine_.last_error_);
  is_displaced_ = is_inside;
}

void Services::end_words() noexcept {
  if (std::exchange(is_displaced_, false)) engine_.last_error_ = std::move(displaced_);
}

bool Services::is_run_by_caller() const noexcept {
  if (runs_ == 0) return false;
  for (const Slot& one : slots_)
    if (one.runner == Lane::self()) return true;
  return false;
}

ph_status Engine::again() noexcept {
  ++own_counts_.refusals;
  return PH_AGAIN;
}

ph_status Engine::check_ids(const char* call, Rank rank, const ph_id& local, const ph_id& remote) {
  for (const ph_id* id : {&local, &remote}) {
    const char* which = id == &local ? "local" : "remote";
    if (id->size_bytes > config_.max_cid_size)
      return fail(PH_ERR_ID_SIZE, rank,
                  std::string(call) + " to rank " + std::to_string(rank) + ": the " + which +
                      " id has " + std::to_string(id->size_bytes) + " bytes, the limit is " +
                      std::to_string(config_.max_cid_size) + "; raise PHOTON_MAX_CID_SIZE");
    if (id->size_bytes != 0 && id->data == nullptr)
      return fail(PH_ERR_ARGUMENT, rank,
                  std::string(call) + ": the " + which + " id has bytes but its data is null");
  }
  return PH_OK;
}

// A size that no memory can hold would be refused by the target, if its record could say it.
ph_status Engine::check_size(const Call& call, const TargetRange& there) {
  const auto own = reinterpret_cast<std::uint64_t>(call.own);
  const bool is_possible = there.size_bytes <= wire::kMaxBufferBytes;
  const bool is_ours = is_possible && own <= ~there.size_bytes;
  if (is_ours && there.at.address <= ~there.size_bytes) return PH_OK;
  const std::string why =
      !is_possible ? "no memory is so large"
      : !is_ours   ? "own memory at " + base::hex(own) + " ends before that"
                   : "the peer's memory at " + base::hex(there.at.address) + " ends before that";
  return fail(PH_ERR_RANGE, call.rank,
              std::string(call.name) + " of " + std::to_string(there.size_bytes) +
                  " bytes with rank " + std::to_string(call.rank) + ": " + why +
                  "; look for a size that was computed below 0");
}

ph_status Engine::check_request(const char* call, Rank rank, const ph_request* handle,
                                std::uint32_t flags) {
  if (handle == nullptr || (flags & PH_NO_LCE) == 0) return PH_OK;
  return fail(PH_ERR_ARGUMENT, rank,
              std::string(call) + ": a request is a local completion, and PH_NO_LCE wants none");
}

// PH_OK also where only the target can tell.
ph_status Engine::check_target(Peer& peer, const ph_target& target, std::uint64_t size_bytes,
                               std::uint32_t access) {
  if (peer.regions == nullptr) return PH_OK;
  const ph_status status =
      check_access({peer.regions, config_.max_regions}, target, size_bytes, access);
  if (status == PH_OK) return PH_OK;
  const char* why = status == PH_ERR_KEY     ? "the key names no region it has registered now"
                    : status == PH_ERR_RANGE ? "the access leaves the registered region"
                                             : "the region does not grant this access";
  const char* what = access == PH_ACCESS_WRITE  ? "put of"
                     : access == PH_ACCESS_READ ? "get of"
                                                : "atomic on";
  std::string words = std::string(what) + " " + std::to_string(size_bytes) + " bytes at " +
                      base::hex(target.address) + " of rank " + std::to_string(peer.rank) + ": " +
                      why;
  sync::RegionView region;
  const std::size_t slot = target.key & (config_.max_regions - 1);
  if (status != PH_ERR_KEY && peer.regions[slot].read(target.key, region))
    words +=
        " (" + base::hex(region.address) + ", " + std::to_string(region.size_bytes) + " bytes)";
  const char* next = status == PH_ERR_KEY     ? "; its owner has to send the key anew"
                     : status == PH_ERR_RANGE ? "; look at the address and the size"
                                              : "; its owner has to register it with that access";
  return fail(status, peer.rank, words + next);
}

// Under the intent word (sync/intent.hpp). Who is hidden has said bye before.
ph_status Engine::check_again(Peer& peer, const ph_target& target, std::uint64_t size_bytes,
                              std::uint32_t access) {
  if (peer.credits->is_hidden())
    return fail(PH_ERR_DEPARTED, peer.rank,
                "rank " + std::to_string(peer.rank) + " has closed this lane");
  return check_target(peer, target, size_bytes, access);
}

}  // namespace photon::engine
