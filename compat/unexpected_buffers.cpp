#include "compat/unexpected_buffers.hpp"

#include <algorithm>

#include "compat/reach.hpp"
#include "compat/session.hpp"

namespace photon::classic {

namespace {

// How long a wait leaves unlooked at what others have kept meanwhile, and who is still there. It
// is no latency: what comes ends the wait at once.
constexpr std::int64_t kRoundUs = 20'000;

// The same where others look.
constexpr std::int64_t kTurnUs = 50;

// Nothing of that size is ever announced.
constexpr std::uint64_t kNoSize = PH_ANY_SIZE - 1;

bool matches(const ph_match& match, const ph_buffer& buffer) noexcept {
  return match.kind == buffer.kind && (match.rank == PH_ANY_RANK || match.rank == buffer.rank) &&
         (match.tag == PH_ANY_TAG || match.tag == buffer.tag) &&
         (match.size_bytes == PH_ANY_SIZE || match.size_bytes == buffer.size_bytes);
}

// PH_OK: somebody can still announce what is waited for. `is_first`: all who can are reached, also
// if one would do.
ph_status hope(const Session& session, const ph_match& match, bool is_first) noexcept {
  if (match.rank != PH_ANY_RANK) return reach(session.context(), match.rank);
  ph_status hopeless = session.size() > 1 ? PH_ERR_PEER : PH_OK;
  for (ph_rank rank = 0; rank < session.size(); ++rank) {
    if (rank == session.rank() || reach(session.context(), rank) != PH_OK) continue;
    if (!is_first) return PH_OK;
    hopeless = PH_OK;
  }
  return hopeless;
}

}  // namespace

UnexpectedBuffers::Kept* UnexpectedBuffers::find(const ph_match& match) noexcept {
  const auto found = std::ranges::find_if(
      kept_, [&](const Kept& kept) { return !kept.is_lent && matches(match, kept.loan.buffer); });
  return found == kept_.end() ? nullptr : &*found;
}

void UnexpectedBuffers::make_room() { kept_.reserve(kept_.size() + waits_count_ + 1); }

void UnexpectedBuffers::keep(const ph_buffer& buffer, bool is_lent) noexcept {
  kept_.push_back({{buffer, ++numbers_}, is_lent});  // there is room
}

bool UnexpectedBuffers::lend(const ph_match& match, Loan& loan) noexcept {
  Kept* kept = find(match);
  if (kept == nullptr) return false;
  kept->is_lent = true;
  loan = kept->loan;
  return true;
}

ph_status UnexpectedBuffers::try_borrow(ph_context* context, const ph_match& match, Loan& loan) {
  std::unique_lock lock(mutex_);
  if (lend(match, loan)) return PH_OK;
  make_room();  // what was taken from the context is never lost
  if (is_looked_at_) {
    lock.unlock();
    return try_borrow_in_turns(context, match, loan);
  }
  ++waits_count_;
  lock.unlock();
  const ph_status status = ph_wait_buffer(context, &match, &loan.buffer, kRoundUs);
  lock.lock();
  if (--waits_count_ == 0) nobody_waits_.notify_all();
  if (status != PH_OK) return status;
  keep(loan.buffer, true);
  loan = kept_.back().loan;
  return PH_OK;
}

// A wait takes what comes at any time; a look in turns with others takes what is oldest then.
ph_status UnexpectedBuffers::try_borrow_in_turns(ph_context* context, const ph_match& match,
                                                 Loan& loan) {
  ph_match nothing = match;
  nothing.size_bytes = kNoSize;
  for (std::int64_t spent_us = 0; spent_us < kRoundUs; spent_us += kTurnUs) {
    {
      const std::scoped_lock lock(mutex_);
      if (lend(match, loan)) return PH_OK;
      make_room();
      const ph_status status = ph_test_buffer(context, &match, &loan.buffer);
      if (status == PH_OK) {
        keep(loan.buffer, true);
        loan = kept_.back().loan;
      }
      if (status != PH_AGAIN) return status;
    }
    ph_buffer none{};  // that it can come no more is said by the next look
    static_cast<void>(ph_wait_buffer(context, &nothing, &none, kTurnUs));
  }
  return PH_TIMEOUT;
}

ph_status UnexpectedBuffers::borrow(Session& session, const ph_match& match, Loan& loan) {
  // Nobody is reached for what comes at once; and what the lost had announced is still looked at.
  ph_status lost = PH_OK;
  for (bool is_first = true;; is_first = false) {
    const ph_status status = try_borrow(session.context(), match, loan);
    if (status != PH_TIMEOUT && status != PH_AGAIN) return status;
    if (lost != PH_OK) return lost;
    lost = hope(session, match, is_first);
  }
}

void UnexpectedBuffers::settle(const Loan& loan, bool is_taken) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(
      kept_, [&](const Kept& kept) { return kept.loan.number == loan.number; });
  if (found == kept_.end()) return;
  if (is_taken)
    kept_.erase(found);
  else
    found->is_lent = false;
}

ph_status UnexpectedBuffers::meet(Session& session, const ph_match& match, ph_buffer& buffer) {
  Loan loan;
  const ph_status status = borrow(session, match, loan);
  if (status != PH_OK) return status;
  settle(loan, true);
  buffer = loan.buffer;
  return PH_OK;
}

ph_status UnexpectedBuffers::see(ph_context* context, const ph_match& match, ph_buffer& buffer) {
  std::unique_lock lock(mutex_);
  is_looked_at_ = true;
  nobody_waits_.wait(lock, [this] { return waits_count_ == 0; });
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
