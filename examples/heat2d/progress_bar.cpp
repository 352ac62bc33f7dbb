#include "progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace heat2d {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr std::size_t kWidth = 40;

}  // namespace

ProgressBar::ProgressBar(std::size_t steps_count, bool wanted)
    : steps_count_(steps_count),
      wanted_(wanted && ::isatty(STDERR_FILENO) == 1),
      next_(Clock::now() + kPatience) {}

ProgressBar::~ProgressBar() {
  if (drawn_) fmt::print(stderr, "\r{:{}}\r", "", kWidth + 30);
}

void ProgressBar::show(std::size_t step) {
  if (!wanted_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  drawn_ = true;
  const std::size_t filled = step * kWidth / steps_count_;
  fmt::print(stderr, "\r[{:#<{}}{:{}}] step {} of {}", "", filled, "", kWidth - filled, step,
             steps_count_);
  std::fflush(stderr);
}

}  // namespace heat2d
