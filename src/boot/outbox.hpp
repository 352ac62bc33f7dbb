// Packets that a socket did not take yet, in order, with their descriptors kept open.
// Invariant: nothing overtakes what is queued. Owner: one Boot, one thread.
#pragma once

#include <deque>

#include "boot/packet.hpp"

namespace photon::boot {

class Outbox {
 public:
  bool empty() const { return waiting_.empty(); }
  // taken: sent or queued. full: the queue is at its limit, nothing was kept. gone: dropped.
  base::Result<Sent> post(int socket, const Packet& packet);
  // taken: nothing waits any more. full: the rest still waits. gone: all dropped.
  base::Result<Sent> flush(int socket);

 private:
  struct Waiting {
    std::vector<std::byte> bytes;
    std::vector<base::UniqueFd> fds;
  };

  base::Result<> queue(const Packet& packet);

  std::deque<Waiting> waiting_;
};

}  // namespace photon::boot
