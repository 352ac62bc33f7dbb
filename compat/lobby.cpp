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

Lobby::Kept* Lobby::find(const ph_match& match) noexcept {
  const auto found = std::ranges::find_if(
      kept_, [&](const Kept& kept) { return !kept.is_lent && matches(match, kept.loan.buffer); });
  return found == kept_.end() ? nullptr : &*found;
}

void Lobby::make_room() { kept_.reserve(kept_.size() + waits_count_ + 1); }

void Lobby::keep(const ph_buffer& buffer, bool is_lent) noexcept {
  kept_.push_back({{buffer, ++numbers_}, is_lent});  // there is room
}

ph_status Lobby::try_borrow(ph_context* context, const ph_match& match, Loan& loan) {
  std::unique_lock lock(mutex_);
  if (Kept* kept = find(match); kept != nullptr) {
    kept->is_lent = true;
    loan = kept->loan;
    return PH_OK;
  }
  make_room();  // what was taken from the context is never lost
  ++waits_count_;
  lock.unlock();
  const ph_status status = ph_wait_buffer(context, &match, &loan.buffer, kRoundUs);
  lock.lock();
  --waits_count_;
  if (status != PH_OK) return status;
  keep(loan.buffer, true);
  loan = kept_.back().loan;
  return PH_OK;
}

ph_status Lobby::borrow(Session& session, const ph_match& match, Loan& loan) {
  for (bool last = false;; last = match.rank == PH_ANY_RANK && is_alone(session)) {
    const ph_status status = try_borrow(session.context(), match, loan);
    if (status != PH_TIMEOUT && status != PH_AGAIN) return status;
    if (last) return PH_ERR_PEER;  // what the last who left had announced was still looked at
  }
}

void Lobby::settle(const Loan& loan, bool is_taken) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(
      kept_, [&](const Kept& kept) { return kept.loan.number == loan.number; });
  if (found == kept_.end()) return;
  if (is_taken)
    kept_.erase(found);
  else
    found->is_lent = false;
}

ph_status Lobby::meet(Session& session, const ph_match& match, ph_buffer& buffer) {
  Loan loan;
  const ph_status status = borrow(session, match, loan);
  if (status != PH_OK) return status;
  settle(loan, true);
  buffer = loan.buffer;
  return PH_OK;
}

ph_status Lobby::see(ph_context* context, const ph_match& match, ph_buffer& buffer) {
  const std::scoped_lock lock(mutex_);
  if (const Kept* kept = find(match); kept != nullptr) {
    buffer = kept->loan.buffer;
    return PH_OK;
  }
  make_room();
  const ph_status status = ph_test_buffer(context, &match, &buffer);
  if (status == PH_OK) keep(buffer, false);
  return status;
}

}  // namespace photon::classic
