#include "netsim/motif/steps.hpp"

namespace photon::netsim {

Steps::Steps(std::unique_ptr<Pattern> pattern, std::uint32_t steps, std::uint32_t bytes)
    : pattern_(std::move(pattern)),
      steps_(steps),
      bytes_(bytes),
      step_of_(pattern_->ranks()),
      come_(std::size_t{pattern_->ranks()} * steps) {
  for (std::uint32_t rank = 0; rank < pattern_->ranks(); ++rank) {
    expected_.push_back(pattern_->senders_to(rank));
  }
}

// Of messages that come; a rank that none is sent to has done all.
double Steps::share_done(std::uint32_t rank) const {
  const std::uint32_t step = step_of_[rank];
  if (step == 0 || expected_[rank] == 0) return step == 0 ? 0 : 1;
  const double come = come_[std::size_t{rank} * steps_ + step - 1];
  return (step - 1 + come / expected_[rank]) / steps_;
}

void Steps::start(std::uint32_t rank, Ranks& ranks) { go_on(rank, ranks); }

void Steps::on_message(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag, Ranks& ranks) {
  ranks.release(rank, peer);
  const std::uint32_t come = ++come_[std::size_t{rank} * steps_ + tag];
  if (tag + 1U != step_of_[rank] || come != expected_[rank]) return;
  go_on(rank, ranks);
}

// Sends the messages of the next step, and of further ones whose messages have all come already.
void Steps::go_on(std::uint32_t rank, Ranks& ranks) {
  while (step_of_[rank] < steps_) {
    const std::uint32_t step = step_of_[rank]++;
    for (std::uint32_t i = 0; i < pattern_->most_peers(); ++i) {
      const std::uint32_t peer = pattern_->peer(rank, i);
      if (peer != kNoPeer) ranks.send(rank, {peer, bytes_, static_cast<std::uint16_t>(step)});
    }
    if (come_[std::size_t{rank} * steps_ + step] < expected_[rank]) return;
  }
  ranks.finish(rank);
}

}  // namespace photon::netsim
