// Blocks along a binomial tree: a member below the root keeps those of its subtree, which are a run
// that begins with its own, in `temp`. At the root a run that goes on at block 0 is two messages.
#include "schedule/pieces.hpp"
#include "schedule/trees.hpp"
#include "schedule/ways.hpp"

namespace photon::schedule {
namespace {

struct Branch {
  static constexpr std::uint32_t kEach = 4;  // children in a phase: one run alone is two messages

  Branch(const Call& its_call, Space its_outer, Action its_action) noexcept
      : call(its_call),
        outer(its_outer),
        action(its_action),
        tree(its_call.size, before(its_call, its_call.root), 1) {}

  bool is_root() const noexcept { return tree.place() == 0; }
  bool is_leaf() const noexcept { return tree.children() == 0; }
  std::uint32_t member_at(std::uint32_t place) const noexcept {
    return after(call, place, call.root);
  }
  std::uint64_t batches() const noexcept { return divide_up(tree.children(), kEach); }
  Range run_at(Space space, std::uint32_t first, std::uint32_t blocks) const noexcept {
    return {space, first * call.count, blocks * call.count};
  }
  Step message(std::uint32_t peer, std::uint32_t tag, const Range& range) const noexcept {
    return action == Action::send ? send_to(peer, tag, range) : receive_from(peer, tag, range);
  }
  // Blocks before the end of the team, of a run of places.
  std::uint32_t before_end(std::uint32_t place, std::uint32_t run) const noexcept {
    return std::min(run, call.size - member_at(place));
  }

  // With children first ... : in `temp`, or at the root where the caller has them.
  void children(std::uint32_t batch, bool from_large, Phase& phase) const noexcept {
    const std::uint32_t count = tree.children();
    for (std::uint32_t i = batch * kEach; i < std::min((batch + 1) * kEach, count); ++i) {
      const std::uint32_t place = tree.child(from_large ? count - 1 - i : i);
      const std::uint32_t run = Tree(call.size, place, 1).run();
      const std::uint32_t peer = member_at(place);
      if (!is_root()) {
        phase.add(message(peer, 0, run_at(Space::temp, place - tree.place(), run)));
        continue;
      }
      const std::uint32_t first = before_end(place, run);
      phase.add(message(peer, 0, run_at(outer, peer, first)));
      if (first < run) phase.add(message(peer, 1, run_at(outer, 0, run - first)));
    }
  }
  // With the parent: the whole run.
  void parent(Phase& phase) const noexcept {
    const std::uint32_t peer = member_at(tree.parent());
    if (is_leaf()) return phase.add(message(peer, 0, {outer, 0, call.count}));
    const std::uint32_t run = tree.run();
    const std::uint32_t first = tree.parent() == 0 ? before_end(tree.place(), run) : run;
    phase.add(message(peer, 0, run_at(Space::temp, 0, first)));
    if (first < run) phase.add(message(peer, 1, run_at(Space::temp, first, run - first)));
  }
  std::uint64_t temp() const noexcept {
    return is_root() || is_leaf() ? 0 : tree.run() * call.count;
  }

  const Call& call;
  Space outer;  // of the caller's blocks at the root; of its block at a leaf
  Action action;
  Tree tree;
};

struct GatherBinomial {
  static bool knows(const Call& call) noexcept { return is_uniform(call); }
  static std::uint64_t phases(const Call& call) noexcept {
    const Branch branch(call, Space::out, Action::receive);
    return branch.batches() + !branch.is_root();
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const Branch branch(call, Space::out, Action::receive);
    if (index == branch.batches()) return Branch(call, Space::in, Action::send).parent(phase);
    if (index == 0 && !(branch.is_root() && call.in_place)) {
      const Range place = branch.is_root() ? branch.run_at(Space::out, call.rank, 1)
                                           : branch.run_at(Space::temp, 0, 1);
      phase.add(copy_of({Space::in, 0, call.count}, place));
    }
    branch.children(static_cast<std::uint32_t>(index), false, phase);
  }
  static std::uint64_t temp(const Call& call) noexcept {
    return Branch(call, Space::out, Action::receive).temp();
  }
};

struct ScatterBinomial {
  static bool knows(const Call& call) noexcept { return is_uniform(call); }
  static std::uint64_t phases(const Call& call) noexcept {
    const Branch branch(call, Space::in, Action::send);
    if (branch.is_leaf()) return 1;
    return branch.batches() + !branch.is_root() + !(branch.is_root() && call.in_place);
  }
  static void at(const Call& call, std::uint64_t index, Phase& phase) noexcept {
    const Branch branch(call, Space::in, Action::send);
    if (!branch.is_root() && index-- == 0)
      return Branch(call, Space::out, Action::receive).parent(phase);
    if (index < branch.batches())
      return branch.children(static_cast<std::uint32_t>(index), true, phase);
    const Range own = branch.is_root() ? branch.run_at(Space::in, call.rank, 1)
                                       : branch.run_at(Space::temp, 0, 1);
    phase.add(copy_of(own, {Space::out, 0, call.count}));
  }
  static std::uint64_t temp(const Call& call) noexcept {
    return Branch(call, Space::in, Action::send).temp();
  }
};

}  // namespace

constexpr Way kGatherBinomial = way_of<GatherBinomial>();
constexpr Way kScatterBinomial = way_of<ScatterBinomial>();

}  // namespace photon::schedule
