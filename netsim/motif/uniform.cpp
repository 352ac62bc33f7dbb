#include "netsim/motif/uniform.hpp"

#include <cmath>

namespace photon::netsim {
namespace {

// Routers draw from the streams below.
constexpr std::uint64_t kFirstStream = std::uint64_t{1} << 32;

}  // namespace

Uniform::Uniform(const Load& load) : load_(load), states_(load.ranks) {
  for (std::uint32_t rank = 0; rank < load.ranks; ++rank) {
    states_[rank].random = Random(load.seed, kFirstStream + rank);
    plan(states_[rank]);
  }
}

void Uniform::start(std::uint32_t rank, Ranks& ranks) { go_on(rank, ranks); }

void Uniform::on_woken(std::uint32_t rank, Ranks& ranks) { go_on(rank, ranks); }

void Uniform::on_message(std::uint32_t rank, std::uint32_t peer, std::uint16_t, Ranks& ranks) {
  ranks.release(rank, peer);
}

void Uniform::on_sent(std::uint32_t rank, std::uint32_t, std::uint16_t, Ranks& ranks) {
  State& its = states_[rank];
  if (--its.unsent == 0 && its.is_draining) ranks.finish(rank);
}

// Draws when the next message is due. The draw is above 0 and at most 1.
void Uniform::plan(State& its) {
  const double draw = (static_cast<double>(its.random.next() >> 11) + 1) * 0x1p-53;
  its.due += static_cast<Time>(std::llround(-std::log(draw) * load_.mean_gap_ps));
}

// Posts what is due by now.
void Uniform::go_on(std::uint32_t rank, Ranks& ranks) {
  State& its = states_[rank];
  const Time end = load_.warmup + load_.measured;
  for (; its.due < end && its.due <= ranks.now(); plan(its)) {
    const std::uint32_t drawn = its.random.below(load_.ranks - 1);
    const std::uint32_t peer = drawn < rank ? drawn : drawn + 1;
    const std::uint16_t tag = its.due < load_.warmup ? 0 : 1;
    ++its.unsent;
    ranks.send(rank, {peer, load_.bytes, tag, true});
  }
  if (its.due < end) return ranks.wake(rank, its.due);
  its.is_draining = true;
  if (its.unsent == 0) ranks.finish(rank);
}

}  // namespace photon::netsim
