// Folds made by one member over all: of whole vectors by the root, of a part by each.
#include "schedule/member_order.hpp"

#include "schedule/pieces.hpp"
#include "schedule/ways.hpp"

namespace photon::schedule {
namespace {

// Member number i of the others.
std::uint32_t other_member(const Call& call, std::uint32_t i) noexcept {
  return i < call.rank ? i : i + 1;
}
MemberFolds in_team_order(const Call& call, const Range& own, const Range& result) noexcept {
  return {call.size - 1, call.rank, own, result};
}
void receive_and_fold(const Call& call, const MemberFolds& folds, std::uint64_t index,
                      Phase& phase) noexcept {
  const auto first = static_cast<std::uint32_t>(index) * folds.each;
  const std::uint32_t end = std::min(first + folds.each, folds.others);
  for (std::uint32_t i = first; i < end; ++i)
    phase.add(receive_from(other_member(call, i), 0, folds.place_of(i)));
  folds.fold(first, end, phase);
}

std::uint64_t full_phases(const Call& call) noexcept {
  return divide_up(call.size - 1, Phase::kMostSteps);
}
// The distances of the partners in a phase that only sends.
std::uint32_t first_distance(std::uint64_t index) noexcept {
  return static_cast<std::uint32_t>(index) * Phase::kMostSteps + 1;
}
std::uint32_t end_distance(const Call& call, std::uint64_t index) noexcept {
  return std::min(first_distance(index) + Phase::kMostSteps, call.size);
}

struct ReduceLinear {
  static MemberFolds folds_of(const Call& call) noexcept {
    return in_team_order(call, own_vector(call), out_vector(call));
  }
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept {
    return call.rank == call.root ? folds_of(call).phases() : 1;
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    if (call.rank != call.root) return phase.add(send_to(call.root, 0, own_vector(call)));
    receive_and_fold(call, folds_of(call), index, phase);
  }
  static std::uint64_t temp(const Call& call) noexcept {
    return call.rank == call.root ? folds_of(call).temp() : 0;
  }
};

// Member 0 folds, and sends the result to all.
struct AllreduceLinear {
  static MemberFolds folds_of(const Call& call) noexcept {
    return in_team_order(call, own_vector(call), out_vector(call));
  }
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept {
    return call.rank == 0 ? folds_of(call).phases() + full_phases(call) : 2;
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    if (call.rank == 0) {
      const MemberFolds folds = folds_of(call);
      if (index < folds.phases()) return receive_and_fold(call, folds, index, phase);
      index -= folds.phases();
      for (std::uint32_t i = first_distance(index); i < end_distance(call, index); ++i)
        phase.add(send_to(i, 0, out_vector(call)));
      return;
    }
    if (index == 0) return phase.add(send_to(0, 0, own_vector(call)));
    phase.after_sends = call.in_place;
    phase.add(receive_from(0, 0, out_vector(call)));
  }
  static std::uint64_t temp(const Call& call) noexcept {
    return call.rank == 0 ? folds_of(call).temp() : 0;
  }
};

struct AllreduceDirect {
  static constexpr std::uint32_t kEach =
      4;  // parts sent and received in a phase of the second half

