// The connection between the root photonrun and one of another host.
// Invariants: frames arrive in the order they were queued, or the connection is lost; what waits is
// bounded by those who queue (a window for each rank). Never blocks. Owner: Hosts.
//
//   open -end of the stream, an error, a malformed frame-> lost (what came before is still read)
#pragma once

#include <poll.h>

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "frame.hpp"

namespace photonrun {

// Packets of one rank that may be under way to the root without its word. At the rank's end the
// rest of its channel follows without regard to it.
inline constexpr std::size_t kUplinkWindow = 64;
inline constexpr std::size_t kLastPackets = 4096;

class HostConnection {
 public:
  // `reader`: what came with the last of the handshake.
  HostConnection(Fd socket, std::string name);

  const std::string& name() const { return name_; }
  bool is_lost() const { return lost_; }
  const std::string& why_lost() const { return why_; }
  // Nothing more comes; frames that came may be left.
  bool is_at_end() const { return lost_ || at_end_; }
  void queue(Frame frame);
  // Sends what the socket takes and adds one entry.
  void want(std::vector<pollfd>& entries);
  // Reads what is there, so much that others have their turn.
  void handle(const pollfd& entry);
  std::optional<Frame> next();
  // Its partner makes no sense: nothing more is read or sent.
  void lose(std::string why);
  // Sends the rest of all of them and waits for their other sides to hang up, at most so long.
  static void close_all(const std::vector<HostConnection*>& connections,
                        std::chrono::milliseconds patience);

 private:
  void say_last();
  void flush();
  void read();

  Fd socket_;
  std::string name_;
  std::deque<Frame> queue_;
  Bytes sending_;  // frames as bytes, the first sent_bytes_ are out
  std::size_t sent_bytes_ = 0;
  FrameReader reader_;
  bool lost_ = false;
  bool is_told_ = false;  // that nothing more comes from here
  bool at_end_ = false;   // the stream ended; frames may be left in the reader
  std::string why_;
};

// Small messages at once; a host that vanished is noticed within some 20 s.
void make_host_socket(int socket);

}  // namespace photonrun
