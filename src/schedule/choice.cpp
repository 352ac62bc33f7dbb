// What is taken where nobody has chosen. Few bytes: few rounds. Many bytes: each byte over each
// member's memory as seldom as may be. Members see the same arguments, and nothing else is asked.
#include "schedule/pieces.hpp"
#include "schedule/schedule.hpp"

namespace photon::schedule {
namespace {

constexpr std::uint64_t kKiB = 1024;
// Members that one can deal with directly; beyond them rounds with neighbours cost less.
constexpr std::uint32_t kFewMembers = 16;

struct Asked {
  const Call& call;
  const Terms& terms;

  std::uint64_t bytes() const noexcept {
    const std::uint64_t each = std::max<std::uint64_t>(terms.element_bytes, 1);
    return call.count > UINT64_MAX / each ? UINT64_MAX : call.count * each;
  }
  bool in_order() const noexcept { return call.in_order || terms.reproducible; }
  bool keeps_order() const noexcept { return call.keeps_order || !terms.commutes; }
};

Algorithm bcast_of(const Asked& asked) noexcept {
  const std::uint32_t size = asked.call.size;
  if (size <= 4) return Algorithm::linear;
  if (asked.bytes() < 64 * kKiB) return size <= 64 ? Algorithm::binomial : Algorithm::knomial;
  return size <= 8 ? Algorithm::linear : Algorithm::scatter_allgather;
}

Algorithm reduce_of(const Asked& asked) noexcept {
  const std::uint32_t size = asked.call.size;
  const bool is_small = asked.bytes() < 32 * kKiB;
  if (size <= 3) return Algorithm::linear;
  if (asked.in_order()) return is_small ? Algorithm::linear : Algorithm::chain;
  if (is_small) return Algorithm::binomial;
  return asked.keeps_order() ? Algorithm::chain : Algorithm::rabenseifner;
}

Algorithm allreduce_of(const Asked& asked) noexcept {
  const std::uint32_t size = asked.call.size;
  const std::uint64_t bytes = asked.bytes();
  if (bytes < 32 * kKiB) {
    if (!asked.in_order() || size <= 3) return Algorithm::recursive_doubling;
    return bytes < 2 * kKiB ? Algorithm::linear : Algorithm::direct;
  }
  if (size <= kFewMembers || asked.in_order()) return Algorithm::direct;
  if (bytes < 1024 * kKiB || asked.keeps_order()) return Algorithm::rabenseifner;
  return Algorithm::ring;
}

Algorithm scan_of(const Asked& asked) noexcept {
  const std::uint32_t most_in_order = asked.call.kind == Kind::scan ? 2 : 3;
  if (asked.in_order() && asked.call.size > most_in_order) return Algorithm::chain;
  return asked.bytes() < 256 * kKiB || asked.call.size <= 3 ? Algorithm::recursive_doubling
                                                            : Algorithm::chain;
}

Algorithm gather_of(const Asked& asked) noexcept {
  const bool is_long = asked.call.size <= 8 || asked.bytes() >= 2 * kKiB;
  return asked.terms.is_v || is_long ? Algorithm::linear : Algorithm::binomial;
}

// Counts of one's own are different in different blocks; what their sum is takes too long to ask.
Algorithm allgather_of(const Asked& asked) noexcept {
  const std::uint32_t size = asked.call.size;
  if (asked.terms.counts_from_senders) return Algorithm::linear;
  if (asked.terms.is_v) return size <= kFewMembers ? Algorithm::linear : Algorithm::ring;
  if (asked.bytes() < 8 * kKiB && size > 2)
    return std::has_single_bit(size) ? Algorithm::recursive_doubling : Algorithm::bruck;
  return size <= kFewMembers ? Algorithm::linear : Algorithm::ring;
}

Algorithm alltoall_of(const Asked& asked) noexcept {
  const std::uint32_t size = asked.call.size;
  if (!asked.terms.is_v && size > 8 && asked.bytes() <= 256) return Algorithm::bruck;
  return asked.terms.is_v || asked.bytes() < 32 * kKiB ? Algorithm::linear : Algorithm::pairwise;
}

Algorithm reduce_scatter_of(const Asked& asked) noexcept {
  const std::uint32_t size = asked.call.size;
  if (size <= kFewMembers || asked.in_order() || asked.keeps_order()) return Algorithm::direct;
  if (asked.terms.is_v) return Algorithm::pairwise;
  if (std::has_single_bit(size) && asked.bytes() < 16 * kKiB) return Algorithm::rabenseifner;
  return asked.bytes() < 256 * kKiB ? Algorithm::pairwise : Algorithm::ring;
}

Algorithm wanted(const Asked& asked) noexcept {
  switch (asked.call.kind) {
    case Kind::barrier: return Algorithm::dissemination;
    case Kind::bcast: return bcast_of(asked);
    case Kind::reduce: return reduce_of(asked);
    case Kind::allreduce: return allreduce_of(asked);
    case Kind::scan:
    case Kind::exscan: return scan_of(asked);
    case Kind::gather:
    case Kind::scatter: return gather_of(asked);
    case Kind::allgather: return allgather_of(asked);
    case Kind::alltoall: return alltoall_of(asked);
    case Kind::reduce_scatter: return reduce_scatter_of(asked);
  }
  return Algorithm::linear;
}

// Of each kind the algorithm that knows every size, order and count.
Algorithm always(Kind kind) noexcept {
  switch (kind) {
    case Kind::barrier: return Algorithm::dissemination;
    case Kind::scan:
    case Kind::exscan: return Algorithm::chain;
    case Kind::reduce_scatter: return Algorithm::direct;
    default: return Algorithm::linear;
  }
}

}  // namespace

Algorithm choose(const Call& call, const Terms& terms) noexcept {
  const Asked asked{call, terms};
  Call chosen = call;
  chosen.in_order = asked.in_order();
  chosen.keeps_order = asked.keeps_order();
  chosen.algorithm = wanted(asked);
  return knows(chosen) ? chosen.algorithm : always(call.kind);
}

}  // namespace photon::schedule
