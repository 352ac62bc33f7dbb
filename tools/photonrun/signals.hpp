// Signals as events of the poll loop, and their original state for the ranks.
// Invariant: blocked before the first fork, so none is lost between two processes' set-ups.
// Owner: main(); the launcher and the ranks inherit.
#pragma once

#include <csignal>
#include <optional>
#include <string>

#include "fd.hpp"

namespace photonrun {

struct SignalEvent {
  int number = 0;
  bool from_terminal = false;  // typed: the terminal's foreground group has it already
};

class Signals {
 public:
  // Blocks what we handle. What the caller had set to be ignored (nohup) stays ignored.
  Signals();

  // In a forked process: its own queue of signals. Throws std::system_error.
  void listen();
  int fd() const { return fd_.get(); }
  std::optional<SignalEvent> next() const;
  // In a child, before exec: the mask and dispositions photonrun was started with.
  void restore() const;

 private:
  sigset_t handled_{};
  sigset_t original_{};
  Fd fd_;
  bool pipe_was_ignored_ = false;
};

// "signal 11 (Segmentation fault)"
std::string signal_text(int number);

// The signals after which a job ends.
bool ends_job(int number);

}  // namespace photonrun
