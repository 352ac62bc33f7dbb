// The user's code of services: when it runs, in whose call, and what is left to the next one
// (docs/adding-a-service.md, The user's code).
#include <bit>
#include <new>
#include <utility>

#include "base/finally.hpp"
#include "engine/engine.hpp"
#include "engine/services.hpp"

namespace photon::engine {

namespace {

std::uint32_t bit_of(wire::Owner owner) noexcept { return 1u << static_cast<unsigned>(owner); }

}  // namespace

bool Services::may_begin(const Slot& one) const noexcept {
  return !engine_.is_leaving_ || one.service->runs_while_leaving();
}

void Services::wants_run(wire::Owner owner) noexcept {
  if (!may_begin(slot(owner))) return;  // what is due is dropped as it closes
  engine_.user_code_ |= bit_of(owner);
  if (engine_.waiters_ != 0) engine_.news();  // a thread that waits runs it
}

// Of all, also where one finds no memory.
void Services::run(LaneGuard& guard, bool beside_caller) {
  const base::Finally noted([&]() noexcept {
    if (guard.status() == PH_OK) note_left();
  });
  bool has_failed = false;
  std::uint32_t due = beside_caller ? engine_.user_code_ & beside_ : engine_.user_code_;
  for (; due != 0 && guard.status() == PH_OK; due &= due - 1) {
    Slot& one = slots_[static_cast<std::size_t>(std::countr_zero(due))];
    if (!may_begin(one)) {  // else nobody would sleep while the lane leaves
      engine_.user_code_ &= ~bit_of(one.kind->owner);
      continue;
    }
    try {
      run_one(one, guard);
    } catch (const std::bad_alloc&) {
      has_failed = true;
    }
  }
  if (has_failed) throw std::bad_alloc();
}

void Services::run_one(Slot& one, LaneGuard& guard) {
  const std::uint32_t own = bit_of(one.kind->owner);
  engine_.user_code_ &= ~own;
  if (!one.right.try_take()) return;  // who has it looks again
  // Beside a caller it is looked again whether he is still silent.
  const unsigned most_rounds = engine_.is_standing_in_ ? 1 : kMostRounds;
  ++runs_;
  for (unsigned round = 1;; ++round) {
    try {
      one.service->collect();
    } catch (const std::bad_alloc&) {  // the next call tries again
      engine_.user_code_ |= own;
      end_run(one);
      throw;
    }
    one.runner = Lane::self();
    const bool stands_in = std::exchange(engine_.is_standing_in_, false);
    guard.release();
    one.service->run();
    guard.retake();
    if (guard.status() != PH_OK) return;  // a fork's child: nothing here is ours
    engine_.is_standing_in_ = stands_in;
    one.runner = 0;
    // Else a handler's call has run another one's.
    if (is_displaced_ && !is_run_by_caller()) [[unlikely]]
      end_words();
    one.service->ran();
    if (one.right.take_more()) engine_.user_code_ |= own;
    if (!may_begin(one)) engine_.user_code_ &= ~own;
    if ((engine_.user_code_ & own) == 0 || round == most_rounds) break;
    engine_.user_code_ &= ~own;
  }
  end_run(one);
}

void Services::end_run(Slot& one) noexcept {
  one.right.finish();
  --runs_;
}

void Services::note_left() noexcept {
  const bool is_left = engine_.user_code_ != 0;
  if (is_left == is_left_) return;
  is_left_ = is_left;
  engine_.due_ += is_left ? 1 : std::uint32_t(-1);
  if (is_left && engine_.waiters_ != 0) engine_.news();
}

// The right is free, and the call that is under way ends with run().
bool Services::runs_now(wire::Owner owner) const noexcept {
  const Slot& one = slots_[static_cast<std::size_t>(owner)];
  if (is_closed_ || engine_.is_leaving_ || engine_.holds_lane_ || !one.right.is_free())
    return false;
  if (engine_.is_standing_in_ && (engine_.is_caller_back_ || (beside_ & bit_of(owner)) == 0))
    return false;
  return !is_run_by_caller();
}

bool Services::is_in_run(wire::Owner owner) const noexcept {
  return slots_[static_cast<std::size_t>(owner)].runner == Lane::self();
}

bool Services::forbids_waits() const noexcept {
  if (runs_ == 0) return false;
  for (const Slot& one : slots_)
    if (one.runner == Lane::self() && !one.service->may_wait()) return true;
  return false;
}

bool Services::has_run_beside() const noexcept {
  return !engine_.is_leaving_ && (engine_.user_code_ & beside_) != 0;
}

bool Services::is_beside_caller() const noexcept { return engine_.is_standing_in_; }

namespace {

constexpr const char* kMustNotWait =
    "a handler must not wait: what it waits for may need this lane's handlers, which run when it "
    "has returned";

}  // namespace

void Engine::run_user_code(LaneGuard& guard) { services_->run(guard); }

ph_status Engine::check_wait() {
  return services_->forbids_waits() ? fail(PH_ERR_STATE, PH_ANY_RANK, kMustNotWait) : PH_OK;
}

bool Engine::has_refused_wait(ph_status status) const noexcept {
  return status == PH_ERR_STATE && last_error_.status == status && services_->forbids_waits() &&
         last_error_.what == kMustNotWait;
}

}  // namespace photon::engine
