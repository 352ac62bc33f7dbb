// Chains 0 -> 1 -> ... -> n-1 whose segments follow each other: while one is received and folded
// the one before it is still read by the next member. Folds stay in team order.
#include "schedule/pieces.hpp"
#include "schedule/ways.hpp"

namespace photon::schedule {
namespace {

// A slot of `temp` is written again only after the sends that read it, once in so many segments.
Range chain_slot(const Call& call, std::uint64_t segment, std::uint32_t slots) noexcept {
  const Range whole = segment_at(call, Space::out, segment);
  return {Space::temp, segment % slots * segment_of(call), whole.count};
}
bool begins_a_turn(std::uint64_t index) noexcept { return index > 0 && index % kChainSlots == 0; }
std::uint64_t chain_temp(const Call& call, std::uint32_t slots) noexcept {
  return std::min<std::uint64_t>(slots, segments_of(call)) * std::min(segment_of(call), call.count);
}

// Finished segments of `out` handed along: the first member sends only, the last receives only.
struct PassOn {
  const Call& call;
  bool is_first;
  bool is_last;
  std::uint32_t from;
  std::uint32_t to;

  bool is_between() const noexcept { return !is_first && !is_last; }
  std::uint64_t phases() const noexcept {
    return is_between() ? segments_of(call) + 1 : divide_up(segments_of(call), Phase::kMostSteps);
  }
  void at(std::uint64_t index, Phase& phase) const noexcept {
    const std::uint64_t segments = segments_of(call);
    if (is_between()) {
      if (index > 0) phase.add(send(index - 1));
      if (index < segments) phase.add(receive(index));
      return;
    }
    const std::uint64_t first = index * Phase::kMostSteps;
    for (std::uint64_t i = first; i < std::min(first + Phase::kMostSteps, segments); ++i)
      phase.add(is_first ? send(i) : receive(i));
  }
  Step send(std::uint64_t i) const noexcept {
    return send_to(to, static_cast<std::uint32_t>(i), segment_at(call, Space::out, i));
  }
  Step receive(std::uint64_t i) const noexcept {
    return receive_from(from, static_cast<std::uint32_t>(i), segment_at(call, Space::out, i));
  }
};

struct BcastChain {
  static PassOn pass_of(const Call& call) noexcept {
    const std::uint32_t place = before(call, call.root);
    return {call, place == 0, place == call.size - 1, before(call, 1), after(call, 1)};
  }
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept { return pass_of(call).phases(); }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    pass_of(call).at(index, phase);
  }
  static std::uint64_t temp(const Call&) noexcept { return 0; }
};

// The sum of this member and those before it, in its segment of `out`.
void sum_into_out(const Call& call, std::uint64_t index, Phase& phase) noexcept {
  const auto tag = static_cast<std::uint32_t>(index);
  const Range out = segment_at(call, Space::out, index);
  if (call.in_place) {
    const Range slot{Space::temp, 0, out.count};
    phase.add(receive_from(call.rank - 1, tag, slot));
    phase.add(fold_before(slot, out));
  } else {
    phase.add(receive_from(call.rank - 1, tag, out));
    phase.add(fold_behind(segment_at(call, Space::in, index), out));
  }
}
std::uint64_t temp_of_sum_into_out(const Call& call) noexcept {
  return call.in_place && call.rank > 0 ? chain_temp(call, 1) : 0;
}

// A root that is not the last member gets a segment of the result from it as many phases after its
// own part in it as there are members between: earlier the segment cannot come, and later the
// chain, whose slots are few, would wait for the root while the root waits for the chain.
struct ReduceChain {
  static std::uint32_t last(const Call& call) noexcept { return call.size - 1; }
  static std::uint64_t delay(const Call& call) noexcept {
    return call.rank == call.root ? last(call) - call.rank : 0;
  }
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept { return segments_of(call) + delay(call); }
  static void forward(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    if (call.rank == last(call) && call.rank == call.root) return sum_into_out(call, index, phase);
    const auto tag = static_cast<std::uint32_t>(index);
    const Range own = segment_at(call, own_space(call), index);
    const std::uint32_t next = call.rank == last(call) ? call.root : call.rank + 1;
    phase.after_sends = begins_a_turn(index);
    if (call.rank == 0) return phase.add(send_to(next, tag, own));
    const Range slot = chain_slot(call, index, kChainSlots);
    phase.add(receive_from(call.rank - 1, tag, slot));
    phase.add(fold_behind(own, slot));
    phase.add(send_to(next, tag, slot));
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    if (index < segments_of(call)) forward(call, index, phase);
    if (delay(call) == 0 || index < delay(call)) return;
    const std::uint64_t result = index - delay(call);
    if (call.rank == 0 && call.in_place) phase.after_sends = true;  // it sent its input from there
    phase.add(receive_from(last(call), static_cast<std::uint32_t>(result),
                           segment_at(call, Space::out, result)));
  }
  static std::uint64_t temp(const Call& call) noexcept {
    if (call.rank == last(call) && call.rank == call.root) return temp_of_sum_into_out(call);
    return call.rank == 0 ? 0 : chain_temp(call, kChainSlots);
  }
};

// The sums of this member and those before it go on to the next.
void sum_and_send(const Call& call, std::uint64_t index, Phase& phase) noexcept {
  const Space space = call.rank == 0 ? own_space(call) : Space::out;
  if (call.rank > 0) sum_into_out(call, index, phase);
  if (call.rank < call.size - 1)
    phase.add(
        send_to(call.rank + 1, static_cast<std::uint32_t>(index), segment_at(call, space, index)));
}

// Forward to the last member, which has the result then, and back.
struct AllreduceChain {
  static PassOn back(const Call& call) noexcept {
    return {call, call.rank == call.size - 1, call.rank == 0, after(call, 1), before(call, 1)};
  }
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept {
    return segments_of(call) + back(call).phases();
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const std::uint64_t segments = segments_of(call);
    if (index < segments) return sum_and_send(call, index, phase);
    phase.after_sends = index == segments;  // the results are written over the sums
    back(call).at(index - segments, phase);
  }
  static std::uint64_t temp(const Call& call) noexcept { return temp_of_sum_into_out(call); }
};

struct ScanChain {
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept { return segments_of(call); }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    sum_and_send(call, index, phase);
    if (call.rank == 0 && !call.in_place)
      phase.add(copy_of(segment_at(call, Space::in, index), segment_at(call, Space::out, index)));
  }
  static std::uint64_t temp(const Call& call) noexcept { return temp_of_sum_into_out(call); }
};

