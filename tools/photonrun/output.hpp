// What this photonrun writes: its own lines; with --label what the ranks write, line by line,
// standard output and error apart; what those of other hosts write.
// Invariant: a line of one rank is written in one piece, after its label; nothing is dropped while
// somebody reads our output. Nothing blocks: a slow reader stops the reading from the ranks.
// Owner: the launcher process.
//
// A stream: open -end of file-> its last line is completed -> closed
// A sink:   open -write fails-> dead; its streams are closed, so that the ranks see SIGPIPE, and
// the
//           cause is said
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "fd.hpp"
#include "sink.hpp"

namespace photonrun {

// Nothing was read for so long: after a job that was ended nobody waits longer for its reader.
inline constexpr auto kReaderPatience = std::chrono::seconds(3);
inline constexpr std::size_t kMaxLineBytes = 1 << 20;  // longer ones are broken

class Output {
 public:
  // Takes the reading ends of a rank's pipes.
  void add(unsigned rank, Fd output, Fd error);
  // Has one entry of `entries` for each descriptor to wait for.
  void want(std::vector<pollfd>& entries);
  // Handles the entries that want() made, which start at `first`.
  void handle(const std::vector<pollfd>& entries);
  // Of something else than a rank, as it is: to standard output (0) or standard error (1). As long
  // as there is room, it is taken.
  void put(std::size_t sink, std::string_view text);
  bool has_room(std::size_t sink) const { return sinks_[sink].has_room(); }
  // "photonrun: text" as one line of standard error, at once if it can be. Where that was closed
  // from the beginning nobody asks for our words, and they are no loss.
  void say(std::string_view text);
  // Nobody reads it any more.
  bool is_dead(std::size_t sink) const { return sinks_[sink].is_dead(); }
  // What photonrun ends with in place of 0: 0 where nothing was lost; as one that SIGPIPE killed
  // where a reader has left before he had all; else, kLauncherStatus.
  int loss_status() const;
  // What is not written yet, in words: "12 bytes of standard output".
  std::string unwritten() const;
  // Everything read was written, and nothing more comes.
  bool finished() const;
  // In all: who waits for its reader sees whether that reads.
  std::size_t written_bytes() const {
    return sinks_[0].written_bytes() + sinks_[1].written_bytes();
  }
  // Nothing more comes: writes the rest, for so long in all.
  void write_rest(std::chrono::milliseconds time);

 private:
  struct Stream {
    unsigned rank;
    std::size_t sink;
    Fd pipe;
    std::string line;  // its last, incomplete one
  };

  void read_from(Stream& stream);
  void take(Stream& stream, const char* text, std::size_t size_bytes);
  void finish_line(Stream& stream);
  void flush(Sink& sink);

  std::vector<Stream> streams_;
  std::array<Sink, 2> sinks_{Sink(STDOUT_FILENO), Sink(STDERR_FILENO)};
  std::size_t first_entry_ = 0;
  const bool is_heard_ = is_writable(STDERR_FILENO);
};

}  // namespace photonrun
