// What `photonrun -H` says on the standard input of each photonrun that it starts: the job's key, a
// line, since arguments and environment can be read by others; then, when all have joined, "begin",
// a line. What follows is the standard input of rank 0.
// Invariant: nothing of what follows is read; an end before "begin" means that who started us is
// gone. Owner: the launcher process.
//
//   awaits the key -a line-> has_key -"begin"-> begun        both but the last -end of file->
//   throws
#pragma once

#include <string>

namespace photonrun {

class StdinCommands {
 public:
  explicit StdinCommands(int input) : input_(input) {}

  // To wait at; -1: there is nothing more to hear.
  int fd() const { return begun_ ? -1 : input_; }
  // It is readable. Throws std::runtime_error.
  void handle();
  bool has_key() const { return has_key_; }
  bool begun() const { return begun_; }
  std::string take_key();

 private:
  int input_;
  std::string line_;
  std::string key_;
  bool has_key_ = false;
  bool begun_ = false;
};

}  // namespace photonrun
