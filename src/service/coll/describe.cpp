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
  return number < kKinds ? kKindNames[number] : number == kSplitKind ? "split" : kKindNames[0];
}

std::string text_of(const Described& what) {
  if (what.kind == kForgottenKind) return "something else that it has forgotten";
  if (what.kind == kFreedKind) {
    const std::string many = what.number == 1 ? "" : "s";
    const std::string times = " after " + std::to_string(what.number);
    if (what.channel == 0) return "has freed the team" + times + " call" + many + " on it";
    return "has freed prepared operation " + std::to_string(what.channel) + times + " start" + many;
  }
  std::string text = name_of(static_cast<ph_coll_kind>(what.kind));
  if (what.kind != PH_COLL_BARRIER && what.kind < kKinds && what.kind != 0) {
    text +=
        " of " + std::to_string(what.count) + " " + fold::name_of(static_cast<ph_type>(what.type));
    if (folds(what.kind))
      text += what.op < 0 ? std::string(" by a function")
                          : std::string(" by ") + fold::name_of(static_cast<ph_op>(what.op));
    if (has_root(what.kind)) text += " with root " + std::to_string(what.root);
    if ((what.flags & PH_REPRODUCIBLE) != 0) text += ", reproducible";
  }
  if ((what.flags & kCheckedFlag) == 0) return text;
  if (what.number == 0) return text + " (coll_check)";
  if (what.channel == 0) return text + " (call " + std::to_string(what.number) + ")";
  return text + " (start " + std::to_string(what.number) + " of prepared operation " +
         std::to_string(what.channel) + ")";
}

std::string difference_of(const Described& one, const Described& other) {
  if (other.kind == kForgottenKind) return "";
  if (((one.flags ^ other.flags) & kCheckedFlag) != 0)
    return ": the setting coll_check has to be the same on all ranks";
  if (one.counts != other.counts) return ": their counts differ";
  if (one.function != other.function)
    return ": their functions differ in the size of elements, or in whether they commute";
  Described same = other;
  same.flags ^= kProvidedFlag;
  same.member = one.member;
  if (same == one)
    return ": a provider does it at one of them alone: the setting coll has to be the same on all "
           "ranks";
  return "";
}

// FNV-1a over what has to be equal, folded to 32 bits.
std::uint32_t digest_of(std::span<const std::uint64_t> words) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint64_t word : words) {
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  const auto digest = static_cast<std::uint32_t>(hash ^ hash >> 32);
  return digest != 0 ? digest : 1;  // lines say nothing by 0 (sync/flat_line.hpp)
}

std::uint32_t digest_of(const Described& what) noexcept {
  const std::uint64_t words[] = {what.kind,
                                 static_cast<std::uint32_t>(what.type),
                                 static_cast<std::uint32_t>(what.op),
                                 what.root,
                                 what.count,
                                 what.flags,
                                 what.counts,
                                 what.function,
                                 std::uint64_t{what.channel} << 32 | what.number};
  return digest_of(words);
}

}  // namespace photon::service::coll
