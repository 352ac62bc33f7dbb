// Limits of latencies: two-line ping-pong, put+flag with copy-out.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "checksum.hpp"
#include "clock.hpp"
#include "limits.hpp"

namespace photon::perf {
namespace {

constexpr std::size_t kInlineBytes = 32;  // payload that travels in the flag's line

// Runs `round` on both members, kBatch times a batch; index 0 gets one-way batch averages. Flags
// count up from 1, after a reset that both have seen.
template <class Round>
Outcome ping_pong(Team& team, std::uint64_t round_trips, Round round) {
  auto& area = team.area();
  if (team.index() == 0) {
    for (auto& lone : area.ping) lone.line.flag.store_release(0);
  }
  team.barrier();
  Outcome outcome;
  std::uint64_t sequence = 0;
  const auto batches = batches_for(round_trips);
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) round(++sequence);
    const auto elapsed_ns = static_cast<double>(now_ns() - start_ns);
    if (team.index() == 0)
      outcome.batches_ns.push_back(elapsed_ns / static_cast<double>(2 * batches.each));
  }
  team.barrier();
  return outcome;
}

template <SpinForm form>
Outcome two_line(Team& team, const Buffers& buffers, std::uint64_t round_trips) {
  auto& out = team.area().ping[team.index()].line;
  const auto& in = team.area().ping[team.other()].line;
  const auto words_count = (buffers.size_bytes + 7) / 8;
  std::uint64_t source[kInlineBytes / 8] = {};
  if (buffers.size_bytes > 0) std::memcpy(source, buffers.source, buffers.size_bytes);
  std::uint64_t sum = 0;
  const auto send = [&](std::uint64_t sequence) {
    for (std::size_t i = 0; i < words_count; ++i) out.words[i] = source[i];
    out.flag.store_release(sequence);
  };
  const auto receive = [&](std::uint64_t sequence) {
    spin_until_equal<form>(in.flag, sequence);
    for (std::size_t i = 0; i < words_count; ++i) sum += in.words[i];
  };
  const bool first = team.index() == 0;
  auto outcome = ping_pong(team, round_trips, [&](std::uint64_t sequence) {
    if (first) send(sequence);
    receive(sequence);
    if (!first) send(sequence);
  });
  expect_checksum(buffers, sum, batches_for(round_trips).total());
  return outcome;
}

enum class CopyOut : std::uint8_t { fused, copy_then_sum, in_place };

template <SpinForm form, CopyOut copy>
Outcome put_and_flag(Team& team, const Buffers& buffers, std::uint64_t round_trips) {
  auto& out_flag = team.area().ping[team.index()].line.flag;
  const auto& in_flag = team.area().ping[team.other()].line.flag;
  const auto size_bytes = buffers.size_bytes;
  auto* out = team.data().data() + team.index() * size_bytes;
  const auto* in = team.data().data() + team.other() * size_bytes;
  auto* landing = buffers.landing[0];
  std::uint64_t sum = 0;
  const auto send = [&](std::uint64_t sequence) {
    std::memcpy(out, buffers.source, size_bytes);
    out_flag.store_release(sequence);
  };
  const auto receive = [&](std::uint64_t sequence) {
    spin_until_equal<form>(in_flag, sequence);
    if constexpr (copy == CopyOut::fused) {
      sum += copy_and_checksum(landing, in, size_bytes);
    } else if constexpr (copy == CopyOut::copy_then_sum) {
      std::memcpy(landing, in, size_bytes);
      sum += checksum_of(landing, size_bytes);
    } else {
      sum += checksum_of(in, size_bytes);
    }
  };
  const bool first = team.index() == 0;
  auto outcome = ping_pong(team, round_trips, [&](std::uint64_t sequence) {
    if (first) send(sequence);
    receive(sequence);
    if (!first) send(sequence);
  });
  expect_checksum(buffers, sum, batches_for(round_trips).total());
  return outcome;
}

template <SpinForm form>
void add_forms(std::vector<Entry>& entries, Team& team, const Buffers& buffers) {
  if (buffers.size_bytes <= kInlineBytes) {
    entries.push_back({"two-line ping-pong",
                       [&](std::uint64_t count) { return two_line<form>(team, buffers, count); }});
    return;
  }
  entries.push_back({"put+flag, copy-out", [&](std::uint64_t count) {
                       return put_and_flag<form, CopyOut::fused>(team, buffers, count);
                     }});
  entries.push_back({"put+flag, copy-out", [&](std::uint64_t count) {
                       return put_and_flag<form, CopyOut::copy_then_sum>(team, buffers, count);
                     }});
}

template <SpinForm form>
Entry in_place(Team& team, const Buffers& buffers) {
  return {"put+flag, read in place", [&](std::uint64_t count) {
            return put_and_flag<form, CopyOut::in_place>(team, buffers, count);
          }};
}

}  // namespace

double ping_pong_ns(Team& team, std::uint64_t round_trips) {
  const Buffers empty;
  double best_ns = 0;
  for (const auto& entry : latency_limits(team, empty)) {
    for (int i = 0; i < 3; ++i) {
      const auto latency = summarize(entry.run(round_trips).batches_ns);
      if (latency && (best_ns == 0 || latency->p50_ns < best_ns)) best_ns = latency->p50_ns;
    }
  }
  return best_ns;
}

std::vector<Entry> latency_limits(Team& team, const Buffers& buffers) {
  std::vector<Entry> entries;
  add_forms<SpinForm::tight>(entries, team, buffers);
  add_forms<SpinForm::pause>(entries, team, buffers);
  add_forms<SpinForm::relaxed>(entries, team, buffers);
  return entries;
}

std::vector<Entry> in_place_limits(Team& team, const Buffers& buffers) {
  return {in_place<SpinForm::tight>(team, buffers), in_place<SpinForm::pause>(team, buffers),
          in_place<SpinForm::relaxed>(team, buffers)};
}

}  // namespace photon::perf
