// Which processor a rank runs on.
// Owner: main; it reads the allowed set before anything is bound.
#pragma once

#include <sched.h>

#include <cstdint>

namespace photon::perf {

class Processors {
 public:
  Processors() noexcept;

  // Processors this process might run on when it started.
  std::uint32_t count() const noexcept { return count_; }

  // Bind this process to one of them, `index` counted around. One that was bound to a single
  // processor by its launcher stays there. Not before the context exists: the library compares
  // ranks with the processors it may use.
  void bind(std::uint32_t index) const noexcept;

 private:
  cpu_set_t allowed_;
  std::uint32_t count_ = 1;
};

}  // namespace photon::perf
