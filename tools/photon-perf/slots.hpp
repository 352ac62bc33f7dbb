// Slots of a window in turn. A division for each message would cost some processors as much as the
// message itself.
// Owner: a stream (a value).
#pragma once

#include <cstddef>

namespace photon::perf {

class Slots {
 public:
  explicit Slots(std::size_t count) noexcept : count_(count) {}
  std::size_t now() const noexcept { return at_; }
  void advance() noexcept { at_ = at_ + 1 == count_ ? 0 : at_ + 1; }

 private:
  std::size_t count_;
  std::size_t at_ = 0;
};

}  // namespace photon::perf
