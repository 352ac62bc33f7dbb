#include "netsim/motif/allreduce.hpp"

namespace photon::netsim {

Allreduce::Allreduce(std::uint32_t ranks, std::uint16_t first_tag)
    : first_tag_(first_tag), states_(ranks) {
  while (ranks >> (rounds_ + 1) != 0) ++rounds_;
  pairs_ = ranks - (1U << rounds_);
}

bool Allreduce::begin(std::uint32_t rank, std::uint32_t number, Ranks& ranks) {
  State& its = states_[rank];
  its.step = 0;
  its.parity = number & 1;
  its.is_under_way = true;
  return go_on(rank, true, ranks);
}

bool Allreduce::on_message(std::uint32_t rank, std::uint16_t tag, Ranks& ranks) {
  State& its = states_[rank];
  its.come |= std::uint64_t{1} << (tag - first_tag_);
  return its.is_under_way && go_on(rank, false, ranks);
}

// Takes steps until one waits; `is_new`: the present one has not sent yet.
bool Allreduce::go_on(std::uint32_t rank, bool is_new, Ranks& ranks) {
  State& its = states_[rank];
  while (its.step <= rounds_ + 1) {
    const Step step = step_of(rank, its.step);
    const std::uint32_t bit = its.parity * 32U + its.step;
    if (is_new && step.to != kNoPeer) {
      ranks.send(rank, {step.to, kBytes, static_cast<std::uint16_t>(first_tag_ + bit)});
    }
    if (step.from != kNoPeer) {
      if ((its.come >> bit & 1) == 0) return false;
      its.come ^= std::uint64_t{1} << bit;
      ranks.release(rank, step.from);
    }
    ++its.step;
    is_new = true;
  }
  its.is_under_way = false;
  return true;
}

Allreduce::Step Allreduce::step_of(std::uint32_t rank, std::uint32_t step) const {
  const bool is_paired = rank < 2 * pairs_;
  const bool is_even = rank % 2 == 0;
  if (step == 0 || step == rounds_ + 1) {
    if (!is_paired) return {kNoPeer, kNoPeer};
    const bool gives = (step == 0) == is_even;
    const std::uint32_t other = rank ^ 1U;
    return gives ? Step{other, kNoPeer} : Step{kNoPeer, other};
  }
  if (is_paired && is_even) return {kNoPeer, kNoPeer};
  const std::uint32_t own = is_paired ? rank / 2 : rank - pairs_;
  const std::uint32_t partner = own ^ 1U << (step - 1);
  const std::uint32_t peer = partner < pairs_ ? 2 * partner + 1 : partner + pairs_;
  return {peer, peer};
}

}  // namespace photon::netsim
