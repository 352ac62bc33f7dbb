#include "compat/back_pressure.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "compat/warn.hpp"

namespace photon::classic {

namespace {

constexpr auto kLasting = std::chrono::seconds(1);

std::uint64_t waiting_for(ph_context* context, ph_rank rank) noexcept {
  std::uint64_t count = 0;
  static_cast<void>(ph_outstanding(context, rank, &count));
  return count;
}

}  // namespace

bool BackPressure::is_refusal(ph_context* context, ph_status status) noexcept {
  return status > PH_OK || (status == PH_ERR_MEMORY && waiting_for(context, PH_ANY_RANK) != 0);
}

BackPressure::Look BackPressure::look_at(ph_context* context, ph_rank rank) noexcept {
  constexpr std::size_t kMost = 64;
  ph_counter counters[kMost];
  std::size_t count = 0;
  Look look{rank, waiting_for(context, rank), 0};
  if (ph_counters(context, rank, counters, kMost, &count) != PH_OK) return look;
  for (std::size_t i = 0; i < std::min(count, kMost); ++i)
    if (std::strcmp(counters[i].name, "lines_sent") == 0) look.lines_sent = counters[i].value;
  return look;
}

ph_rank BackPressure::fullest(ph_context* context) noexcept {
  ph_rank found = 0;
  std::uint64_t most = 0;
  for (ph_rank rank = 0; rank < ph_size_of(context); ++rank) {
    const std::uint64_t waiting = waiting_for(context, rank);
    if (waiting <= most) continue;
    most = waiting;
    found = rank;
  }
  return found;
}

void BackPressure::note(ph_context* context) noexcept {
  const std::scoped_lock lock(mutex_);
  if (was_said_) return;
  const auto now = Clock::now();
  if (is_watching_ && now - since_ < kLasting) return;
  if (is_watching_) {
    const Look look = look_at(context, first_.rank);
    if (look.waiting == 0 && first_.waiting == 0) {
      warn(
          "PHOTON_ERROR_RESOURCE",
          "for a second there is no room, though nothing waits for a rank: it is held by rids that "
          "were neither tested nor waited for, or by completions that were not probed");
      was_said_ = true;
      return;
    }
    if (look.lines_sent == first_.lines_sent && look.waiting != 0 &&
        look.waiting >= first_.waiting) {
      char words[200];
      std::snprintf(words, sizeof words,
                    "for a second rank %u has taken nothing: %llu operations to it wait, or their "
                    "local ids were not probed; it has to probe, and here local ids have to be",
                    look.rank, static_cast<unsigned long long>(look.waiting));
      warn("PHOTON_ERROR_RESOURCE", words);
      was_said_ = true;
      return;
    }
  }
  first_ = look_at(context, fullest(context));
  since_ = now;
  is_watching_ = true;
}

}  // namespace photon::classic
