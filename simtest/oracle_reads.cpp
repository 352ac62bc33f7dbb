// Gets of memory that changes: each byte read must be one that its place may have held between the
// post and the completion.
//
// Those are what lay there before anybody wrote, and the bytes of each put there; but not what is
// older than a put that was there for certain when the get was posted, or had to be before it could
// read: one that is known to have landed, or that a fence of the same initiator stands behind.
#include <algorithm>

#include "simtest/oracle.hpp"

namespace photon::simtest {

namespace {

bool overlap(const Operation& put, const Operation& get) noexcept {
  const Step& a = *put.step;
  const Step& b = *get.step;
  return put.target() == get.target() && a.area == b.area && put.generation == get.generation &&
         a.offset < b.offset + b.size_bytes && b.offset < a.offset + a.size_bytes;
}

bool covers(const Operation& put, std::uint64_t at) noexcept {
  return at >= put.step->offset && at < put.step->offset + put.size_bytes();
}

}  // namespace

void Oracle::check_read(Operation& get) {
  std::vector<const Operation*> puts;     // latest first: what is read most often
  std::vector<const Operation*> certain;  // were there when it was read
  for (auto put = operations_.rbegin(); put != operations_.rend(); ++put) {
    // What was refused in the end may have begun.
    const bool may_write = put->may_fail || (put->accepted && put->must_fail == PH_OK);
    if (!is_put(*put->step) || !may_write || !overlap(*put, get)) continue;
    puts.push_back(&*put);
    const bool has_landed = put->landed_at != 0 && put->landed_at < get.posted_at;
    const bool is_fenced = put->initiator == get.initiator && put->fences < get.fences;
    if (has_landed || (is_fenced && !put->may_fail && !put->target_left)) certain.push_back(&*put);
  }
  const auto is_gone = [&](std::uint32_t number, std::uint64_t at) {
    return std::any_of(certain.begin(), certain.end(), [&](const Operation* put) {
      return covers(*put, at) && number != put->number && (number == 0 || is_older(number, *put));
    });
  };
  const Pattern untouched = memories_[get.target()].untouched(get.step->area, get.generation);
  const std::uint64_t first = get.step->area == Area::window ? RankMemory::kGuardBytes : 0;
  for (std::uint64_t i = 0; i < get.size_bytes(); ++i) {
    const std::uint64_t at = get.step->offset + i;
    const std::byte found = get.destination()[i];
    const bool is_known = std::any_of(puts.begin(), puts.end(), [&](const Operation* put) {
      return covers(*put, at) && !is_gone(put->number, at) &&
             Pattern(Purpose::source, put->number).at(at - put->step->offset) == found;
    });
    if (is_known || (untouched.at(first + at) == found && !is_gone(0, at))) continue;
    return report("bytes", "byte " + std::to_string(i) + " of " + get.text() +
                               " is none that its place held while it was under way");
  }
}

}  // namespace photon::simtest
