#include "simtest/joint_differences.hpp"

#include <algorithm>

namespace photon::simtest {

namespace {

bool has_counts_of_its_own(ph_coll_kind kind) noexcept {
  return kind == PH_COLL_GATHERV || kind == PH_COLL_SCATTERV || kind == PH_COLL_ALLGATHERV ||
         kind == PH_COLL_ALLTOALLV || kind == PH_COLL_REDUCE_SCATTER;
}

ph_coll_args args_alike(const Joint& joint, std::uint32_t size) noexcept {
  static constexpr ph_fold kNoFold{};
  ph_coll_args args{};
  describe(joint, kNoFold, args);
  args.root = root_of({&joint, size, 0, 0});
  if (has_counts_of_its_own(joint.kind)) args.count = 0;
  if (joint.kind == PH_COLL_BARRIER) args.count = 0;
  if (joint.kind == PH_COLL_BARRIER) args.type = {};
  return args;
}

}  // namespace

const Joint& called_by(ph_rank rank, const Joint& joint) noexcept {
  return !joint.other.empty() && (joint.odd >> rank & 1) != 0 ? joint.other.front() : joint;
}

bool is_same_call(const Joint& one, const Joint& other, std::uint32_t size) noexcept {
  const ph_coll_args a = args_alike(one, size);
  const ph_coll_args b = args_alike(other, size);
  return a.kind == b.kind && a.root == b.root && a.count == b.count && a.type == b.type &&
         a.op == b.op && a.fold == b.fold && a.flags == b.flags;
}

bool has_difference(const Joint& joint, const std::vector<ph_rank>& members) noexcept {
  const auto size = static_cast<std::uint32_t>(members.size());
  return std::any_of(members.begin(), members.end(), [&](ph_rank rank) {
    return !is_same_call(called_by(rank, joint), called_by(members.front(), joint), size);
  });
}

bool needs_all(const Joint& joint) noexcept {
  return joint.kind == PH_COLL_BARRIER || (joint.kind == PH_COLL_ALLREDUCE && joint.count != 0);
}

}  // namespace photon::simtest
