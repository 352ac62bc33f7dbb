// Limits of latencies: two-line ping-pong, put+flag with copy-out, and all other means.
#include <cstring>

#include "checksum.hpp"
#include "contents.hpp"
#include "limits.hpp"
#include "means.hpp"
#include "ping_pong.hpp"

namespace photon::perf {
namespace {

constexpr std::size_t kInlineBytes = 32;     // payload that travels in the flag's line
constexpr std::size_t kSpinBytes = 8 << 10;  // up to here, how a flag is awaited is, too
constexpr std::size_t kMeansBytes = 512;     // from here on, how bytes are copied is worth asking

void lower_flags(Team& team) {
  if (team.index() == 0) {
    for (auto& lone : team.area().ping) lone.line.flag.store_release(0);
    for (auto& area : team.area().means) area.rewriting_ns.line.flag.store_release(0);
  }
  team.barrier();
}

template <SpinForm form>
Outcome two_line(Team& team, const Buffers& buffers, std::uint64_t round_trips) {
  auto& out = team.area().ping[team.index()].line;
  const auto& in = team.area().ping[team.other()].line;
  const auto words_count = (buffers.size_bytes + 7) / 8;
  std::uint64_t source[kInlineBytes / 8] = {};
  if (buffers.size_bytes > 0) std::memcpy(source, buffers.source, buffers.size_bytes);
  Contents contents(buffers, team.index());
  lower_flags(team);
  auto outcome = half_trips(team, contents, round_trips,
                            PingPong{[&](std::uint64_t number) {
                                       contents.write(reinterpret_cast<std::byte*>(source), number);
                                     },
                                     [&](std::uint64_t number) {
                                       for (std::size_t i = 0; i < words_count; ++i)
                                         out.words[i] = source[i];
                                       out.flag.store_release(number);
                                     },
                                     [&](std::uint64_t number) {
                                       spin_until_equal<form>(in.flag, number);
                                       std::uint64_t sum = 0;
                                       for (std::size_t i = 0; i < words_count; ++i)
                                         sum += in.words[i];
                                       contents.take(sum, number);
                                     }});
  team.barrier();
  contents.expect_all(batches_for(round_trips).total());
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
  Contents contents(buffers, team.index());
  lower_flags(team);
  auto outcome =
      half_trips(team, contents, round_trips,
                 PingPong{[&](std::uint64_t number) { contents.write(buffers.source, number); },
                          [&](std::uint64_t number) {
                            std::memcpy(out, buffers.source, size_bytes);
                            out_flag.store_release(number);
                          },
                          [&](std::uint64_t number) {
                            spin_until_equal<form>(in_flag, number);
                            if constexpr (copy == CopyOut::fused) {
                              contents.take(copy_and_checksum(landing, in, size_bytes), number);
                            } else if constexpr (copy == CopyOut::copy_then_sum) {
                              std::memcpy(landing, in, size_bytes);
                              contents.read(landing, number);
                            } else {
                              contents.read(in, number);
                            }
                          }});
  team.barrier();
  contents.expect_all(batches_for(round_trips).total());
  return outcome;
}

// By any means, each message from the same source into the same landing.
template <SpinForm form>
Outcome by_means(Team& team, const Buffers& buffers, const Means& means,
                 std::uint64_t round_trips) {
  Channel out(team, buffers, {team.index(), 1, form});
  Channel in(team, buffers, {team.other(), 1, form});
  Contents contents(buffers, team.index());
  begin(team, means, out);
  auto outcome = half_trips(
      team, contents, round_trips,
      PingPong{[&](std::uint64_t number) { contents.write((out.*means.source)(number), number); },
               [&](std::uint64_t number) { means.send(out, number); },
               [&](std::uint64_t number) {
                 means.receive(in, number);
                 contents.read((in.*means.landing)(number), number);
               }});
  team.barrier();
  contents.expect_all(batches_for(round_trips).total());
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
void add_means(std::vector<Entry>& entries, Team& team, const Buffers& buffers,
               const std::vector<Means>& all) {
  for (auto& entry : entries_of(all, [&](const Means& means, std::uint64_t count) {
         return by_means<form>(team, buffers, means, count);
       })) {
    entries.push_back(std::move(entry));
  }
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

std::vector<Entry> latency_limits(Team& team, const Buffers& buffers, MemoryKind kind) {
  auto entries = latency_limits(team, buffers);
  if (buffers.size_bytes < kMeansBytes) return entries;
  const auto all = means_for(team, buffers, kind);
  add_means<SpinForm::tight>(entries, team, buffers, all);
  if (buffers.size_bytes > kSpinBytes) return entries;
  add_means<SpinForm::pause>(entries, team, buffers, all);
  add_means<SpinForm::relaxed>(entries, team, buffers, all);
  return entries;
}

std::vector<Entry> in_place_limits(Team& team, const Buffers& buffers) {
  return {in_place<SpinForm::tight>(team, buffers), in_place<SpinForm::pause>(team, buffers),
          in_place<SpinForm::relaxed>(team, buffers)};
}

}  // namespace photon::perf
