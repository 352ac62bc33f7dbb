#include "compat/lobby.hpp"

#include <algorithm>
#include <cstring>

#include "compat/session.hpp"

namespace photon::classic {

namespace {

// How long a wait leaves unlooked at what others have kept meanwhile, and who is still there. It
// is no latency: what comes ends the wait at once.
constexpr std::int64_t kRoundUs = 20'000;

bool matches(const ph_match& match, const ph_buffer& buffer) noexcept {
  return match.kind == buffer.kind && (match.rank == PH_ANY_RANK || match.rank == buffer.rank) &&
         (match.tag == PH_ANY_TAG || match.tag == buffer.tag) &&
         (match.size_bytes == PH_ANY_SIZE || match.size_bytes == buffer.size_bytes);
}

// There were other ranks, and none of them can say anything any more.
bool is_alone(const Session& session) noexcept {
  for (ph_rank rank = 0; rank < session.size(); ++rank) {
    if (rank == session.rank()) continue;
    ph_path path{};
    path.size = sizeof path;
    if (ph_path_to(session.context(), rank, &path) != PH_OK) continue;
    if (std::strcmp(path.state, "departed") != 0 && std::strcmp(path.state, "dead") != 0)
      return false;
  }
  return session.size() > 1;
}

}  // namespace

bool Lobby::find(const ph_match& match, ph_buffer& buffer, bool takes) noexcept {
  const auto found =
      std::ranges::find_if(kept_, [&](const ph_buffer& kept) { return matches(match, kept); });
  if (found == kept_.end()) return false;
  buffer = *found;
  if (takes) kept_.erase(found);
  return true;
}

ph_status Lobby::meet(Session& session, const ph_match& match, ph_buffer& buffer) {
  for (bool last = false;; last = match.rank == PH_ANY_RANK && is_alone(session)) {
    {
      const std::scoped_lock lock(mutex_);
      if (find(match, buffer, true)) return PH_OK;
    }
    // What the last who left had announced is still looked at once.
    const ph_status status =
        ph_wait_buffer(session.context(), &match, &buffer, last ? 0 : kRoundUs);
    if (status != PH_TIMEOUT && status != PH_AGAIN) return status;
    if (last) return PH_ERR_PEER;
  }
}

ph_status Lobby::see(ph_context* context, const ph_match& match, ph_buffer& buffer) {
  const std::scoped_lock lock(mutex_);
  if (find(match, buffer, false)) return PH_OK;
  kept_.reserve(kept_.size() + 1);  // what was taken from the context is kept
  const ph_status status = ph_test_buffer(context, &match, &buffer);
  if (status == PH_OK) kept_.push_back(buffer);
  return status;
}

}  // namespace photon::classic
