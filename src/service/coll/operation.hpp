// One collective operation of this member, and how far its schedule has come (docs/collectives.md).
//
//   idle -- begin --> running -- all phases are over, all sends --> over
//                     running -- fail --> failing -- nothing touches its memory --> over
//   over -- told --> idle (prepared), or none
//
// Invariants: `receives_left` counts the receives of this phase that have not landed; `pulls` our
// reads that are under way; `sent` the messages that their receivers read themselves. Nothing but
// these touches the buffers, so it is over when all three are none.
// Owner: Collectives, under the lane's lock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "service/coll/early.hpp"
#include "service/coll/plan.hpp"
#include "service/coll/team.hpp"

namespace photon::service::coll {

enum class OpState : std::uint8_t { idle, running, failing, over };
enum class StepState : std::uint8_t { waiting, pulling, landed };
// asked: it goes by lines, if all members see those of all; that is not known yet.
enum class Way : std::uint8_t { messages, asked, lines };

// Our memory that a member reads.
struct SentNote {
  std::uint32_t member = 0;
  std::uint32_t tag = 0;
  Exposed exposed;
};

struct Operation {
  Plan plan;
  Team* team = nullptr;
  std::uint32_t channel = 0;
  std::uint32_t sequence = 0;
  OpState state = OpState::idle;

  std::uint64_t phases = 0;
  std::uint64_t index = 0;       // of the phase
  std::uint32_t step = 0;        // the next to be begun
  std::uint64_t step_bytes = 0;  // of a copy or fold: done so far
  schedule::Phase phase;
  std::array<StepState, schedule::Phase::kMostSteps> states{};
  std::uint32_t receives_left = 0;
  std::uint32_t pulls = 0;
  std::vector<SentNote> sent;
  EarlyPool::List early;
  std::unique_ptr<std::byte[]> temp;
  std::uint64_t temp_bytes = 0;

  Way way = Way::messages;
  Board* board = nullptr;       // of its channel, where it does not go by messages
  bool has_said = false;        // in its line
  std::uint32_t next_line = 0;  // the member whose line is read next
  std::uint32_t lines_end = 0;

  Blame blame;                // the first failure
  bool asks = false;          // a member was told that its call differs, and will answer
  bool is_advancing = false;  // on the stack
  bool retries = false;       // what has come is read when there is room for it
  bool is_short = false;      // memory ran out in the middle of a step
  bool is_busy = false;       // stands in the list of those that want a turn
  bool is_internal = false;   // of the library itself: it is told to nobody
  bool waits = false;         // ph_coll_run(): the caller looks at `state`
  bool is_prepared = false;
  bool is_changed = false;        // prepared: since it began last
  bool is_with_provider = false;  // which has not said that it is over
  std::uint64_t promise = 0;
  std::uint32_t place = 0;  // in the pool

  bool is_under_way() const noexcept {
    return state == OpState::running || state == OpState::failing;
  }
  bool is_quiet() const noexcept { return pulls == 0 && sent.empty() && !is_with_provider; }
  std::byte* at(const schedule::Range& range) noexcept {
    if (range.count == 0) return nullptr;  // a buffer of no bytes may be null
    const std::uint64_t offset = range.first * plan.element_bytes;
    switch (range.space) {
      case schedule::Space::in: return const_cast<std::byte*>(plan.in) + offset;
      case schedule::Space::out: return plan.out + offset;
      case schedule::Space::temp: return temp.get() + offset;
      case schedule::Space::none: break;
    }
    return nullptr;
  }
};

}  // namespace photon::service::coll
