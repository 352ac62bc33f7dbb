// One leader a host: what the members of a host have is brought together at it, the leaders do the
// operation among themselves, and it hands the result to the members of its host. Each of these
// three parts is a schedule of its own over some of the members, with their numbers put in.
//
//   barrier     gather of nothing     dissemination                         bcast of nothing
//   bcast       -                     binomial, or circulant for segments   bcast
//   reduce      reduce                reduce                                -
//   allreduce   reduce                doubling, or Rabenseifner             bcast
//
// The leader is the root of a rooted kind on its host, else the first member there.
#include "schedule/hosts.hpp"
#include "schedule/pieces.hpp"
#include "schedule/ways.hpp"

namespace photon::schedule {
namespace {

enum Part : std::uint32_t { kUp, kAcross, kDown, kParts };
// Parts are told apart by their tags; segments have 16 bits.
constexpr std::uint32_t kPartShift = 20;
// More members of a host than one writes to by itself.
constexpr std::uint32_t kFewHere = 8;

class ByLeaders {
 public:
  explicit ByLeaders(const Call& call) noexcept
      : call_(call),
        hosts_(*call.hosts),
        host_(hosts_.of(call.rank)),
        leads_(leader_of(host_) == call.rank) {}

  std::uint64_t phases(Part part) const noexcept {
    return takes(part) ? phases_of(call_of(part)) : 0;
  }
  void at(std::uint64_t index, Phase& phase) const noexcept {
    std::uint32_t part = kUp;
    bool is_first = true;
    for (; index >= phases(static_cast<Part>(part)); ++part) {
      const std::uint64_t before = phases(static_cast<Part>(part));
      index -= before;
      is_first = is_first && before == 0;
    }
    phase_at(call_of(static_cast<Part>(part)), index, phase);
    // What the part before sends may be written to now.
    if (index == 0 && !is_first) phase.after_sends = true;
    for (std::uint32_t i = 0; i < phase.count; ++i) place(phase.steps[i], static_cast<Part>(part));
  }
  std::uint64_t temp() const noexcept {
    std::uint64_t most = 0;
    for (const Part part : {kUp, kAcross, kDown})
      if (takes(part)) most = std::max(most, temp_of(call_of(part)));
    return sum_count() + most;
  }

 private:
  bool is_rooted() const noexcept {
    return call_.kind == Kind::bcast || call_.kind == Kind::reduce;
  }
  std::uint32_t leader_of(std::uint32_t host) const noexcept {
    return is_rooted() && hosts_.of(call_.root) == host ? call_.root : hosts_.member(host, 0);
  }
  bool takes(Part part) const noexcept {
    if (part == kUp) return call_.kind != Kind::bcast;
    if (part == kDown) return call_.kind != Kind::reduce;
    return leads_;
  }
  // Of a leader that is not the root the sum of its host stands in front of `temp`.
  bool sums_in_temp() const noexcept {
    return call_.kind == Kind::reduce && leads_ && call_.rank != call_.root;
  }
  std::uint64_t sum_count() const noexcept { return sums_in_temp() ? call_.count : 0; }
  bool has_segments() const noexcept { return segments_of(call_) > 1; }

  Call call_of(Part part) const noexcept {
    Call one;
    one.count = call_.kind == Kind::barrier ? 0 : call_.count;  // a caller may leave anything there
    one.segment = call_.segment;
    if (part == kAcross) {
      one.size = hosts_.count();
      one.rank = host_;
      one.root = is_rooted() ? hosts_.of(call_.root) : 0;
      one.kind = call_.kind;
      one.algorithm = across();
      one.in_place = call_.kind == Kind::allreduce || (is_reduce() && call_.rank == call_.root);
      return one;
    }
    one.size = hosts_.size(host_);
    one.rank = hosts_.place(call_.rank);
    one.root = hosts_.place(leader_of(host_));
    const bool is_few = one.size <= kFewHere;
    one.kind = Kind::bcast;
    one.algorithm = is_few ? Algorithm::linear : Algorithm::binomial;
    if (part == kDown) return one;
    one.kind = call_.kind == Kind::barrier ? Kind::gather : Kind::reduce;
    one.in_place = leads_ && !sums_in_temp() && call_.in_place;
    return one;
  }
  bool is_reduce() const noexcept { return call_.kind == Kind::reduce; }
  Algorithm across() const noexcept {
    switch (call_.kind) {
      case Kind::barrier: return Algorithm::dissemination;
      case Kind::bcast: return has_segments() ? Algorithm::circulant : Algorithm::binomial;
      case Kind::reduce: return has_segments() ? Algorithm::rabenseifner : Algorithm::binomial;
      default: return has_segments() ? Algorithm::rabenseifner : Algorithm::recursive_doubling;
    }
  }

  // Members and memory of the whole in the place of those of the part.
  void place(Step& step, Part part) const noexcept {
    if (step.action == Action::send || step.action == Action::receive) {
      step.peer = part == kAcross ? leader_of(step.peer) : hosts_.member(host_, step.peer);
      step.tag += part << kPartShift;
    }
    step.block = kNoBlock;
    place(step.from, part);
    place(step.to, part);
  }
  void place(Range& range, Part part) const noexcept {
    if (range.space == Space::temp) {
      range.first += sum_count();
    } else if (range.space == Space::out && sums_in_temp()) {
      range.space = Space::temp;
    } else if (range.space == Space::in) {
      const bool stands_in_out = part == kUp && call_.in_place;
      if (stands_in_out) range.space = Space::out;
      if (part == kAcross && sums_in_temp()) range.space = Space::temp;
    }
  }

  const Call& call_;
  const Hosts& hosts_;
  const std::uint32_t host_;
  const bool leads_;
};

struct Leaders {
  static bool knows(const Call& call) noexcept {
    return call.hosts != nullptr && !call.in_order && !call.keeps_order;
  }
  static std::uint64_t phases(const Call& call) noexcept {
    const ByLeaders me(call);
    return me.phases(kUp) + me.phases(kAcross) + me.phases(kDown);
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    ByLeaders(call).at(index, phase);
  }
  static std::uint64_t temp(const Call& call) noexcept { return ByLeaders(call).temp(); }
};

}  // namespace

constexpr Way kByLeaders = way_of<Leaders>();

}  // namespace photon::schedule
