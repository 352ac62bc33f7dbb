// Rings: in each round every member hands a part on to the next one.
#include "schedule/pieces.hpp"
#include "schedule/ways.hpp"

namespace photon::schedule {
namespace {

bool any_order(const Call& call) noexcept { return !call.in_order && !call.keeps_order; }

// Each part goes around once while it is summed up, and once more when it is finished: one member
// alone makes each fold, so that all have the same bits.
struct AllreduceRing {
  static Range part(const Call& call, Space space, std::uint32_t index) noexcept {
    return part_of({space, 0, call.count}, call.size, index);
  }
  static void sum(const Call& call, std::uint32_t round, Phase& phase) noexcept {
    const Space sent = round == 0 ? own_space(call) : Space::out;
    const std::uint32_t got = before(call, round + 1);
    const Range out = part(call, Space::out, got);
    phase.add(send_to(after(call, 1), round, part(call, sent, before(call, round))));
    if (call.in_place) {
      const Range slot{Space::temp, 0, out.count};
      phase.add(receive_from(before(call, 1), round, slot));
      phase.add(fold_before(slot, out));
    } else {
      phase.add(receive_from(before(call, 1), round, out));
      phase.add(fold_behind(part(call, Space::in, got), out));
    }
  }
  static bool knows(const Call& call) noexcept { return any_order(call); }
  static std::uint64_t phases(const Call& call) noexcept {
    return 2 * (std::uint64_t{call.size} - 1);
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const auto tag = static_cast<std::uint32_t>(index);
    if (index < call.size - 1) return sum(call, tag, phase);
    const std::uint32_t round = tag - (call.size - 1);
    const std::uint32_t sent = before(call, round, after(call, 1));
    phase.after_sends = round == 0;  // finished parts are written over sums
    phase.add(send_to(after(call, 1), tag, part(call, Space::out, sent)));
    phase.add(receive_from(before(call, 1), tag, part(call, Space::out, before(call, round))));
  }
  static std::uint64_t temp(const Call& call) noexcept {
    return call.in_place ? part(call, Space::out, 0).count : 0;
  }
};

// The sum of a block ends at its member. Sums stand in a few slots in turn; in place, where their
// blocks stand, and the last one is copied over the inputs when they have been sent.
struct ReduceScatterRing {
  static constexpr std::uint32_t kSlots = 4;

  static Range input(const Call& call, std::uint32_t block) noexcept {
    Range range = in_block(call, block);
    range.space = own_space(call);
    return range;
  }
  // Where the sum is folded that comes in this round.
  static Range sum(const Call& call, std::uint32_t round) noexcept {
    if (round == call.size - 2) return {call.in_place ? Space::temp : Space::out, 0, call.count};
    if (call.in_place) return input(call, before(call, round + 1, before(call, 1)));
    return {Space::temp, round % kSlots * call.count, call.count};
  }
  static bool knows(const Call& call) noexcept { return any_order(call) && is_uniform(call); }
  static std::uint64_t phases(const Call& call) noexcept {
    return std::uint64_t{call.size} - 1 + call.in_place;
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const auto round = static_cast<std::uint32_t>(index);
    if (round == call.size - 1) {
      phase.after_sends = true;
      return phase.add(copy_of({Space::temp, 0, call.count}, {Space::out, 0, call.count}));
    }
    const Range own = input(call, before(call, round + 1, before(call, 1)));
    const Range to = sum(call, round);
    phase.after_sends = !call.in_place && round > 0 && round % (kSlots - 1) == 0;
    phase.add(send_to(after(call, 1), round,
                      round == 0 ? input(call, before(call, 1)) : sum(call, round - 1)));
    const bool is_here = call.in_place && round < call.size - 2;  // it is summed up in its place
    const Range got = is_here ? Range{Space::temp, 0, call.count} : to;
    phase.add(receive_from(before(call, 1), round, got));
    phase.add(is_here ? fold_before(got, to) : fold_behind(own, to));
  }
  static std::uint64_t temp(const Call& call) noexcept {
    return call.in_place ? call.count : std::min(kSlots, call.size - 2) * call.count;
  }
};

// The root gives each member a part; then parts go around. What is handed on ends before the root.
struct BcastScatterAllgather {
  static Range part(const Call& call, std::uint32_t place) noexcept {
    return part_of(out_vector(call), call.size, place);
  }
  static std::uint32_t behind(const Call& call, std::uint32_t place, std::uint32_t by) noexcept {
    return before(call, by, place);
  }
  static std::uint64_t full_phases(const Call& call) noexcept {
    return divide_up(call.size - 1, Phase::kMostSteps);
  }
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept {
    return call.rank == call.root ? 2 * full_phases(call) : call.size;
  }
  static void root_at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const bool scatters = index < full_phases(call);
    const auto turn = static_cast<std::uint32_t>(scatters ? index : index - full_phases(call));
    const std::uint32_t first = turn * Phase::kMostSteps;
    for (std::uint32_t i = first; i < std::min(first + Phase::kMostSteps, call.size - 1); ++i)
      phase.add(scatters ? send_to(after(call, i + 1), 0, part(call, i + 1))
                         : send_to(after(call, 1), 1 + i, part(call, behind(call, 0, i))));
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    if (call.rank == call.root) return root_at(call, index, phase);
    const std::uint32_t place = before(call, call.root);
    if (index == 0) return phase.add(receive_from(call.root, 0, part(call, place)));
    const auto round = static_cast<std::uint32_t>(index) - 1;
    if (place + 1 < call.size)
      phase.add(send_to(after(call, 1), 1 + round, part(call, behind(call, place, round))));
    phase.add(receive_from(before(call, 1), 1 + round, part(call, behind(call, place, round + 1))));
  }
  static std::uint64_t temp(const Call&) noexcept { return 0; }
};

}  // namespace

constexpr Way kAllreduceRing = way_of<AllreduceRing>();
constexpr Way kReduceScatterRing = way_of<ReduceScatterRing>();
constexpr Way kBcastScatterAllgather = way_of<BcastScatterAllgather>();

}  // namespace photon::schedule
