// Gets of memory that changes: each byte read must be one that its place may have held between the
// post and the completion.
//
// Those are what lay there before anybody wrote, and the bytes of each put there; but not what is
// older than a put that was there for certain when the get was posted, or had to be before it could
// read: one that is known to have landed, or that a fence of the same initiator's lane stands
// behind.
#include <algorithm>

#include "simtest/oracle.hpp"

namespace photon::simtest {

namespace {

bool overlap(const Operation& put, const Operation& get) noexcept {
  const Step& a = *put.step;
  const Step& b = *get.step;
  return put.target() == get.target() && a.area == b.area && put.generation == get.generation &&
         a.offset < b.offset + get.rows().far_span() && b.offset < a.offset + put.rows().far_span();
}

bool covers(const Operation& put, std::uint64_t at) noexcept {
  return put.rows().index_at(at).has_value();
}

}  // namespace

void Oracle::check_read(Operation& get) {
  std::vector<const Operation*> puts;     // latest first: what is read most often
  std::vector<const Operation*> certain;  // were there when it was read
  for (auto put = operations_.rbegin(); put != operations_.rend(); ++put) {
    // What was refused in the end may have begun.
    const bool may_write =
        put->may_fail || (put->accepted && (put->must_fail == PH_OK || put->step->is_partial()));
    if (!is_put(*put->step) || !may_write || !overlap(*put, get)) continue;
    puts.push_back(&*put);
    const bool has_landed = put->landed_at != 0 && put->landed_at < get.posted_at;
    const bool is_fenced =
        put->initiator == get.initiator && put->lane == get.lane && put->fences < get.fences;
    const bool is_sure = !put->may_fail && !put->target_left && put->must_fail == PH_OK;
    if (has_landed || (is_fenced && is_sure)) certain.push_back(&*put);
  }
  const auto is_gone = [&](std::uint32_t number, std::uint64_t at) {
    return std::any_of(certain.begin(), certain.end(), [&](const Operation* put) {
      return covers(*put, at) && number != put->number && (number == 0 || is_older(number, *put));
    });
  };
  const Pattern untouched = memories_[get.target()].untouched(get.step->area, get.generation);
  const std::uint64_t first = get.step->area == Area::window ? RankMemory::kGuardBytes : 0;
  for (std::uint64_t i = 0; i < get.size_bytes(); ++i) {
    const std::uint64_t at = get.rows().far_at(i);
    const std::byte found = get.destination()[get.rows().own_at(i)];
    const bool is_known = std::any_of(puts.begin(), puts.end(), [&](const Operation* put) {
      return covers(*put, at) && !is_gone(put->number, at) &&
             Pattern(Purpose::source, put->number).at(*put->rows().index_at(at)) == found;
    });
    if (is_known || (untouched.at(first + at) == found && !is_gone(0, at))) continue;
    return report("bytes", "byte " + std::to_string(i) + " of " + get.text() +
                               " is none that its place held while it was under way");
  }
}

}  // namespace photon::simtest