// The own input is copied one phase ahead, because in place the sum of those before it is received
// where it stands; one slot more than between two waits holds that copy.
struct ExscanChain {
  static constexpr std::uint32_t kSlots = kChainSlots + 1;

  static bool is_last(const Call& call) noexcept { return call.rank == call.size - 1; }
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept {
    return segments_of(call) + (call.rank > 0 && !is_last(call));
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const Space own = own_space(call);
    if (call.rank == 0)
      return phase.add(send_to(1, static_cast<std::uint32_t>(index), segment_at(call, own, index)));
    if (is_last(call))
      return phase.add(receive_from(call.rank - 1, static_cast<std::uint32_t>(index),
                                    segment_at(call, Space::out, index)));
    phase.after_sends = begins_a_turn(index);
    if (index < segments_of(call))
      phase.add(copy_of(segment_at(call, own, index), chain_slot(call, index, kSlots)));
    if (index == 0) return;
    const auto tag = static_cast<std::uint32_t>(index - 1);
    const Range sum = segment_at(call, Space::out, index - 1);
    const Range slot = chain_slot(call, index - 1, kSlots);
    phase.add(receive_from(call.rank - 1, tag, sum));
    phase.add(fold_before(sum, slot));
    phase.add(send_to(call.rank + 1, tag, slot));
  }
  static std::uint64_t temp(const Call& call) noexcept {
    return call.rank == 0 || is_last(call) ? 0 : chain_temp(call, kSlots);
  }
};

}  // namespace

constexpr Way kBcastChain = way_of<BcastChain>();
constexpr Way kReduceChain = way_of<ReduceChain>();
constexpr Way kAllreduceChain = way_of<AllreduceChain>();
constexpr Way kScanChain = way_of<ScanChain>();
constexpr Way kExscanChain = way_of<ExscanChain>();

}  // namespace photon::schedule
