// A block from each to each: partners meet in rounds, the same two in the same round, so that what
// is sent in place is replaced by what comes for it.
#include "schedule/pieces.hpp"
#include "schedule/ways.hpp"

namespace photon::schedule {
namespace {

// In a round every member has the partner that has it; it may be itself.
std::uint32_t partner_in(const Call& call, std::uint32_t round) noexcept {
  return std::has_single_bit(call.size) ? call.rank ^ round : before(call, call.rank, round);
}

// Of one round; in place of two phases: the second replaces what the first has sent.
void replace_round(const Call& call, std::uint64_t index, Phase& phase) noexcept {
  const std::uint32_t peer = partner_in(call, static_cast<std::uint32_t>(index / 2));
  if (peer == call.rank) return;
  const Range block = out_block(call, peer);
  const Range slot{Space::temp, 0, block.count};
  if (index % 2 == 0) {
    phase.add(send_to(peer, 0, block));
    return phase.add(receive_block(peer, 0, slot));
  }
  phase.after_sends = true;
  phase.add(copy_of(slot, block));
}

std::uint64_t largest_block(const Call& call) noexcept {
  if (is_uniform(call)) return call.count;
  std::uint64_t most = 0;
  for (std::uint32_t i = 0; i < call.size; ++i) most = std::max(most, out_block(call, i).count);
  return most;
}

// So many rounds in a phase.
template <std::uint32_t kEach>
struct AlltoallRounds {
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept {
    return call.in_place ? 2 * std::uint64_t{call.size} : divide_up(call.size, kEach);
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    if (call.in_place) return replace_round(call, index, phase);
    const auto first = static_cast<std::uint32_t>(index) * kEach;
    const std::uint32_t end = std::min(first + kEach, call.size);
    bool has_own = false;
    for (std::uint32_t i = first; i < end; ++i) {
      const std::uint32_t peer = partner_in(call, i);
      if (peer != call.rank) phase.add(send_to(peer, 0, in_block(call, peer)));
      has_own = has_own || peer == call.rank;
    }
    if (has_own) {
      Range to = out_block(call, call.rank);
      to.count = in_block(call, call.rank).count;  // there may be room for more
      phase.add(copy_of(in_block(call, call.rank), to));
    }
    for (std::uint32_t i = first; i < end; ++i) {
      const std::uint32_t peer = partner_in(call, i);
      if (peer != call.rank) phase.add(receive_block(peer, 0, out_block(call, peer)));
    }
  }
  static std::uint64_t temp(const Call& call) noexcept {
    return call.in_place ? largest_block(call) : 0;
  }
};

// Bruck: block i of the rotated vector travels to the member i behind by the distances 1, 2, 4 ...
// that are in i. `temp` holds the rotated blocks, those packed for a round, and those that came.
struct AlltoallBruck {
  static constexpr std::uint32_t kRuns = Phase::kMostSteps - 2;  // beside a send and a receive

  static std::uint32_t rounds(const Call& call) noexcept { return ceil_log2(call.size); }
  // In a round runs of as many blocks as the distance travel, with as many between them.
  static std::uint32_t runs(const Call& call, std::uint32_t round) noexcept {
    const std::uint32_t distance = 1U << round;
    return 1 + static_cast<std::uint32_t>((call.size - 1 - distance) / (2ULL * distance));
  }
  static std::uint64_t packings(const Call& call, std::uint32_t round) noexcept {
    return divide_up(runs(call, round), kRuns);
  }
  static Range run_at(const Call& call, std::uint64_t first, std::uint64_t blocks) noexcept {
    return {Space::temp, first * call.count, blocks * call.count};
  }
  // Blocks of run `run` of a round, in the rotated vector.
  static Range run_of(const Call& call, std::uint32_t round, std::uint32_t run) noexcept {
    const std::uint64_t distance = std::uint64_t{1} << round;
    const std::uint64_t first = (2 * std::uint64_t{run} + 1) * distance;
    return run_at(call, first, std::min(distance, call.size - first));
  }
  static std::uint64_t packed_at(const Call& call, bool has_come) noexcept {
    return call.size + (has_come ? call.size / 2 : 0);
  }
  static Range packed(const Call& call, bool has_come, std::uint32_t round,
                      std::uint32_t run) noexcept {
    const Range blocks = run_of(call, round, run);
    const std::uint64_t at = packed_at(call, has_come) + (std::uint64_t{run} << round);
    return {Space::temp, at * call.count, blocks.count};
  }
  static Range all_packed(const Call& call, bool has_come, std::uint32_t round) noexcept {
    const std::uint32_t last = runs(call, round) - 1;
    const Range end = packed(call, has_come, round, last);
    const Range whole = run_at(call, packed_at(call, has_come), 0);
    return {Space::temp, whole.first, end.first + end.count - whole.first};
  }

  static void rotate(const Call& call, Phase& phase) noexcept {
    const std::uint64_t behind = call.size - call.rank;
    const std::uint64_t at = call.rank * call.count;
    const Range high = run_at(call, 0, behind);
    phase.add(copy_of({own_space(call), at, high.count}, high));
    phase.add(copy_of({own_space(call), 0, at}, run_at(call, behind, call.rank)));
  }
  static void round_at(const Call& call, std::uint32_t round, std::uint64_t index,
                       Phase& phase) noexcept {
    const bool packs = index < packings(call, round);
    const auto turn = static_cast<std::uint32_t>(packs ? index : index - packings(call, round));
    const std::uint32_t first = turn * kRuns;
    for (std::uint32_t i = first; i < std::min(first + kRuns, runs(call, round)); ++i)
      phase.add(packs ? copy_of(run_of(call, round, i), packed(call, false, round, i))
                      : copy_of(packed(call, true, round, i), run_of(call, round, i)));
    if (!packs) return;
    phase.after_sends = index == 0 && round > 0;  // the last round's blocks are still read
    if (index + 1 < packings(call, round)) return;
    phase.add(send_to(after(call, 1U << round), 0, all_packed(call, false, round)));
    phase.add(receive_from(before(call, 1U << round), 0, all_packed(call, true, round)));
  }
  static void place(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const auto first = static_cast<std::uint32_t>(index) * Phase::kMostSteps;
    for (std::uint32_t i = first; i < std::min(first + Phase::kMostSteps, call.size); ++i)
      phase.add(copy_of(run_at(call, i, 1), out_block(call, before(call, i))));
  }

  static bool knows(const Call& call) noexcept { return is_uniform(call); }
  static std::uint64_t phases(const Call& call) noexcept {
    std::uint64_t all = 1 + divide_up(call.size, Phase::kMostSteps);
    for (std::uint32_t i = 0; i < rounds(call); ++i) all += 2 * packings(call, i);
    return all;
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    if (index-- == 0) return rotate(call, phase);
    for (std::uint32_t i = 0; i < rounds(call); ++i) {
      if (index < 2 * packings(call, i)) return round_at(call, i, index, phase);
      index -= 2 * packings(call, i);
    }
    place(call, index, phase);
  }
  static std::uint64_t temp(const Call& call) noexcept {
    return (packed_at(call, true) + call.size / 2) * call.count;
  }
};

}  // namespace

constexpr Way kAlltoallBruck = way_of<AlltoallBruck>();
constexpr Way kAlltoallPairwise = way_of<AlltoallRounds<1>>();
constexpr Way kAlltoallLinear = way_of<AlltoallRounds<4>>();

}  // namespace photon::schedule
