// Blocks of all members to all members: around a ring, to each of them, or in growing runs.
#include "schedule/pieces.hpp"
#include "schedule/ways.hpp"

namespace photon::schedule {
namespace {

// The own block before it stands in `out`.
Range own_block(const Call& call) noexcept {
  const Range out = out_block(call, call.rank);
  return call.in_place ? out : Range{Space::in, 0, out.count};
}
void place_own_block(const Call& call, Phase& phase) noexcept {
  if (!call.in_place) phase.add(copy_of(own_block(call), out_block(call, call.rank)));
}

struct AllgatherRing {
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept { return call.size - 1; }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const auto round = static_cast<std::uint32_t>(index);
    const Range sent = round == 0 ? own_block(call) : out_block(call, before(call, round));
    phase.add(send_to(after(call, 1), round, sent));
    if (round == 0) place_own_block(call, phase);
    phase.add(receive_from(before(call, 1), round, out_block(call, before(call, round + 1))));
  }
  static std::uint64_t temp(const Call&) noexcept { return 0; }
};

struct AllgatherLinear {
  static constexpr std::uint32_t kEach = 3;  // partners in a phase; the copy is in it, too

  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept { return divide_up(call.size - 1, kEach); }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const auto first = static_cast<std::uint32_t>(index) * kEach + 1;
    const std::uint32_t end = std::min(first + kEach, call.size);
    for (std::uint32_t i = first; i < end; ++i)
      phase.add(send_to(after(call, i), 0, own_block(call)));
    if (index == 0) place_own_block(call, phase);
    for (std::uint32_t i = first; i < end; ++i) {
      const std::uint32_t peer = before(call, i);
      phase.add(receive_block(peer, 0, out_block(call, peer)));
    }
  }
  static std::uint64_t temp(const Call&) noexcept { return 0; }
};

struct AllgatherDoubling {
  static bool knows(const Call& call) noexcept {
    return is_uniform(call) && std::has_single_bit(call.size);
  }
  static std::uint64_t phases(const Call& call) noexcept { return ceil_log2(call.size); }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const std::uint32_t run = 1U << index;
    const std::uint32_t first = call.rank & ~(run - 1);
    const std::uint32_t peer = call.rank ^ run;
    const Range held{Space::out, first * call.count, run * call.count};
    phase.add(send_to(peer, 0, index == 0 ? own_block(call) : held));
    if (index == 0) place_own_block(call, phase);
    phase.add(receive_from(peer, 0, {Space::out, (first ^ run) * call.count, held.count}));
  }
  static std::uint64_t temp(const Call&) noexcept { return 0; }
};

// Each member holds a run of blocks that begins with its own and grows. Blocks stand at their own
// places from the beginning, and a run that goes on at block 0 travels as two messages: copies of
// all blocks at the end, as Bruck's rotated layout needs them, would cost more.
struct AllgatherBruck {
  static Range run_at(const Call& call, std::uint32_t first, std::uint32_t blocks) noexcept {
    return {Space::out, first * call.count, blocks * call.count};
  }
  static bool knows(const Call& call) noexcept { return is_uniform(call); }
  static std::uint64_t phases(const Call& call) noexcept { return ceil_log2(call.size); }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const std::uint32_t distance = 1U << index;
    const std::uint32_t blocks = std::min(distance, call.size - distance);
    const std::uint32_t to = before(call, distance);
    const std::uint32_t from = after(call, distance);
    const std::uint32_t sent = std::min(blocks, call.size - call.rank);
    phase.add(send_to(to, 0, index == 0 ? own_block(call) : run_at(call, call.rank, sent)));
    if (sent < blocks) phase.add(send_to(to, 1, run_at(call, 0, blocks - sent)));
    if (index == 0) place_own_block(call, phase);
    const std::uint32_t received = std::min(blocks, call.size - from);
    phase.add(receive_from(from, 0, run_at(call, from, received)));
    if (received < blocks) phase.add(receive_from(from, 1, run_at(call, 0, blocks - received)));
  }
  static std::uint64_t temp(const Call&) noexcept { return 0; }
};

}  // namespace

constexpr Way kAllgatherRing = way_of<AllgatherRing>();
constexpr Way kAllgatherLinear = way_of<AllgatherLinear>();
constexpr Way kAllgatherDoubling = way_of<AllgatherDoubling>();
constexpr Way kAllgatherBruck = way_of<AllgatherBruck>();

}  // namespace photon::schedule
