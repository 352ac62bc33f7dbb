#include "boot/outbox.hpp"

#include "boot/limits.hpp"

namespace photon::boot {

base::Result<Sent> Outbox::post(int socket, const Packet& packet) {
  const auto before = flush(socket);
  if (!before || *before == Sent::gone) return before;
  if (*before == Sent::taken) {
    const auto now = send_packet(socket, packet);
    if (!now || *now != Sent::full) return now;
  }
  if (waiting_.size() >= kMaxQueuedMessages) return Sent::full;
  if (auto queued = queue(packet); !queued) return queued.error();
  return Sent::taken;
}

base::Result<Sent> Outbox::flush(int socket) {
  while (!waiting_.empty()) {
    const std::vector<int> fds = numbers(waiting_.front().fds);
    const auto sent = send_packet(socket, {.header = waiting_.front().bytes, .fds = fds});
    if (!sent || *sent == Sent::full) return sent;
    if (*sent == Sent::gone) {
      waiting_.clear();
      return sent;
    }
    waiting_.pop_front();
  }
  return Sent::taken;
}

base::Result<> Outbox::queue(const Packet& packet) {
  auto fds = duplicate(packet.fds);
  if (!fds) return fds.error();
  Waiting waiting{.fds = std::move(*fds)};
  waiting.bytes.assign(packet.header.begin(), packet.header.end());
  waiting.bytes.insert(waiting.bytes.end(), packet.body.begin(), packet.body.end());
  waiting_.push_back(std::move(waiting));
  return {};
}

}  // namespace photon::boot