  static Range part(const Call& call, Space space, std::uint32_t member) noexcept {
    return part_of({space, 0, call.count}, call.size, member);
  }
  static MemberFolds folds_of(const Call& call) noexcept {
    return in_team_order(call, part(call, own_space(call), call.rank),
                         part(call, Space::out, call.rank));
  }
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept {
    return full_phases(call) + folds_of(call).phases() + divide_up(call.size - 1, kEach);
  }
  static void share(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const auto first = static_cast<std::uint32_t>(index) * kEach + 1;
    const std::uint32_t end = std::min(first + kEach, call.size);
    phase.after_sends = index == 0 && call.in_place;  // the results are written over the inputs
    for (std::uint32_t i = first; i < end; ++i)
      phase.add(send_to(after(call, i), 1, part(call, Space::out, call.rank)));
    for (std::uint32_t i = first; i < end; ++i) {
      const std::uint32_t peer = before(call, i);
      phase.add(receive_from(peer, 1, part(call, Space::out, peer)));
    }
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    if (index < full_phases(call)) {
      for (std::uint32_t i = first_distance(index); i < end_distance(call, index); ++i) {
        const std::uint32_t peer = after(call, i);
        phase.add(send_to(peer, 0, part(call, own_space(call), peer)));
      }
      return;
    }
    index -= full_phases(call);
    const MemberFolds folds = folds_of(call);
    if (index < folds.phases()) return receive_and_fold(call, folds, index, phase);
    share(call, index - folds.phases(), phase);
  }
  static std::uint64_t temp(const Call& call) noexcept { return folds_of(call).temp(); }
};

// In place the result is folded in `temp`, and is copied over the inputs when they have been sent.
Range scattered_input(const Call& call, std::uint32_t member) noexcept {
  Range block = in_block(call, member);
  block.space = own_space(call);
  return block;
}
Range scattered_result(const Call& call) noexcept {
  return {call.in_place ? Space::temp : Space::out, 0, scattered_input(call, call.rank).count};
}
void place_result(const Call& call, Phase& phase) noexcept {
  Range out = scattered_result(call);
  out.space = Space::out;
  phase.after_sends = true;
  phase.add(copy_of(scattered_result(call), out));
}

struct ReduceScatterDirect {
  static MemberFolds folds_of(const Call& call) noexcept {
    MemberFolds folds =
        in_team_order(call, scattered_input(call, call.rank), scattered_result(call));
    if (call.in_place) folds.slots_at = folds.own.count;
    return folds;
  }
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept {
    return full_phases(call) + folds_of(call).phases() + call.in_place;
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    if (index < full_phases(call)) {
      for (std::uint32_t i = first_distance(index); i < end_distance(call, index); ++i) {
        const std::uint32_t peer = after(call, i);
        phase.add(send_to(peer, 0, scattered_input(call, peer)));
      }
      return;
    }
    index -= full_phases(call);
    const MemberFolds folds = folds_of(call);
    if (index == folds.phases()) return place_result(call, phase);
    receive_and_fold(call, folds, index, phase);
  }
  static std::uint64_t temp(const Call& call) noexcept {
    const MemberFolds folds = folds_of(call);
    return folds.slots_at + folds.temp();
  }
};

// In each round another partner; folded as they come, the own input first.
struct ReduceScatterPairwise {
  static MemberFolds folds_of(const Call& call) noexcept {
    return {.others = call.size - 1,
            .own_at = 0,
            .own = scattered_input(call, call.rank),
            .result = scattered_result(call),
            .slots_at = call.in_place ? scattered_result(call).count : 0,
            .each = 1};
  }
  static bool knows(const Call& call) noexcept {
    return (!call.in_order && !call.keeps_order) || call.size == 1;
  }
  static std::uint64_t phases(const Call& call) noexcept { return call.size - 1 + call.in_place; }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    if (index == call.size - 1) return place_result(call, phase);
    const MemberFolds folds = folds_of(call);
    const auto i = static_cast<std::uint32_t>(index);
    const std::uint32_t peer = after(call, i + 1);
    phase.add(send_to(peer, 0, scattered_input(call, peer)));
    phase.add(receive_from(before(call, i + 1), 0, folds.place_of(i)));
    folds.fold(i, i + 1, phase);
  }
  static std::uint64_t temp(const Call& call) noexcept {
    const MemberFolds folds = folds_of(call);
    return folds.slots_at + folds.temp();
  }
};

}  // namespace

constexpr Way kReduceLinear = way_of<ReduceLinear>();
constexpr Way kAllreduceLinear = way_of<AllreduceLinear>();
constexpr Way kAllreduceDirect = way_of<AllreduceDirect>();
constexpr Way kReduceScatterDirect = way_of<ReduceScatterDirect>();
constexpr Way kReduceScatterPairwise = way_of<ReduceScatterPairwise>();

}  // namespace photon::schedule
