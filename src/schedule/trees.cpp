// Trees of radix 2 or 4 whose subtrees are runs of members.
#include "schedule/trees.hpp"

#include "schedule/pieces.hpp"
#include "schedule/ways.hpp"

namespace photon::schedule {
namespace {

template <std::uint32_t kBits>
struct BcastTree {
  static Tree tree_of(const Call& call) noexcept {
    return Tree(call.size, before(call, call.root), kBits);
  }
  static std::uint32_t member_of(const Call& call, std::uint32_t place) noexcept {
    return after(call, place, call.root);
  }
  static bool knows(const Call&) noexcept { return true; }
  static std::uint64_t phases(const Call& call) noexcept {
    const Tree tree = tree_of(call);
    return (call.rank != call.root) + divide_up(tree.children(), Phase::kMostSteps);
  }
  // Large subtrees first: theirs is the longest way.
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const Tree tree = tree_of(call);
    if (call.rank != call.root && index-- == 0)
      return phase.add(receive_from(member_of(call, tree.parent()), 0, out_vector(call)));
    const std::uint32_t count = tree.children();
    const auto first = static_cast<std::uint32_t>(index) * Phase::kMostSteps;
    for (std::uint32_t i = first; i < std::min(first + Phase::kMostSteps, count); ++i)
      phase.add(send_to(member_of(call, tree.child(count - 1 - i)), 0, out_vector(call)));
  }
  static std::uint64_t temp(const Call&) noexcept { return 0; }
};

// Where operands have to stay in order the tree is that of member 0, which sends the result on.
struct ReduceBinomial {
  static constexpr std::uint32_t kEach = 4;  // children in a phase

  explicit ReduceBinomial(const Call& its_call) noexcept
      : call(its_call),
        top(its_call.keeps_order || its_call.in_order ? 0 : its_call.root),
        tree(its_call.size, before(its_call, top), 1) {}

  std::uint64_t batches() const noexcept { return divide_up(tree.children(), kEach); }
  bool is_leaf() const noexcept { return tree.children() == 0; }
  Range sum() const noexcept {
    if (call.rank == top && call.root == top) return out_vector(call);
    return {Space::temp, 0, call.count};
  }
  Range slot(std::uint32_t i) const noexcept {
    return {Space::temp, (i + (sum().space == Space::temp)) * call.count, call.count};
  }

  void gather(std::uint32_t first, Phase& phase) const noexcept {
    const std::uint32_t last = std::min(first + kEach, tree.children());
    const bool is_sum = own_space(call) == sum().space;  // the own input stands there
    for (std::uint32_t i = first; i < last; ++i) {
      const Range to = i == 0 && !is_sum ? sum() : slot(i - first);
      phase.add(receive_from(after(call, tree.child(i), top), 0, to));
    }
    for (std::uint32_t i = first; i < last; ++i)
      phase.add(i == 0 && !is_sum ? fold_before(own_vector(call), sum())
                                  : fold_behind(slot(i - first), sum()));
  }

  static bool knows(const Call& call) noexcept { return !call.in_order || call.size <= 3; }
  static std::uint64_t phases(const Call& call) noexcept {
    const ReduceBinomial me(call);
    const bool sends = call.rank != me.top;
    const bool has_more = me.top != call.root && (call.rank == me.top || call.rank == call.root);
    return me.batches() + sends + has_more;
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const ReduceBinomial me(call);
    const std::uint64_t batches = me.batches();
    if (index < batches) return me.gather(static_cast<std::uint32_t>(index) * kEach, phase);
    if (call.rank == me.top) return phase.add(send_to(call.root, 1, me.sum()));
    if (index == batches) {
      const Range whole = me.is_leaf() ? own_vector(call) : me.sum();
      return phase.add(send_to(after(call, me.tree.parent(), me.top), 0, whole));
    }
    phase.after_sends = me.is_leaf() && call.in_place;
    phase.add(receive_from(me.top, 1, out_vector(call)));
  }
  static std::uint64_t temp(const Call& call) noexcept {
    const ReduceBinomial me(call);
    return me.is_leaf() ? 0 : me.slot(std::min(me.tree.children(), kEach)).first;
  }

  const Call& call;
  std::uint32_t top;
  Tree tree;
};

}  // namespace

constexpr Way kBcastBinomial = way_of<BcastTree<1>>();
constexpr Way kBcastKnomial = way_of<BcastTree<2>>();
constexpr Way kReduceBinomial = way_of<ReduceBinomial>();

}  // namespace photon::schedule
