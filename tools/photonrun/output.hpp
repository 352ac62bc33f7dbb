// --label: merges the ranks' output line by line, standard output and error apart.
// Invariant: a line of one rank is written in one piece, after its label; nothing is dropped while
// somebody reads our output. Nothing blocks: a slow reader stops the reading from the ranks.
// Owner: Job.
//
// A stream: open -end of file-> its last line is completed -> closed
// A sink:   open -write fails-> dead; its streams are closed, so that the ranks see SIGPIPE
#pragma once

#include <poll.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "fd.hpp"

namespace photonrun {

class Output {
 public:
  Output();

  // Takes the reading ends of a rank's pipes.
  void add(unsigned rank, Fd output, Fd error);
  // Has one entry of `entries` for each descriptor to wait for.
  void want(std::vector<pollfd>& entries);
  // Handles the entries that want() made, which start at `first`.
  void handle(const std::vector<pollfd>& entries);
  // Of something else than a rank, as it is: to standard output (0) or standard error (1). As long
  // as there is room, it is taken.
  void put(std::size_t sink, std::string_view text);
  bool has_room(std::size_t sink) const;
  // Nobody reads it any more.
  bool is_dead(std::size_t sink) const { return sinks_[sink].dead; }
  // Everything read was written, and nothing more comes.
  bool finished() const;

 private:
  struct Stream {
    unsigned rank;
    std::size_t sink;
    Fd pipe;
    std::string line;  // its last, incomplete one
  };
  struct Sink {
    int fd;
    std::size_t piece_bytes;  // a write of so many bytes does not block after POLLOUT
    bool dead = false;
    std::string pending;
    std::size_t written_bytes = 0;  // of pending
  };

  void read_from(Stream& stream);
  void take(Stream& stream, const char* text, std::size_t size_bytes);
  void finish_line(Stream& stream);
  void write_to(Sink& sink);

  std::vector<Stream> streams_;
  std::array<Sink, 2> sinks_;
  std::size_t first_entry_ = 0;
};

}  // namespace photonrun
