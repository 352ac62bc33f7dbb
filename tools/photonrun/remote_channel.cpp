#include "remote_channel.hpp"

#include <algorithm>

namespace photonrun {
namespace {

constexpr int kTellAfter = kUplinkWindow / 4;  // so that few words are about words

}  // namespace

bool RemoteChannel::has_queued(ph_launch_type type) const {
  return std::ranges::find(under_way_, type) != under_way_.end();
}

// The pidfd stays with its host, which says when the process ends.
void RemoteChannel::join(Packet welcome, Fd) {
  state_ = State::joined;
  queue(std::move(welcome));
}

void RemoteChannel::queue(Packet packet) {
  if (state_ == State::over || connection_.is_lost()) return;
  under_way_.push_back(packet.header.type);
  connection_.queue(packet_frame(place_, std::move(packet)));
}

Io RemoteChannel::read(Packet& packet) {
  if (arrivals_.empty()) return at_end_ ? Io::closed : Io::again;
  packet = std::move(arrivals_.front());
  arrivals_.pop_front();
  if (++read_count_ == kTellAfter) {
    connection_.queue(plain_frame(FrameKind::taken, place_, read_count_));
    read_count_ = 0;
  }
  return Io::done;
}

void RemoteChannel::finish(std::optional<Packet> last_word) {
  if (state_ != State::over && !connection_.is_lost()) {
    if (last_word) connection_.queue(packet_frame(place_, std::move(*last_word)));
    connection_.queue(plain_frame(FrameKind::finish, place_));
  }
  state_ = State::over;
  arrivals_.clear();
  under_way_.clear();
  stalled.reset();
}

bool RemoteChannel::arrived(Packet packet) {
  if (state_ == State::over) return true;  // on its way when we closed
  if (at_end_ || arrivals_.size() > kUplinkWindow + kLastPackets) return false;
  arrivals_.push_back(std::move(packet));
  return true;
}

bool RemoteChannel::taken(int count) {
  if (state_ == State::over) return true;
  if (count < 1 || static_cast<std::size_t>(count) > under_way_.size()) return false;
  under_way_.erase(under_way_.begin(), under_way_.begin() + count);
  return true;
}

}  // namespace photonrun
