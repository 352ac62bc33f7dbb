// Rabenseifner: partners halve the vector between them round by round, until each has the sum of
// its own piece; then pieces come together again, at all members or at the root. Partners stand at
// distance 1, 2, 4 ..., and sums are those of runs of members, the lower run's operand first.
#include "schedule/pairs.hpp"
#include "schedule/pieces.hpp"
#include "schedule/ways.hpp"

namespace photon::schedule {
namespace {

struct Halving {
  Halving(const Call& its_call, Space its_sums) noexcept
      : call(its_call), sums(its_sums), places(its_call) {}

  // What a place is left with after so many rounds.
  Range piece(std::uint32_t place, std::uint32_t rounds) const noexcept {
    Range range{sums, 0, call.count};
    for (std::uint32_t i = 0; i < rounds; ++i) {
      const std::uint64_t low = range.count / 2;
      if ((place >> i & 1) != 0) range.first += low;
      range.count = (place >> i & 1) != 0 ? range.count - low : low;
    }
    return range;
  }
  Range kept(std::uint32_t round) const noexcept { return piece(places.place, round + 1); }
  Range given(std::uint32_t round) const noexcept {
    return piece(places.place ^ (1U << round), round + 1);
  }
  // Whether the input is still the sum in that round, and stands somewhere else.
  bool is_input(std::uint32_t round) const noexcept {
    return round == 0 && !places.in_pair && own_space(call) != sums;
  }
  Range slot(std::uint64_t count) const noexcept {
    return {Space::temp, sums == Space::temp ? call.count : 0, count};
  }
  static Range in_space(Range range, Space space) noexcept {
    range.space = space;
    return range;
  }

  void take_spare(Phase& phase) const noexcept {
    const Range whole{sums, 0, call.count};
    const Range to = own_space(call) == sums ? slot(call.count) : whole;
    phase.add(receive_from(call.rank + 1, 0, to));
    phase.add(own_space(call) == sums ? fold_behind(to, whole)
                                      : fold_before(own_vector(call), whole));
  }
  void halve(std::uint32_t round, Phase& phase) const noexcept {
    const std::uint32_t peer = places.partner(round);
    const Range mine = kept(round);
    if (is_input(round)) {
      const Range input = in_space(mine, own_space(call));
      phase.add(send_to(peer, 0, in_space(given(round), own_space(call))));
      phase.add(receive_from(peer, 0, mine));
      return phase.add(call.rank < peer ? fold_before(input, mine) : fold_behind(input, mine));
    }
    const Range other = slot(mine.count);
    phase.add(send_to(peer, 0, given(round)));
    phase.add(receive_from(peer, 0, other));
    phase.add(call.rank < peer ? fold_behind(other, mine) : fold_before(other, mine));
  }
  // Phases until each has its piece.
  std::uint32_t halvings() const noexcept { return places.in_pair + places.rounds; }
  void halving_at(std::uint32_t index, Phase& phase) const noexcept {
    if (places.in_pair && index-- == 0) return take_spare(phase);
    halve(index, phase);
  }
  std::uint64_t temp() const noexcept {
    const std::uint64_t apart = sums == Space::temp ? call.count : 0;
    if (places.in_pair && own_space(call) == sums) return apart + call.count;
    const std::uint32_t first = is_input(0) ? 1 : 0;
    return apart + (places.rounds > first ? kept(first).count : 0);
  }

  const Call& call;
  Space sums;
  PairedPlaces places;
};

struct AllreduceRabenseifner {
  static bool knows(const Call& call) noexcept { return !call.in_order || call.size <= 3; }
  static std::uint64_t phases(const Call& call) noexcept {
    const Halving me(call, Space::out);
    if (me.places.is_spare) return 2;
    return me.halvings() + me.places.rounds + me.places.in_pair;
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const Halving me(call, Space::out);
    const auto at = static_cast<std::uint32_t>(index);
    if (me.places.is_spare) {
      if (at == 0) return phase.add(send_to(call.rank - 1, 0, own_vector(call)));
      phase.after_sends = call.in_place;
      return phase.add(receive_from(call.rank - 1, 1, out_vector(call)));
    }
    if (at < me.halvings()) return me.halving_at(at, phase);
    const std::uint32_t doubling = at - me.halvings();
    if (doubling == me.places.rounds) return phase.add(send_to(call.rank + 1, 1, out_vector(call)));
    const std::uint32_t round = me.places.rounds - 1 - doubling;
    phase.after_sends = doubling == 0;  // finished pieces are written over sums
    phase.add(send_to(me.places.partner(round), 1, me.kept(round)));
    phase.add(receive_from(me.places.partner(round), 1, me.given(round)));
  }
  static std::uint64_t temp(const Call& call) noexcept {
    const Halving me(call, Space::out);
    return me.places.is_spare ? 0 : me.temp();
  }
};

// Pieces come together at the root's place; if the root is spare, its partner sends it the whole.
struct ReduceRabenseifner {
  explicit ReduceRabenseifner(const Call& its_call) noexcept
      : call(its_call),
        root(its_call, its_call.root),
        halving(its_call, its_call.rank == its_call.root ? Space::out : Space::temp),
        away(halving.places.place ^ root.place) {}

