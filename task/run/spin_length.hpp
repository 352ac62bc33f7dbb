// How often an idle PE looks before it sleeps. A sleep and the wake-up from it take longer than
// most answers; with more PEs than cores each look takes time from those that would answer.
//
//   64 looks -- missed() --> 32 -- missed() --> ... --> 0 -- the 16th miss --> 64
//   any -- found() --> 64
//
// Owner: the PE.
#pragma once

#include <cstdint>

namespace photon::task {

class SpinLength {
 public:
  std::uint32_t looks() const noexcept { return looks_; }
  void found() noexcept { looks_ = kMost; }
  void missed() noexcept { looks_ = ++misses_ % kMissesToTry == 0 ? kMost : looks_ / 2; }

 private:
  static constexpr std::uint32_t kMost = 64;  // about a microsecond
  static constexpr std::uint32_t kMissesToTry = 16;

  std::uint32_t looks_ = kMost;
  std::uint32_t misses_ = 0;
};

}  // namespace photon::task
