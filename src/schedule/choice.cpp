// Looks a call up, and judges whether what was found can do it.
#include "schedule/choice.hpp"

#include <algorithm>

#include "schedule/choice_rules.hpp"
#include "schedule/pieces.hpp"

namespace photon::schedule {
namespace {

// What a call asks for, as all members see it.
struct Asked {
  const Call& call;
  const Terms& terms;

  // Counts of one's own are different in different blocks.
  std::uint64_t bytes() const noexcept {
    if (terms.is_v || call.kind == Kind::barrier) return 0;
    const std::uint64_t each = std::max<std::uint64_t>(terms.element_bytes, 1);
    return call.count > UINT64_MAX / each ? UINT64_MAX : call.count * each;
  }
  bool in_order() const noexcept { return call.in_order || terms.reproducible; }
  bool keeps_order() const noexcept { return call.keeps_order || !terms.commutes; }
  // A member that has no arrays judges as those that have some.
  bool can(Algorithm algorithm) const noexcept {
    if (terms.counts_from_senders && algorithm != Algorithm::linear) return false;
    const std::uint64_t none = 0;
    Call chosen = call;
    chosen.algorithm = algorithm;
    chosen.in_order = in_order();
    chosen.keeps_order = keeps_order();
    if (terms.is_v) chosen.in_blocks = chosen.out_blocks = {&none, &none};
    return knows(chosen);
  }
};

// Where an order is asked for.
Algorithm ordered_reduce(const Asked& asked) noexcept {
  if (!asked.in_order()) return Algorithm::chain;
  return asked.bytes() < 32 * kKiB ? Algorithm::linear : Algorithm::chain;
}

Algorithm ordered_allreduce(const Asked& asked) noexcept {
  if (!asked.in_order()) return Algorithm::rabenseifner;
  return asked.bytes() < 2 * kKiB ? Algorithm::linear : Algorithm::direct;
}

// For a call that the one that was wanted cannot do.
Algorithm instead(const Asked& asked) noexcept {
  switch (asked.call.kind) {
    case Kind::barrier: return Algorithm::dissemination;
    case Kind::reduce: return ordered_reduce(asked);
    case Kind::allreduce: return ordered_allreduce(asked);
    case Kind::scan:
    case Kind::exscan: return Algorithm::chain;
    case Kind::allgather: return asked.terms.is_v ? Algorithm::linear : Algorithm::bruck;
    case Kind::reduce_scatter: {
      const bool has_order = asked.in_order() || asked.keeps_order();
      return has_order ? Algorithm::direct : Algorithm::pairwise;
    }
    default: return Algorithm::linear;
  }
}

// The row of one kind and layout: of those from the largest number of members that is not too
// large, the one from the largest number of bytes. Rows are sorted.
const Rule* find_rule(std::span<const Rule> rules, NamedKind kind, const Asked& asked) noexcept {
  const auto first = std::lower_bound(rules.begin(), rules.end(), kind,
                                      [](const Rule& rule, NamedKind k) { return rule.kind < k; });
  const unsigned layout = 1U << static_cast<unsigned>(asked.terms.layout);
  const std::uint64_t bytes = asked.bytes();
  const Rule* found = nullptr;
  std::uint32_t members = 0;
  for (auto at = first; at != rules.end() && at->kind == kind; ++at) {
    if (at->members > asked.call.size) break;
    if ((at->layouts & layout) == 0) continue;
    if (at->members != members) found = nullptr;
    members = at->members;
    if (at->bytes <= bytes) found = &*at;
  }
  return found;
}

}  // namespace

std::span<const Rule> built_in_rules() noexcept { return kBuiltInRules; }

std::optional<Choice> Choices::look_up(NamedKind kind, const Call& call,
                                       const Terms& terms) const noexcept {
  const Asked asked{call, terms};
  Choice choice;
  if (named_[kind]) {
    choice.source = Source::setting;
    choice.wanted = *named_[kind];
    return choice;
  }
  const Rule* found = find_rule(rules_, kind, asked);
  choice.source = Source::table;
  if (found == nullptr) {
    found = find_rule(kBuiltInRules, kind, asked);
    choice.source = Source::built_in;
  }
  if (found == nullptr) return std::nullopt;
  choice.wanted = found->algorithm;
  return choice;
}

Choice Choices::choose(const Call& call, const Terms& terms) const noexcept {
  const Asked asked{call, terms};
  Choice choice;
  // A team of one has no rows: any algorithm that knows the kind will do.
  choice.wanted = instead(asked);
  if (const auto found = look_up(named_kind(call.kind, terms.is_v), call, terms)) choice = *found;
  // Where it is not known who is on whose host, as on one host.
  if (choice.wanted == Algorithm::leaders && choice.source != Source::setting &&
      !asked.can(choice.wanted)) {
    Terms one_host = terms;
    one_host.layout = Layout::one_host;
    if (const auto other = look_up(named_kind(call.kind, terms.is_v), call, one_host)) {
      const bool can = asked.can(other->wanted);
      choice.algorithm = can ? other->wanted : instead(asked);
      return choice;
    }
  }
  choice.algorithm = asked.can(choice.wanted) ? choice.wanted : instead(asked);
  return choice;
}

Algorithm choose(const Call& call, const Terms& terms) noexcept {
  static const Choices kBuiltIn;
  return kBuiltIn.choose(call, terms).algorithm;
}

// FNV-1a over all that choose() looks at.
void Choices::rehash() noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t value) {
    hash = (hash ^ value) * 0x100000001b3;
    hash ^= hash >> 29;
  };
  for (const Rule& rule : rules_) {
    add(std::uint64_t{rule.kind} << 32 | std::uint64_t{rule.layouts} << 8 |
        static_cast<std::uint64_t>(rule.algorithm));
    add(rule.members);
    add(rule.bytes);
  }
  for (const auto& one : named_) add(one ? 1 + static_cast<std::uint64_t>(*one) : 0);
  for (const Rule& rule : kBuiltInRules) add(rule.bytes ^ std::uint64_t{rule.members} << 40);
  hash_ = hash;
}

}  // namespace photon::schedule
