#include "stdin_commands.hpp"

#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

namespace photonrun {
namespace {

constexpr std::size_t kMaxKeyLineBytes = 4096;

}  // namespace

void StdinCommands::handle() {
  char one = 0;  // a byte at a time: the rest is not ours
  const ssize_t got = ::read(input_, &one, 1);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) throw std::runtime_error("who started this photonrun is gone");
  if (one != '\n') {
    if (line_.size() >= kMaxKeyLineBytes) throw std::runtime_error("its input is no job's key");
    line_ += one;
    return;
  }
  if (!has_key_) {
    key_ = std::exchange(line_, {});
    has_key_ = true;
  } else if (line_ == "begin") {
    begun_ = true;
  } else {
    throw std::runtime_error("its input says something else than when to begin");
  }
}

std::string StdinCommands::take_key() { return std::exchange(key_, {}); }

}  // namespace photonrun
