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

}  // namespace

constexpr Way kAlltoallPairwise = way_of<AlltoallRounds<1>>();
constexpr Way kAlltoallLinear = way_of<AlltoallRounds<4>>();

}  // namespace photon::schedule
