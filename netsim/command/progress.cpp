#include "netsim/command/progress.hpp"

#include <unistd.h>

#include <cstdio>

#include "netsim/command/command.hpp"

namespace photon::netsim::command {
namespace {

constexpr double kFirst = 1.0;  // seconds; a short run shows nothing
constexpr double kPeriod = 0.5;

}  // namespace

Progress::Progress()
    : is_terminal_(::isatty(2) == 1), start_(wall_seconds()), next_(start_ + kFirst) {}

Progress::~Progress() {
  if (has_printed_) std::fputs("\r\033[K", stderr);
}

bool Progress::is_due() { return is_terminal_ && wall_seconds() >= next_; }

void Progress::progress(Time now, double share) {
  const double seconds = wall_seconds() - start_;
  next_ = start_ + seconds + kPeriod;
  has_printed_ = true;
  std::fprintf(stderr, "\r\033[K%.3f us simulated in %.0f s, ", static_cast<double>(now) / 1e6,
               seconds);
  if (share > 0.005) {
    std::fprintf(stderr, "%.0f%% done, %.0f s to go", 100 * share, seconds * (1 - share) / share);
  } else {
    std::fputs("less than 1% done", stderr);
  }
  std::fflush(stderr);
}

}  // namespace photon::netsim::command
