// What has to happen by itself: attempts that are given up or made again, pending connections that
// are silent, hosts that vanished.
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "boot/keepalive.hpp"
#include "boot/tcp_side_channel.hpp"

namespace photon::boot {

void TcpSideChannel::on_clock() {
  std::uint64_t rung = 0;
  static_cast<void>(::read(timer_.get(), &rung, sizeof rung));
  armed_ns_ = 0;
  const std::int64_t now_ns = time_.now_ns();
  std::vector<std::uint32_t> silent;
  for (const auto& [number, way] : ways_in_)
    if (way.state == WayIn::State::pending && way.due_ns <= now_ns) silent.push_back(number);
  for (const std::uint32_t number : silent) {
    hear_in(number);  // it is we who may have been away
    const auto still = ways_in_.find(number);
    if (still != ways_in_.end() && still->second.state == WayIn::State::pending)
      refuse(number, "said not who it is");
  }
  dial_or_give_up(now_ns);
  if (look_ns_ != 0 && look_ns_ <= now_ns) check_keepalive(now_ns);
  if (const std::int64_t next_ns = next_due_ns(); next_ns != 0) wake_at(next_ns);
}

void TcpSideChannel::dial_or_give_up(std::int64_t now_ns) {
  std::vector<Rank> due;
  for (const auto& [rank, peer] : peers_)
    if (peer.out && peer.out->due_ns <= now_ns) due.push_back(rank);
  for (const Rank rank : due) {
    if (peers_[rank].out->state == WayOut::State::dialing) {
      shake_hands(rank);  // it is we who may have been away
      if (peers_[rank].out->state == WayOut::State::dialing) dial_failed(rank, ETIMEDOUT);
    } else if (peers_[rank].out->state == WayOut::State::pausing) {
      dial(rank);
    } else if (peers_[rank].out->may_try_another()) {
      hear_out(rank);  // it is we who may have been away
      if (peers_[rank].out->may_try_another()) dial_failed(rank, Tries::kSilent);
    }
  }
}

// Keep-alive does it for the ways in, and for those out by which nothing is under way.
void TcpSideChannel::check_keepalive(std::int64_t now_ns) {
  const std::int64_t limit_ns = static_cast<std::int64_t>(config_.tcp_silence_s) * 1'000'000'000;
  look_ns_ = 0;
  std::vector<Rank> silent;
  for (auto& [rank, peer] : peers_) {
    const bool says = peer.out && (peer.out->state == WayOut::State::handshake ||
                                   peer.out->state == WayOut::State::open);
    if (!says || is_all_confirmed(peer.out->socket.get())) continue;
    WayOut& way = *peer.out;
    look_ns_ = now_ns + kKeepaliveCheckNs;
    const std::int64_t owed = owed_ns(way.socket.get(), way.owes_since_ns, now_ns);
    way.owes_since_ns = owed == 0 ? 0 : now_ns - owed;
    if (owed >= limit_ns) silent.push_back(rank);
  }
  for (const Rank rank : silent) {
    peers_[rank].why = "its host has not answered (setting tcp_silence_s)";
    tell_gone(rank);
  }
}

// After every send: cheap, and it says nothing yet.
void TcpSideChannel::await_confirmation() {
  if (look_ns_ != 0) return;
  look_ns_ = time_.now_ns() + kKeepaliveCheckNs;
  wake_at(look_ns_);
}

// Or earlier, if the timer is to ring earlier.
void TcpSideChannel::wake_at(std::int64_t at_ns) {
  if (armed_ns_ != 0 && armed_ns_ <= at_ns) return;
  armed_ns_ = at_ns;
  time_.ring_at(timer_.get(), at_ns);
}

// 0: nothing is.
std::int64_t TcpSideChannel::next_due_ns() const {
  std::int64_t next_ns = look_ns_;
  const auto consider = [&next_ns](std::int64_t due_ns) {
    next_ns = next_ns == 0 ? due_ns : std::min(next_ns, due_ns);
  };
  for (const auto& [number, way] : ways_in_)
    if (way.state == WayIn::State::pending) consider(way.due_ns);
  for (const auto& [rank, peer] : peers_)
    if (peer.out && (peer.out->state == WayOut::State::dialing ||
                     peer.out->state == WayOut::State::pausing || peer.out->may_try_another()))
      consider(peer.out->due_ns);
  return next_ns;
}

}  // namespace photon::boot
