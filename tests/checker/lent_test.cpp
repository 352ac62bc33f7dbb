// Loans that are given back without the lane's lock (sync/lent.hpp): the room of a chunk is not
// written again while its handler reads it.
#include "sync/lent.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"

namespace photon::checker {
namespace {

constexpr std::uint64_t kChunks = 3;
constexpr std::uint64_t kRoom = 2;  // chunks in the ring

// What is weakened, besides the template's own orders.
struct Fault {
  std::memory_order credit_given = std::memory_order_release;
  std::memory_order credit_seen = std::memory_order_acquire;
  bool gives_back_when_shown = false;
};

struct Ring {
  std::array<CheckerPolicy::Cell<std::uint64_t>, kRoom> room;
  CheckerPolicy::Atomic<std::uint64_t> sent;   // chunks: the records
  CheckerPolicy::Atomic<std::uint64_t> due;    // chunks shown: collect(), by the lane's lock
  CheckerPolicy::Atomic<std::uint64_t> freed;  // chunks: the credit
};

Scenario lending(const Fault& fault) {
  return [=](Stage& stage) {
    stage.group("ring");
    auto state = std::make_shared<Ring>();
    stage.group("lent");
    auto lent = std::make_shared<sync::Lent<CheckerPolicy>>();
    stage.thread("sender", [=] {
      for (std::uint64_t i = 0; i < kChunks; ++i) {
        wait_until([&] { return i - state->freed.load(fault.credit_seen) < kRoom; });
        state->room[i % kRoom].set(i + 1);
        state->sent.store(i + 1, std::memory_order_release);
      }
    });
    // Shows what has come, and gives back what was returned.
    stage.thread("lane", [=] {
      std::uint64_t shown = 0, freed = 0;
      while (freed < kChunks) {
        const std::uint64_t sent = state->sent.load(std::memory_order_acquire);
        if (sent != shown) {
          shown = sent;
          state->due.store(shown, std::memory_order_release);
        }
        const std::uint64_t returned = lent->take_returned();
        const std::uint64_t now = fault.gives_back_when_shown ? shown : freed + returned;
        if (now != freed) state->freed.store(now, fault.credit_given);
        freed = now;
        if (freed < kChunks) CheckerPolicy::relax();
      }
    });
    stage.thread("runner", [=] {
      for (std::uint64_t i = 0; i < kChunks; ++i) {
        wait_until([&] { return state->due.load(std::memory_order_acquire) > i; });
        expect(state->room[i % kRoom].get() == i + 1, "the handler reads its own chunk");
        lent->returned();
      }
    });
  };
}

TEST(LentChecked, room_is_written_again_when_its_handler_has_read_it_and_not_before) {
  expect_proved(explore({}, lending({})));
  expect_proved(explore({.stale_loads = true}, lending({})));
}

TEST(LentChecked, both_orders_of_the_count_are_needed) {
  expect_found(explore({.weaken = {.release = true, .only = "lent"}}, lending({})), "data race");
  expect_found(explore({.weaken = {.acquire = true, .only = "lent"}}, lending({})), "data race");
}

TEST(LentChecked, both_orders_of_the_credit_are_needed) {
  Fault given;
  given.credit_given = std::memory_order_relaxed;
  expect_found(explore({}, lending(given)), "data race");
  Fault seen;
  seen.credit_seen = std::memory_order_relaxed;
  expect_found(explore({}, lending(seen)), "data race");
}

TEST(LentChecked, who_gives_room_back_when_a_chunk_is_shown_is_found) {
  Fault early;
  early.gives_back_when_shown = true;
  expect_found(explore({}, lending(early)), "data race");
}

}  // namespace
}  // namespace photon::checker
