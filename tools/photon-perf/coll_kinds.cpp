#include "coll_kinds.hpp"

#include <fmt/core.h>

#include "failure.hpp"

namespace photon::perf {
namespace {

constexpr CollBuffer kNothing{CollBlocks::none};
constexpr CollBuffer kOne{CollBlocks::one};
constexpr CollBuffer kEach{CollBlocks::each};
constexpr CollBuffer kOneAtRoot{CollBlocks::one, CollAt::root};
constexpr CollBuffer kEachAtRoot{CollBlocks::each, CollAt::root};
constexpr CollBuffer kOneAtOthers{CollBlocks::one, CollAt::others};

constexpr CollKind kCollKinds[] = {
    {"barrier", PH_COLL_BARRIER, kNothing, kNothing, CollSources::root, CollWay::both},
    {"bcast", PH_COLL_BCAST, kOneAtRoot, kOneAtOthers, CollSources::root, CollWay::from_root},
    {"reduce", PH_COLL_REDUCE, kOne, kOneAtRoot, CollSources::all, CollWay::to_root},
    {"allreduce", PH_COLL_ALLREDUCE, kOne, kOne, CollSources::all, CollWay::both},
    {"scan", PH_COLL_SCAN, kOne, kOne, CollSources::up_to_self, CollWay::from_root},
    {"exscan", PH_COLL_EXSCAN, kOne, kOneAtOthers, CollSources::before_self, CollWay::from_root},
    {"gather", PH_COLL_GATHER, kOne, kEachAtRoot, CollSources::block, CollWay::to_root},
    {"gatherv", PH_COLL_GATHERV, kOne, kEachAtRoot, CollSources::block, CollWay::to_root, true},
    {"scatter", PH_COLL_SCATTER, kEachAtRoot, kOne, CollSources::root, CollWay::from_root},
    {"scatterv", PH_COLL_SCATTERV, kEachAtRoot, kOne, CollSources::root, CollWay::from_root, true},
    {"allgather", PH_COLL_ALLGATHER, kOne, kEach, CollSources::block, CollWay::both},
    {"allgatherv", PH_COLL_ALLGATHERV, kOne, kEach, CollSources::block, CollWay::both, true},
    {"alltoall", PH_COLL_ALLTOALL, kEach, kEach, CollSources::block, CollWay::both},
    {"alltoallv", PH_COLL_ALLTOALLV, kEach, kEach, CollSources::block, CollWay::both, true},
    {"reduce_scatter_block", PH_COLL_REDUCE_SCATTER_BLOCK, kEach, kOne, CollSources::all,
     CollWay::both},
    {"reduce_scatter", PH_COLL_REDUCE_SCATTER, kEach, kOne, CollSources::all, CollWay::both, true},
};

}  // namespace

std::uint32_t CollBuffer::blocks_at(std::uint32_t member, std::uint32_t members) const noexcept {
  const bool is_root = member == 0;
  if (at != CollAt::all && is_root != (at == CollAt::root)) return 0;
  if (blocks == CollBlocks::none) return 0;
  return blocks == CollBlocks::one ? 1 : members;
}

std::span<const CollKind> coll_kinds() noexcept { return kCollKinds; }

const CollKind* find_coll_kind(std::string_view name) noexcept {
  for (const auto& kind : kCollKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::vector<const CollKind*> parse_coll_kinds(std::string_view text) {
  std::vector<const CollKind*> kinds;
  for (bool is_last = false; !is_last;) {
    const auto comma = text.find(',');
    const auto name = text.substr(0, comma);
    const auto* const kind = find_coll_kind(name);
    if (kind == nullptr) {
      std::string names;
      for (const auto& known : kCollKinds) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
      }
      throw Failure(fmt::format("--kind: there is no '{}'; give some of {}", name, names));
    }
    kinds.push_back(kind);
    is_last = comma == std::string_view::npos;
    if (!is_last) text = text.substr(comma + 1);
  }
  return kinds;
}

}  // namespace photon::perf