  const PairedPlaces& places() const noexcept { return halving.places; }
  // Rounds in which this member receives, or sends its pieces at last.
  std::uint32_t rounds() const noexcept {
    return away == 0 ? places().rounds : places().rounds - floor_log2(away);
  }
  bool sends_whole() const noexcept { return away == 0 && root.is_spare && !places().is_spare; }

  void spare(std::uint64_t index, Phase& phase) const noexcept {
    if (index == 0) return phase.add(send_to(call.rank - 1, 0, own_vector(call)));
    phase.after_sends = call.in_place;
    phase.add(receive_from(call.rank - 1, 1, out_vector(call)));
  }

  static bool knows(const Call& call) noexcept { return !call.in_order || call.size <= 3; }
  static std::uint64_t phases(const Call& call) noexcept {
    const ReduceRabenseifner me(call);
    if (me.places().is_spare) return 1 + (call.rank == call.root);
    return me.halving.halvings() + me.rounds() + me.sends_whole();
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const ReduceRabenseifner me(call);
    const auto at = static_cast<std::uint32_t>(index);
    if (me.places().is_spare) return me.spare(index, phase);
    if (at < me.halving.halvings()) return me.halving.halving_at(at, phase);
    const std::uint32_t doubling = at - me.halving.halvings();
    if (doubling == me.places().rounds)
      return phase.add(send_to(call.root, 1, {me.halving.sums, 0, call.count}));
    const std::uint32_t round = me.places().rounds - 1 - doubling;
    if ((me.away >> round & 1) != 0)
      return phase.add(send_to(me.places().partner(round), 1, me.halving.kept(round)));
    phase.after_sends = doubling == 0;  // finished pieces are written over sums
    phase.add(receive_from(me.places().partner(round), 1, me.halving.given(round)));
  }
  static std::uint64_t temp(const Call& call) noexcept {
    const ReduceRabenseifner me(call);
    return me.places().is_spare ? 0 : me.halving.temp();
  }

  const Call& call;
  PairedPlaces root;
  Halving halving;
  std::uint32_t away;  // bits in which this place is not the root's
};

// Halves of the blocks, partners at distance n/2, n/4 ... 1, so that each ends with its own. Sums
// of half of the blocks stand in `temp`, or in place where the blocks stand.
struct ReduceScatterRabenseifner {
  static std::uint32_t distance(const Call& call, std::uint32_t round) noexcept {
    return call.size >> (round + 1);
  }
  // A run of as many blocks as the distance, which begins with `first`.
  static Range blocks(const Call& call, std::uint32_t first, std::uint32_t round) noexcept {
    const std::uint32_t half = distance(call, 0);
    const bool is_sum = round > 0 && !call.in_place;
    const std::uint64_t at = is_sum ? first % half : first;
    return {is_sum ? Space::temp : own_space(call), at * call.count,
            distance(call, round) * call.count};
  }
  static bool knows(const Call& call) noexcept {
    return !call.in_order && !call.keeps_order && is_uniform(call) &&
           std::has_single_bit(call.size);
  }
  static std::uint64_t phases(const Call& call) noexcept {
    return floor_log2(call.size) + call.in_place;
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const auto round = static_cast<std::uint32_t>(index);
    const Range out{Space::out, 0, call.count};
    if (round == floor_log2(call.size)) {
      phase.after_sends = true;
      return phase.add(copy_of({Space::temp, 0, call.count}, out));
    }
    const std::uint32_t apart = distance(call, round);
    const std::uint32_t first = call.rank & ~(apart - 1);
    const std::uint32_t peer = call.rank ^ apart;
    const Range mine = blocks(call, first, round);
    phase.add(send_to(peer, 0, blocks(call, first ^ apart, round)));
    if (apart == 1) {  // the last round
      const Range result = call.in_place ? Range{Space::temp, 0, call.count} : out;
      phase.add(receive_from(peer, 0, result));
      return phase.add(fold_behind(mine, result));
    }
    if (round == 0 && !call.in_place) {
      const Range sum{Space::temp, 0, mine.count};
      phase.add(receive_from(peer, 0, sum));
      return phase.add(fold_behind(mine, sum));
    }
    const std::uint64_t at = call.in_place ? 0 : distance(call, 0) * call.count;
    const Range other{Space::temp, at, mine.count};
    phase.add(receive_from(peer, 0, other));
    phase.add(fold_behind(other, mine));
  }
  static std::uint64_t temp(const Call& call) noexcept {
    const std::uint64_t half = distance(call, 0) * call.count;
    if (call.in_place) return half;
    return call.size == 2 ? 0 : half + half / 2;
  }
};

}  // namespace

constexpr Way kAllreduceRabenseifner = way_of<AllreduceRabenseifner>();
constexpr Way kReduceRabenseifner = way_of<ReduceRabenseifner>();
constexpr Way kReduceScatterRabenseifner = way_of<ReduceScatterRabenseifner>();

}  // namespace photon::schedule
