// All members' schedules run against each other on values that know what they were made of. One
// run stands for all: what a step touches is compared with what may be going on beside it in any
// run, however slow messages and members are, not only with what goes on in this one.
//
// What is assumed against the schedule (schedule.hpp gives the rules):
//   - a send is over only when its receive has been begun and has taken the bytes, and not then
//     known to its member, but by `after_sends` or by what messages say (Clocks);
//   - a receive may write from the begin of its phase on, and until the first copy or fold behind
//     it, or the end of the phase;
//   - yet it is begun only when the copies and folds in front of it are done: so no member is
//     waited for that need not come.
// Messages carry exactly as many elements as their receive says, but those of a whole block with
// room for more (PH_COUNTS_FROM_SENDERS).
// Owner: whoever verifies. Threads: one.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"
#include "simtest/coll_clocks.hpp"
#include "simtest/coll_messages.hpp"
#include "simtest/coll_values.hpp"

namespace photon::simtest::coll {

// The functions that are proved. Tests put one in their place that makes a mistake.
class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual bool knows(const schedule::Call& call) const { return schedule::knows(call); }
  virtual std::uint64_t phases_of(const schedule::Call& call) const {
    return schedule::phases_of(call);
  }
  virtual void phase_at(const schedule::Call& call, std::uint64_t index,
                        schedule::Phase& phase) const {
    schedule::phase_at(call, index, phase);
  }
  virtual std::uint64_t temp_of(const schedule::Call& call) const {
    return schedule::temp_of(call);
  }
};

// When messages arrive in the one run: what is read is read then.
enum class Timing : std::uint8_t { early, late, drawn };
inline constexpr std::array kTimingNames = {"early", "late", "drawn"};

// A member: its call, and what stands in its memory.
struct Member {
  schedule::Call call;
  std::vector<Value> in;
  std::vector<Value> out;
};

class Machine {
 public:
  Machine(const Schedule& schedule, std::vector<Member>& members)
      : schedule_(schedule), members_(members) {}

  // `block`s may have room for more than comes.
  void allow_room() { has_room_ = true; }
  // The first fault in words; empty: all members came to their end. Outputs stand in `members`.
  std::string run(Timing timing, std::uint64_t seed);

  const Values& values() const { return values_; }
  std::uint64_t messages() const { return messages_.size(); }
  std::uint64_t steps() const { return steps_; }

 private:
  using Step = schedule::Step;
  using Range = schedule::Range;

  // Elements of one space: what they hold, and the newest send that reads each.
  struct Space {
    std::vector<Value>* values = nullptr;
    std::vector<std::uint32_t> readers;  // link + 1
  };
  // A send that reads an element, and the link of the one before it.
  struct Link {
    std::uint32_t message;
    std::uint32_t before;  // link + 1
  };
  struct State {
    std::array<Space, 3> spaces;  // in, out, temp
    std::vector<Value> temp;
    std::vector<Link> links;
    std::uint32_t links_closed = 0;  // links given up, of sends that are over
    std::uint64_t phases = 0;
    std::uint64_t index = 0;  // of the phase
    schedule::Phase phase;
    bool is_begun = false;
    bool is_queued = false;
    std::uint32_t next = 0;             // step
    Clocks::Point point = 0;            // the newest
    std::uint32_t coming = 0;           // receives that have not come
    std::uint32_t sending = 0;          // sends not over
    std::vector<Clocks::Stamp> learnt;  // by receives that have come, of this phase
  };

  void prepare();
  void advance(std::uint32_t member);
  bool begin_phase(std::uint32_t member);
  void end_phase(std::uint32_t member);
  bool begin_step(std::uint32_t member);
  void begin_send(std::uint32_t member, const Step& step);
  void begin_receive(std::uint32_t member, const Step& step);
  void compute(std::uint32_t member, const Step& step);
  void pass_point(std::uint32_t member);
  void take(std::uint32_t message);
  void put_bytes(const Message& message, std::uint64_t count);
  void wake(std::uint32_t member);
  void take_one_that_waits();

  // Of what may be wrong.
  void check_phase(std::uint32_t member);
  void check_step(std::uint32_t member, std::uint32_t index);
  void check_block(std::uint32_t member, const Step& step);
  void check_pair(std::uint32_t member, std::uint32_t first, std::uint32_t second);
  void check_bounds(std::uint32_t member, const Range& range, bool is_written);
  void check_not_sent(std::uint32_t member, const Range& range);
  void check_end();
  void fault(std::uint32_t member, const std::string& words);
  void fault_of(std::uint32_t member, std::uint64_t phase, const std::string& words);
  std::string why_waits(std::uint32_t member) const;
  std::string text_of_step(std::uint32_t member) const;

  Space& space_of(std::uint32_t member, schedule::Space space) {
    return states_[member].spaces[static_cast<std::size_t>(space) - 1];
  }

  const Schedule& schedule_;
  std::vector<Member>& members_;
  bool has_room_ = false;
  Timing timing_ = Timing::early;
  std::mt19937_64 random_;
  Values values_;
  Clocks clocks_;
  Messages messages_;
  std::vector<State> states_;
  std::deque<std::uint32_t> queue_;     // members that may be able to go on
  std::vector<std::uint32_t> waiting_;  // messages whose both ends have begun
  std::uint64_t steps_ = 0;
  static constexpr std::uint32_t kNoStep = 0xffff'ffff;
  std::uint32_t step_ = kNoStep;  // that is looked at
  std::string fault_;
};

std::string text_of(const schedule::Range& range);

}  // namespace photon::simtest::coll
