#include "relay.hpp"

#include <algorithm>
#include <cstring>

namespace photonrun {

Relay::Relay(const Share& share, std::shared_ptr<HeldFds> held, const Term& term,
             HostConnection& connection)
    : Exchange(share, std::move(held)), term_(term), connection_(connection), ways_(share.here) {}

void Relay::want(std::vector<pollfd>& entries) {
  for (unsigned i = 0; i < share().here; ++i) report_taken(share().first + i);
  Exchange::want(entries);
}

bool Relay::dispatch(unsigned rank, Packet packet, Pace pace) {
  Way& way = ways_[rank - share().first];
  const ph_launch_header& header = packet.header;
  if (header.version == PH_LAUNCH_VERSION) {
    if (header.type == PH_LAUNCH_HELLO) {
      if (packet.fds.size() > 1) return false;
      if (!packet.fds.empty() && !way.has_said_hello) way.pidfd = std::move(packet.fds.front());
      packet.fds.clear();
      way.has_said_hello = true;
    }
    if (header.type == PH_LAUNCH_LEAVE) {
      if (!way.has_said_hello || !take_leave(rank, packet)) return false;
      packet.header.count = local(rank).has_next ? 1 : 0;  // the descriptor stays here
    }
    const bool stays = header.type == PH_LAUNCH_FORWARD && share().has(header.rank);
    if (stays) return way.has_said_hello && forward(rank, std::move(packet), pace);
  }
  // The root says what is wrong with another version, and needs no descriptor for it.
  if (header.version != PH_LAUNCH_VERSION) packet.fds.clear();
  if (!packet.fds.empty()) return false;
  report_taken(rank);  // first: the root believes a GATHER only from who has taken the last result
  if (way.window > 0) --way.window;
  connection_.queue(packet_frame(place_of(rank), std::move(packet)));
  return true;
}

// Of one whose process ended Hosts says more than that its channel is closed.
void Relay::over(unsigned rank, ph_launch_gone how, std::optional<Packet> last_word) {
  const bool is_news = local(rank).state() != Channel::State::over;
  local(rank).finish(std::move(last_word));
  if (is_news) note_over(rank);
  if (is_news && how.how == PH_LAUNCH_CLOSED) {
    connection_.queue(plain_frame(FrameKind::closed, place_of(rank)));
  }
}

bool Relay::handle_frame(Frame frame) {
  const unsigned rank = frame.head.rank;
  if (!share().has(rank)) return false;
  if (frame.head.kind == FrameKind::packet) {
    take_packet(rank, packet_of(std::move(frame)));
    return true;
  }
  if (frame.head.kind == FrameKind::finish) {
    const bool is_news = local(rank).state() != Channel::State::over;
    local(rank).flush();
    local(rank).finish(std::exchange(ways_[rank - share().first].last_word, std::nullopt));
    if (is_news) note_over(rank);
    return true;
  }
  Way& way = ways_[rank - share().first];
  const auto more = static_cast<std::size_t>(std::max(frame.head.value, 0));
  way.window = std::min(way.window + more, kUplinkWindow);
  return frame.head.kind == FrameKind::taken;
}

void Relay::take_packet(unsigned rank, Packet packet) {
  LocalChannel& to = local(rank);
  packet.from_host = true;
  if (packet.header.type == PH_LAUNCH_REFUSED && to.state() == Channel::State::waiting) {
    ways_[rank - share().first].last_word = std::move(packet);  // nothing is queued before WELCOME
    return;
  }
  if (packet.header.type != PH_LAUNCH_WELCOME) return to.queue(std::move(packet));
  ph_launch_welcome welcome{};
  if (to.state() != Channel::State::waiting || packet.body->size() < sizeof welcome) return;
  Bytes body = *packet.body;
  std::memcpy(&welcome, body.data(), sizeof welcome);
  std::ranges::copy(term_.secret, welcome.secret);
  std::memcpy(body.data(), &welcome, sizeof welcome);
  Packet full = make_packet(packet.header, body);
  full.from_host = true;
  to.join(std::move(full), std::move(ways_[rank - share().first].pidfd));
}

void Relay::report_taken(unsigned rank) {
  const unsigned count = local(rank).take_count();
  if (count > 0)
    connection_.queue(plain_frame(FrameKind::taken, place_of(rank), static_cast<int>(count)));
}

}  // namespace photonrun
