// One collective operation of this member, and how far its schedule has come (docs/collectives.md,
// "An operation").
//
//   idle -- begin --> running -- all phases are over, all sends --> over
//                     running -- fail --> failing -- nothing touches its memory --> over
//   over -- told --> idle (prepared), or none
//
// Invariants: `receives_left` counts the receives of this phase that have not landed, `pulls`
// counts this member's reads of others' memory that are under way, and `sent` has the messages that
// their receivers read out of this member's memory. Nothing else touches the buffers. So the
// operation is over when all three are empty. Owner: Collectives, under the lane's lock.
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
// How the bytes travel. asked: by lines if all members see the lines of all, which is not known
// yet.
enum class Way : std::uint8_t { messages, asked, lines };

// Memory of this member that another one reads itself.
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
  std::uint64_t index = 0;       // the number of `phase`, of `phases`
  std::uint32_t step = 0;        // the step of `phase` that is begun next
  std::uint64_t step_bytes = 0;  // how much of that step is done, if it is a copy or fold
  schedule::Phase phase;
  std::array<StepState, schedule::Phase::kMostSteps> states{};
  std::uint32_t receives_left = 0;
  std::uint32_t pulls = 0;
  std::vector<SentNote> sent;
  EarlyPool::List early;  // messages for later steps
  std::unique_ptr<std::byte[]> temp;
  std::uint64_t temp_bytes = 0;

  Way way = Way::messages;
  Board* board = nullptr;       // its channel's board, unless it goes by messages
  bool has_said = false;        // this member's block stands in its line
  std::uint32_t next_line = 0;  // the member whose line is read next
  std::uint32_t lines_end = 0;  // the member behind the last one whose line is read
  std::uint8_t doubts = 0;      // so many times in a row a page that it waits for made no sense

  Blame blame;                // the first failure
  bool asks = false;          // a member was told that its call differs, and has yet to answer
  bool is_advancing = false;  // Runner::advance() is on the stack for it
  bool retries = false;       // a read found no room, and is begun again in a turn
  bool is_short = false;      // memory ran out in the middle of a step; a turn fails it
  bool is_busy = false;       // it is in the list of operations that want a turn
  bool is_internal = false;   // of the library itself, such as a split: nobody is told of its end
  bool waits = false;         // begun by ph_coll_run(), whose thread looks at `state`
  bool is_prepared = false;
  bool is_changed = false;        // a prepared one was changed since it began last
  bool is_with_provider = false;  // a provider does it, and has not said that it is over
  std::uint64_t promise = 0;      // of the port, for the completion; 0: none
  std::uint32_t place = 0;        // in Runner's pool

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
