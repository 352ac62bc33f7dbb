// All with the root: what it does with one member after the other, without waiting for one.
#include "schedule/pieces.hpp"
#include "schedule/ways.hpp"

namespace photon::schedule {
namespace {

constexpr std::uint32_t kEach = Phase::kMostSteps;

std::uint64_t root_phases(const Call& call) noexcept { return divide_up(call.size - 1, kEach); }

// The root's partners in this phase: those at the distances first + 1 ... last.
struct Distances {
  explicit Distances(const Call& call, std::uint64_t index) noexcept
      : first(static_cast<std::uint32_t>(index) * kEach),
        last(std::min(first + kEach, call.size - 1)) {}
  std::uint32_t first;
  std::uint32_t last;
};

struct BcastLinear {
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept {
    return call.rank == call.root ? root_phases(call) : 1;
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    if (call.rank != call.root) return phase.add(receive_from(call.root, 0, out_vector(call)));
    const Distances distances(call, index);
    for (std::uint32_t i = distances.first; i < distances.last; ++i)
      phase.add(send_to(after(call, i + 1), 0, out_vector(call)));
  }
  static std::uint64_t temp(const Call&) noexcept { return 0; }
};

struct GatherLinear {
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept {
    return call.rank == call.root ? root_phases(call) + !call.in_place : 1;
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    if (call.rank != call.root) return phase.add(send_to(call.root, 0, {Space::in, 0, call.count}));
    if (!call.in_place && index-- == 0) {  // the others' blocks are on their way
      const Range own = out_block(call, call.rank);
      return phase.add(copy_of({Space::in, 0, own.count}, own));
    }
    const Distances distances(call, index);
    for (std::uint32_t i = distances.first; i < distances.last; ++i) {
      const std::uint32_t peer = after(call, i + 1);
      phase.add(receive_block(peer, 0, out_block(call, peer)));
    }
  }
  static std::uint64_t temp(const Call&) noexcept { return 0; }
};

struct ScatterLinear {
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept {
    return call.rank == call.root ? root_phases(call) + !call.in_place : 1;
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    if (call.rank != call.root)
      return phase.add(receive_from(call.root, 0, {Space::out, 0, call.count}));
    if (index == root_phases(call)) {
      const Range own = in_block(call, call.rank);
      return phase.add(copy_of(own, {Space::out, 0, own.count}));
    }
    const Distances distances(call, index);
    for (std::uint32_t i = distances.first; i < distances.last; ++i) {
      const std::uint32_t peer = after(call, i + 1);
      phase.add(send_to(peer, 0, in_block(call, peer)));
    }
  }
  static std::uint64_t temp(const Call&) noexcept { return 0; }
};

}  // namespace

constexpr Way kBcastLinear = way_of<BcastLinear>();
constexpr Way kGatherLinear = way_of<GatherLinear>();
constexpr Way kScatterLinear = way_of<ScatterLinear>();

}  // namespace photon::schedule
