// Members that call another operation than the others, from draws of their own.
#include "simtest/joint_differences.hpp"
#include "simtest/program_generator.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kMostOfAnother = 2500;  // elements, whatever the kind

ph_coll_kind another_kind(ph_coll_kind kind, std::uint64_t further) {
  const std::uint64_t kinds = PH_COLL_REDUCE_SCATTER;
  return static_cast<ph_coll_kind>((static_cast<std::uint64_t>(kind) + further) % kinds + 1);
}

}  // namespace

// Of kinds and arithmetics any two may meet, but for one that is an allreduce's.
void Generator::differ(Joint& one) {
  if (!differs_ || differences_.up_to(5) != 0) return;
  if (one.arithmetic == Arithmetic::double_any) one.arithmetic = Arithmetic::double_order;
  one.count = std::min(one.count, kMostOfAnother);
  Joint other = one;
  const std::uint64_t what = differences_.up_to(3);
  if (what == 1) other.root = (one.root + 1) % program_.ranks;
  if (what == 2) other.count = one.count + 1 + differences_.up_to(40);
  if (what == 3) other.arithmetic = static_cast<Arithmetic>(differences_.up_to(5));
  if (is_same_call(one, other, program_.ranks)) other.kind = another_kind(one.kind, 0);
  if (what == 0) other.kind = another_kind(one.kind, differences_.up_to(14));
  if (other.kind != one.kind) other.counts_come = false;
  one.odd = differences_.next();
  one.other.push_back(other);
}

}  // namespace photon::simtest
