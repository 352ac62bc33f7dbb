#include "transport/sim/sim_losses.hpp"

namespace photon::transport::sim {

SimLosses::SimLosses(std::uint32_t ranks_count, const Random& random)
    : ranks_count_(ranks_count), random_(random), ways_(std::size_t{ranks_count} * ranks_count) {}

// The bound of a pair is that of its first loss.
void SimLosses::add(const Loss& loss) {
  all_.push_back(loss);
  Way& there = way(loss.from, loss.to);
  Way& back = way(loss.to, loss.from);
  if (!is_lost(loss.from, loss.to)) there.notice_ns = back.notice_ns = loss.notice_ns;
  if (loss.kind == Loss::Kind::cut_off) {
    there.armed = !there.blocked;
    return;
  }
  there.blocked = true;
  back.blocked = back.blocked || loss.both_ways;
}

void SimLosses::block_cut_off(Rank from, Rank to) {
  way(from, to).blocked = way(to, from).blocked = true;
}

std::optional<std::uint64_t> SimLosses::decide(Rank me, Rank peer, std::uint64_t now_ns) {
  Way& mine = way(me, peer);
  if (!mine.has_link || mine.known_ns != kUnknown || !is_lost(me, peer)) return std::nullopt;
  mine.known_ns = now_ns + random_.up_to(mine.notice_ns);
  return mine.known_ns;
}

bool SimLosses::owes_news(Rank me, std::uint64_t now_ns) const {
  for (Rank peer = 0; peer < ranks_count_; ++peer) {
    const Way& mine = way(me, peer);
    if (mine.has_dropped && mine.known_ns > now_ns) return true;
  }
  return false;
}

}  // namespace photon::transport::sim
