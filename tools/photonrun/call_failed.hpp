// A system call of the launcher's that failed, in words that say what to do; and random bytes where
// the usual call is refused. Owner: none.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <system_error>

namespace photonrun {

// Taken from errno at once. A call that a sandbox refuses, a limit of processes, one of
// descriptors: the words say which.
class CallFailed : public std::system_error {
 public:
  explicit CallFailed(const char* call);
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// At most 256 bytes; of /dev/urandom where getrandom(2) is refused. Throws CallFailed.
void fill_random(std::span<std::byte> bytes);

}  // namespace photonrun
