// The names of calls, and their digest.
#include "service/coll/plan.hpp"

namespace photon::service::coll {

namespace {

constexpr const char* kKindNames[] = {
    "unknown operation", "barrier",  "bcast",     "reduce",
    "allreduce",         "scan",     "exscan",    "gather",
    "gatherv",           "scatter",  "scatterv",  "allgather",
    "allgatherv",        "alltoall", "alltoallv", "reduce_scatter_block",
    "reduce_scatter"};
constexpr std::uint32_t kKinds = sizeof kKindNames / sizeof kKindNames[0];

bool folds(std::uint32_t kind) noexcept {
  return (kind >= PH_COLL_REDUCE && kind <= PH_COLL_EXSCAN) || kind == PH_COLL_REDUCE_SCATTER ||
         kind == PH_COLL_REDUCE_SCATTER_BLOCK;
}

bool has_root(std::uint32_t kind) noexcept {
  return kind == PH_COLL_BCAST || kind == PH_COLL_REDUCE ||
         (kind >= PH_COLL_GATHER && kind <= PH_COLL_SCATTERV);
}

}  // namespace

const char* name_of(ph_coll_kind kind) noexcept {
  const auto number = static_cast<std::uint32_t>(kind);
  return number < kKinds ? kKindNames[number] : number == 0x100 ? "split" : kKindNames[0];
}

std::string text_of(const Described& what) {
  std::string text = name_of(static_cast<ph_coll_kind>(what.kind));
  if (what.kind == PH_COLL_BARRIER || what.kind >= kKinds || what.kind == 0) return text;
  text +=
      " of " + std::to_string(what.count) + " " + fold::name_of(static_cast<ph_type>(what.type));
  if (folds(what.kind))
    text += what.op < 0 ? std::string(" by a function")
                        : std::string(" by ") + fold::name_of(static_cast<ph_op>(what.op));
  if (has_root(what.kind)) text += " with root " + std::to_string(what.root);
  if ((what.flags & PH_REPRODUCIBLE) != 0) text += ", reproducible";
  return text;
}

// FNV-1a over what has to be equal, folded to 32 bits.
std::uint32_t digest_of(const Described& what) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t value) {
    hash = (hash ^ value) * 0x100000001b3;
    hash ^= hash >> 29;
  };
  add(what.kind);
  add(static_cast<std::uint32_t>(what.type));
  add(static_cast<std::uint32_t>(what.op));
  add(what.root);
  add(what.count);
  add(what.flags);
  const auto digest = static_cast<std::uint32_t>(hash ^ hash >> 32);
  return digest != 0 ? digest : 1;  // lines say nothing by 0 (sync/flat_line.hpp)
}

}  // namespace photon::service::coll
