// Partners at distance 1, 2, 4 ...: of sums, of blocks, and of nothing but the news.
#include "schedule/pairs.hpp"
#include "schedule/pieces.hpp"
#include "schedule/ways.hpp"

namespace photon::schedule {
namespace {

// Where sums stand that grow round by round: each is received, folded with the one before it, and
// may be sent on. `out` and `temp` take turns so that the last one is in `out`.
struct Turns {
  Range own;  // the input
  std::uint32_t count;

  // In place the first sum may not be received where the input is still read.
  bool copies() const noexcept { return own.space == Space::out && count % 2 == 1; }
  Range received(std::uint32_t turn) const noexcept {
    return {(count - 1 - turn) % 2 == 0 ? Space::out : Space::temp, 0, own.count};
  }
  Range input() const noexcept { return copies() ? Range{Space::temp, 0, own.count} : own; }
  // What this member has before that turn.
  Range sum(std::uint32_t turn) const noexcept { return turn == 0 ? input() : received(turn - 1); }
  // A send of an earlier turn may still read what is received in this one.
  bool waits(std::uint32_t turn) const noexcept {
    return turn >= 2 || (turn == 1 && own.space == Space::out);
  }
  void copy(Phase& phase) const noexcept { phase.add(copy_of(own, input())); }
  std::uint64_t temp() const noexcept { return count >= 2 || copies() ? own.count : 0; }
};

struct BarrierDissemination {
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept { return ceil_log2(call.size); }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const std::uint32_t distance = 1U << index;
    phase.add(send_to(after(call, distance), 0, {}));
    phase.add(receive_from(before(call, distance), 0, {}));
  }
  static std::uint64_t temp(const Call&) noexcept { return 0; }
};

// Both partners fold the sum of the lower run of members first.
struct AllreduceDoubling {
  explicit AllreduceDoubling(const Call& its_call) noexcept
      : call(its_call),
        places(its_call),
        turns{own_vector(its_call), places.rounds + places.in_pair} {}

  void spare(std::uint64_t index, Phase& phase) const noexcept {
    if (index == 0) return phase.add(send_to(call.rank - 1, 0, own_vector(call)));
    phase.after_sends = call.in_place;
    phase.add(receive_from(call.rank - 1, 0, out_vector(call)));
  }
  void turn(std::uint32_t index, Phase& phase) const noexcept {
    const Range sum = turns.sum(index);
    const Range other = turns.received(index);
    phase.after_sends = turns.waits(index);
    if (places.in_pair && index == 0) {
      phase.add(receive_from(call.rank + 1, 0, other));
      return phase.add(fold_before(sum, other));
    }
    const std::uint32_t peer = places.partner(index - places.in_pair);
    phase.add(send_to(peer, 0, sum));
    phase.add(receive_from(peer, 0, other));
    phase.add(call.rank < peer ? fold_before(sum, other) : fold_behind(sum, other));
  }

  static bool knows(const Call& call) noexcept { return !call.in_order || call.size <= 3; }
  static std::uint64_t phases(const Call& call) noexcept {
    const AllreduceDoubling me(call);
    if (me.places.is_spare) return 2;
    return me.turns.copies() + me.turns.count + me.places.in_pair;
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const AllreduceDoubling me(call);
    if (me.places.is_spare) return me.spare(index, phase);
    if (me.turns.copies() && index-- == 0) return me.turns.copy(phase);
    if (index < me.turns.count) return me.turn(static_cast<std::uint32_t>(index), phase);
    phase.add(send_to(call.rank + 1, 0, out_vector(call)));
  }
  static std::uint64_t temp(const Call& call) noexcept {
    const AllreduceDoubling me(call);
    return me.places.is_spare ? 0 : me.turns.temp();
  }

  const Call& call;
  PairedPlaces places;
  Turns turns;
};

// Rounds of a scan over `size` members: this one receives in the first ones, and sends in those in
// which there is a member so far behind it.
struct ScanRounds {
  ScanRounds(std::uint32_t size, std::uint32_t place) noexcept
      : receives(static_cast<std::uint32_t>(std::bit_width(place))),
        sends(static_cast<std::uint32_t>(std::bit_width(size - 1 - place))) {}
  std::uint32_t all() const noexcept { return std::max(receives, sends); }
  std::uint32_t receives;
  std::uint32_t sends;
};

struct ScanTurn {
  std::uint32_t round;
  std::uint32_t turn;  // the turn of `turns` in which round 0 receives is turn - round
  std::uint32_t tag;
};

void scan_round(const Call& call, const ScanRounds& rounds, const Turns& turns, const ScanTurn& at,
                Phase& phase) noexcept {
  const std::uint32_t distance = 1U << at.round;
  if (at.round < rounds.sends)
    phase.add(send_to(call.rank + distance, at.tag, turns.sum(std::min(at.turn, turns.count))));
  if (at.round >= rounds.receives) return;
  phase.after_sends = turns.waits(at.turn);
  phase.add(receive_from(call.rank - distance, at.tag, turns.received(at.turn)));
  phase.add(fold_behind(turns.sum(at.turn), turns.received(at.turn)));
}

struct ScanDoubling {
  static Turns turns_of(const Call& call) noexcept {
    return {own_vector(call), ScanRounds(call.size, call.rank).receives};
  }
  static bool knows(const Call& call) noexcept { return !call.in_order || call.size <= 2; }
  static std::uint64_t phases(const Call& call) noexcept {
    return turns_of(call).copies() + ScanRounds(call.size, call.rank).all();
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const Turns turns = turns_of(call);
    if (turns.copies() && index-- == 0) return turns.copy(phase);
    const auto round = static_cast<std::uint32_t>(index);
    scan_round(call, ScanRounds(call.size, call.rank), turns, {round, round, 0}, phase);
    if (call.rank == 0 && round == 0 && !call.in_place)
      phase.add(copy_of(own_vector(call), out_vector(call)));
  }
  static std::uint64_t temp(const Call& call) noexcept { return turns_of(call).temp(); }
};

// Each hands its input to the next member; then it is a scan over all but the first.
struct ExscanDoubling {
  static ScanRounds rounds_of(const Call& call) noexcept {
    if (call.rank == 0) return {1, 0};
    return {call.size - 1, call.rank - 1};
  }
  static Turns turns_of(const Call& call) noexcept {
    return {own_vector(call), call.rank == 0 ? 0 : 1 + rounds_of(call).receives};
  }
  static bool knows(const Call& call) noexcept { return !call.in_order || call.size <= 3; }
  static std::uint64_t phases(const Call& call) noexcept {
    return turns_of(call).copies() + 1 + rounds_of(call).all();
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const Turns turns = turns_of(call);
    if (turns.copies() && index-- == 0) return turns.copy(phase);
    if (index > 0) {
      const auto round = static_cast<std::uint32_t>(index) - 1;
      return scan_round(call, rounds_of(call), turns, {round, round + 1, round + 1}, phase);
    }
    if (call.rank + 1 < call.size) phase.add(send_to(call.rank + 1, 0, turns.input()));
    if (call.rank > 0) phase.add(receive_from(call.rank - 1, 0, turns.received(0)));
  }
  static std::uint64_t temp(const Call& call) noexcept { return turns_of(call).temp(); }
};

}  // namespace

constexpr Way kBarrierDissemination = way_of<BarrierDissemination>();
constexpr Way kAllreduceDoubling = way_of<AllreduceDoubling>();
constexpr Way kScanDoubling = way_of<ScanDoubling>();
constexpr Way kExscanDoubling = way_of<ExscanDoubling>();

}  // namespace photon::schedule
