// A bar on stderr for people who wait: only on a terminal, only after a second.
#pragma once

#include <chrono>
#include <cstddef>

namespace heat2d {

class ProgressBar {
 public:
  // `wanted`: on one rank only, or every rank draws.
  ProgressBar(std::size_t steps_count, bool wanted);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();  // removes the bar

  void show(std::size_t step);

 private:
  using Clock = std::chrono::steady_clock;

  std::size_t steps_count_;
  bool wanted_;
  bool drawn_ = false;
  Clock::time_point next_;
};

}  // namespace heat2d
