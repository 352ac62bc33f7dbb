// Limits of small collective operations: lines that hold a flag and a block, and turns of yielding.
#include <cstring>

#include "coll_rounds.hpp"
#include "limit_coll.hpp"
#include "means.hpp"

namespace photon::perf {
namespace {

void put_line(Line& line, const double* from, std::uint64_t count, std::uint64_t number) noexcept {
  for (std::uint64_t i = 0; i < count; ++i) std::memcpy(&line.words[i], from + i, sizeof(double));
  line.flag.store_release(number);
}

void get_line(const Line& line, double* to, std::uint64_t count) noexcept {
  for (std::uint64_t i = 0; i < count; ++i) std::memcpy(to + i, &line.words[i], sizeof(double));
}

// This member's output, when the other one's block is in `theirs`; it may be null: none came.
void make_output(const CollData& data, std::uint32_t other, const Line* theirs) noexcept {
  const auto self = data.member();
  const auto count = data.count();
  const auto& kind = data.kind();
  if (kind.out.blocks_at(self, 2) == 0) return;
  const double* const mine = data.in_for(self);
  if (kind.sources == CollSources::block) {
    for (std::uint64_t i = 0; i < count; ++i) data.out_of(self)[i] = mine[i];
    return get_line(*theirs, data.out_of(other), count);
  }
  double* const out = data.out();
  if (theirs != nullptr) get_line(*theirs, out, count);
  const bool adds_own = kind.sources == CollSources::all || kind.sources == CollSources::up_to_self;
  if (theirs == nullptr) {  // the root of a way from it
    for (std::uint64_t i = 0; i < count; ++i) out[i] = mine[i];
  } else if (adds_own) {
    for (std::uint64_t i = 0; i < count; ++i) out[i] += mine[i];
  }
}

void lower_lines(Team& team) noexcept {
  if (team.index() == 0) {
    for (auto& line : team.area().slots) line.flag.store_release(0);
    team.area().credit.line.flag.store_release(0);
  }
  begin(team);
}

// Two lines each way in turns: who writes the next but one has read an answer to the last.
template <SpinForm form>
Outcome lines_both_ways(Team& team, CollData& data, std::uint64_t count) {
  auto& out = team.area().means[team.index()].arrived;
  auto& in = team.area().means[team.other()].arrived;
  lower_lines(team);
  return coll_rounds(team, data, count, [&](std::uint64_t number) {
    auto& line = in[number % 2].line;
    put_line(out[number % 2].line, data.in_for(team.other()),
             data.kind().in.blocks == CollBlocks::none ? 0 : data.count(), number);
    spin_until_equal<form>(line.flag, number);
    make_output(data, team.other(), &line);
  });
}

// A ring of lines one way, whose reader gives credit now and then.
template <SpinForm form>
Outcome lines_one_way(Team& team, CollData& data, std::uint64_t count) {
  auto& area = team.area();
  auto& credit = area.credit.line.flag;
  const std::uint32_t sender = data.kind().way == CollWay::from_root ? 0 : 1;
  std::uint64_t read = 0;
  lower_lines(team);
  return coll_rounds(team, data, count, [&](std::uint64_t number) {
    auto& line = area.slots[number % kRingSlots];
    if (team.index() == sender) {
      if (number > read + kRingSlots) {
        spin_until_at_least<form>(credit, number - kRingSlots);
        read = credit.load_acquire();
      }
      put_line(line, data.in_for(team.other()), data.count(), number);
      return make_output(data, team.other(), nullptr);
    }
    spin_until_equal<form>(line.flag, number);
    make_output(data, team.other(), &line);
    if (number % kCreditInterval == 0) credit.store_release(number);
  });
}

template <SpinForm form>
Entry lines_entry(Team& team, CollData& data) {
  if (data.kind().way == CollWay::both)
    return {"two flag lines",
            [&](std::uint64_t count) { return lines_both_ways<form>(team, data, count); }};
  return {"ring of flag lines",
          [&](std::uint64_t count) { return lines_one_way<form>(team, data, count); }};
}

}  // namespace

std::vector<Entry> coll_line_limits(Team& team, CollData& data) {
  if (team.count() != 2 || data.size_bytes() > kCollLineBytes) return {};
  return {lines_entry<SpinForm::tight>(team, data), lines_entry<SpinForm::pause>(team, data),
          lines_entry<SpinForm::relaxed>(team, data)};
}

Entry coll_turn_limit(Team& team) {
  return {"a turn of sched_yield", [&](std::uint64_t count) {
            const auto samples = coll_samples(count, false);
            SpanBook book(team, samples.each, clock_cost_ns());
            for (std::uint64_t sample = 0; sample < samples.count; ++sample) {
              coll_meet(team);
              CollSpan span{now_ns(), 0};
              for (std::uint64_t i = 0; i < samples.each; ++i) sched_yield();
              span.end_ns = now_ns();
              book.add(span);
            }
            return book.close();
          }};
}

}  // namespace photon::perf
