// The lock between processes (interop/mpi/lock/rank_lock.hpp): who is in is alone, or shares it;
// a holder that has died is taken over at whatever step it died.
#include "interop/mpi/lock/rank_lock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"

namespace photon::checker {
namespace {

using mpi::kNobody;
// The model knows one fence, wherever it stands.
struct LockModel : CheckerPolicy {
  static void fence_behind_change() noexcept { full_fence(); }
};

using Lock = mpi::RankLock<LockModel>;
constexpr std::uint32_t kMost = 3;

struct State {
  mpi::LockWords<LockModel> words;
  std::array<mpi::LockSlot<LockModel>, kMost> slots;
  std::array<CheckerPolicy::Atomic<std::uint64_t>, kMost> is_dead;  // what the bootstrap says
  CheckerPolicy::Cell<std::uint64_t> memory;
  std::array<CheckerPolicy::Cell<std::uint64_t>, kMost> results;

  Lock of(std::uint32_t rank) { return {words, slots, rank}; }
  bool has_died(std::uint32_t rank) {
    return rank != kNobody && is_dead[rank].load(std::memory_order_acquire) != 0;
  }
};

// What a rank does: the step at which it dies is the last one that it does.
enum class Step : std::uint8_t { claimed, owned, inside, all };

struct Role {
  bool shares = false;
  bool claims = false;  // before it asks
  Step last = Step::all;
};

bool ends_at(State& state, std::uint32_t rank, const Role& role, Step step) {
  if (role.last != step) return false;
  state.is_dead[rank].store(1, std::memory_order_release);
  return true;
}

// As a waiter looks after those who are dead.
void bury(State& state, Lock& lock) {
  if (const std::uint32_t claimer = lock.claimer(); state.has_died(claimer)) lock.unclaim(claimer);
}

void get_owner(State& state, Lock& lock) {
  for (;; CheckerPolicy::relax()) {
    if (lock.own()) return;
    bury(state, lock);
    const std::uint32_t owner = lock.owner();
    if (state.has_died(owner) && lock.take_over(owner)) return;
  }
}

void await_sharers(State& state, Lock& lock) {
  for (;; CheckerPolicy::relax()) {
    const std::uint32_t blocking = lock.blocking_slot();
    if (blocking == kNobody) return;
    if (state.has_died(blocking)) lock.clear(blocking);
  }
}

// A dead owner has to be taken over by somebody who is in for itself: here, at once.
void get_share(State& state, Lock& lock, std::uint32_t rank) {
  while (!lock.share()) {
    bury(state, lock);
    wait_until([&] {
      const std::uint32_t owner = lock.owner();
      const std::uint32_t claimer = lock.claimer();
      const bool may_enter = owner == kNobody && (claimer == kNobody || claimer == rank);
      return may_enter || state.has_died(owner) || state.has_died(claimer);
    });
    const std::uint32_t owner = lock.owner();
    if (state.has_died(owner) && lock.take_over(owner)) {
      await_sharers(state, lock);
      lock.leave();
    }
  }
}

void act(State& state, std::uint32_t rank, const Role& role) {
  Lock lock = state.of(rank);
  if (role.claims) static_cast<void>(lock.claim());
  if (ends_at(state, rank, role, Step::claimed)) return;
  if (role.shares) {
    get_share(state, lock, rank);
    lock.yield();
    state.results[rank].set(state.memory.get());
    if (ends_at(state, rank, role, Step::inside)) return;
    return lock.unshare();
  }
  get_owner(state, lock);
  if (ends_at(state, rank, role, Step::owned)) return;
  await_sharers(state, lock);
  if (role.claims) lock.yield();
  state.memory.set(state.memory.get() + 1);
  if (ends_at(state, rank, role, Step::inside)) return;
  lock.leave();
}

Scenario meeting(std::vector<Role> roles) {
  return [=](Stage& stage) {
    stage.group("lock");
    auto state = std::make_shared<State>();
    for (std::uint32_t rank = 0; rank < roles.size(); ++rank)
      stage.thread("rank " + std::to_string(rank),
                   [=, role = roles[rank]] { act(*state, rank, role); });
    stage.finally([=] {
      std::uint64_t written = 0;
      for (const Role& role : roles)
        written += !role.shares && (role.last == Step::all || role.last == Step::inside);
      expect(state->memory.get() == written, "each owner's write counts");
    });
  };
}

constexpr Role kAlone{};
constexpr Role kShares{.shares = true};

TEST(RankLockChecked, an_owner_is_alone) {
  for (const bool stale : {false, true}) {
    expect_proved(explore({.stale_loads = stale}, meeting({kAlone, kAlone})));
    expect_proved(explore({.stale_loads = stale}, meeting({kAlone, kShares})));
  }
  expect_proved(explore({}, meeting({kAlone, kAlone, kAlone})));
  expect_proved(explore({}, meeting({kAlone, kShares, kShares})));
  expect_proved(explore({}, meeting({kAlone, kAlone, kShares})));
}

TEST(RankLockChecked, who_claims_the_next_turn_stops_nobody_for_ever) {
  const Role claims{.claims = true};
  expect_proved(explore({}, meeting({claims, claims})));
  expect_proved(explore({}, meeting({claims, kAlone})));
  expect_proved(explore({}, meeting({claims, kShares})));
  expect_proved(explore({}, meeting({claims, kShares, kShares})));
  expect_proved(explore({}, meeting({claims, {.shares = true, .claims = true}})));
}

TEST(RankLockChecked, a_dead_rank_is_taken_over_at_each_step) {
  for (const Role& dead :
       {Role{.claims = true, .last = Step::claimed}, Role{.last = Step::owned},
        Role{.last = Step::inside}, Role{.shares = true, .last = Step::inside}}) {
    expect_proved(explore({}, meeting({dead, kAlone, kAlone})));
    expect_proved(explore({}, meeting({dead, kAlone, kShares})));
    expect_proved(explore({.stale_loads = true}, meeting({dead, kAlone})));
    expect_proved(explore({.stale_loads = true}, meeting({dead, kShares})));
  }
}

// Rank 0 has died as the owner, and that it gives the lock back is still at the target's thread.
Scenario late(bool gives_blindly, std::uint32_t takers) {
  return [=](Stage& stage) {
    stage.group("lock");
    auto state = std::make_shared<State>();
    stage.thread("rank 0 dies, and its target", [=] {
      Lock lock = state->of(0);
      static_cast<void>(lock.own());
      state->is_dead[0].store(1, std::memory_order_release);
      if (gives_blindly)
        lock.leave();
      else
        static_cast<void>(lock.leave_for());
    });
    for (std::uint32_t rank = 1; rank <= takers; ++rank)
      stage.thread("rank " + std::to_string(rank), [=] {
        wait_until([&] { return state->has_died(0); });
        act(*state, rank, kAlone);
      });
    stage.finally([=] { expect(state->memory.get() == takers, "each owner's write counts"); });
  };
}

TEST(RankLockChecked, a_dead_owner_gives_back_what_is_its_own_alone) {
  for (const bool stale : {false, true})
    expect_proved(explore({.stale_loads = stale}, late(false, 1)));
  expect_proved(explore({}, late(false, 2)));
  expect_found(explore({}, late(true, 2)), "data race");
}

TEST(RankLockChecked, every_order_is_needed) {
  const Scenario two = meeting({kAlone, kShares});
  // On x86 the change in front of the fence is one, too: what needs it is a processor that may read
  // early.
  expect_found(explore({.stale_loads = true, .weaken = {.full_fence = true}}, two), "data race");
  expect_found(explore({.weaken = {.release = true, .only = "lock"}}, two), "data race");
  expect_found(explore({.stale_loads = true, .weaken = {.acquire = true, .only = "lock"}}, two),
               "data race");
}

}  // namespace
}  // namespace photon::checker
