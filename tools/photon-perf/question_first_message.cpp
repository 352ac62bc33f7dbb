// first-message: rank 1 was silent for long while rank 0 polled and rank 2 talked to it; then
// rank 1 sends one notification and rank 0 replies.
//
//   rank 2 talks with 0 -> sleeps -> rank 1 wakes, waits until 2 is off the core, sends, gets the
//   reply -> rank 2 again
//
// Rank 2 shares rank 1's core, so that rank 0 keeps its own.
#include <algorithm>

#include "clock.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kTalk = 300;           // round trips of rank 2 before a first message, most
constexpr std::uint64_t kSettle_ns = 100'000;  // rank 2 has left the core by then
constexpr std::uint64_t kNap_ns = 500'000;
constexpr std::uint64_t kSamplesDefault = 800;
constexpr std::uint64_t kEnd = UINT64_MAX;

// One request and its reply, from ranks 1 and 2.
void call_rank_0(Bench& bench, Inbox& inbox, std::uint64_t id) {
  inbox.post([&] { return ph_notify(bench.job.context(), 0, id); }, "notifying");
  if (inbox.await_remote() != id) throw Failure("rank 0 replied with a wrong id");
}

// Rank 0: replies to whoever asks until kEnd, which only rank 1 sends.
void serve(Bench& bench) {
  Inbox inbox(bench.job);
  for (bool running = true; running;) {
    inbox.poll([&](const ph_completion& completion) {
      running = running && completion.id != kEnd;
      bench.job.check(ph_notify(bench.job.context(), completion.peer, completion.id), "replying");
    });
  }
}

void talk(Bench& bench, std::uint64_t samples) {
  Inbox inbox(bench.job);
  auto& go = bench.block.area().go;
  const auto trips = std::min(kTalk, samples);
  for (std::uint64_t sample = 1; sample <= samples; ++sample) {
    for (std::uint64_t i = 0; i < trips; ++i) call_rank_0(bench, inbox, i);
    go[0].line.flag.store_release(sample);
    while (go[1].line.flag.load_acquire() != sample) sleep_ns(kNap_ns);
  }
}

// Rank 1: nanoseconds of each round trip, the clock's own cost taken off. Single trips, not batch
// averages: one time slice lost in the long silence between two would spoil a whole batch.
std::vector<double> first_messages(Bench& bench, std::uint64_t samples) {
  Inbox inbox(bench.job);
  auto& go = bench.block.area().go;
  const auto clock_ns = static_cast<double>(clock_cost_ns());
  std::vector<double> trips_ns;
  for (std::uint64_t sample = 1; sample <= samples; ++sample) {
    while (go[0].line.flag.load_acquire() != sample) sleep_ns(kNap_ns / 10);
    const auto settled_ns = now_ns() + kSettle_ns;
    while (now_ns() < settled_ns) {
      inbox.poll([](const ph_completion&) { throw Failure("rank 0 spoke out of turn"); });
    }
    const auto start_ns = now_ns();
    call_rank_0(bench, inbox, sample);
    trips_ns.push_back(static_cast<double>(now_ns() - start_ns) - clock_ns);
    go[1].line.flag.store_release(sample);
  }
  call_rank_0(bench, inbox, kEnd);
  return trips_ns;
}

// What rank 1 measured, told to rank 0 through its shared cards: enough for the percentiles.
struct Told {
  double min_ns;
  double p50_ns;
  double p99_ns;
};

Latency round_trips(Bench& bench, Team& team, std::uint64_t samples) {
  Told told{};
  if (bench.job.rank() == 0) {
    serve(bench);
  } else {
    const auto latency = summarize(first_messages(bench, samples));
    if (latency) told = {latency->min_ns, latency->p50_ns, latency->p99_ns};
  }
  team.exchange(told);
  told = team.card_of<Told>(1);
  return {told.min_ns, told.p50_ns, told.p99_ns};
}

}  // namespace

void ask_first_message(Bench& bench) {
  const auto rank = bench.job.rank();
  const auto samples = bench.options.iterations == 0 ? kSamplesDefault : bench.options.iterations;
  if (rank > 2) return;
  if (rank == 2) {
    bench.processors.bind(1);
    return talk(bench, samples);
  }
  Team team(bench.block, Team::Scope::pair, rank, 2);
  const auto trip = round_trips(bench, team, samples);
  // The reply comes by a path that is warm or not as in any exchange; the first message is charged
  // all but one warm one-way.
  Link link(bench, team, {bench.options.memory, 0});
  Contest contest;
  contest.limits = latency_limits(team, link.buffers());
  contest.ours = {"warm", [&](std::uint64_t count) { return ping_pong(link, count); }};
  const auto verdict = compete(team, contest, bench.options.iterations);
  auto row = row_of(bench, contest, verdict, link);
  row.memory.clear();
  bench.report.add(row);
  const double warm_ns = row.latency ? row.latency->p50_ns : 0;
  const auto add = [&](const char* mode, const Latency& latency) {
    row.mode = mode;
    row.iterations = samples;
    row.latency = latency;
    row.limit_ratio = row.limit ? std::optional(latency.p50_ns / *row.limit) : std::nullopt;
    bench.report.add(row);
  };
  add("first, half trip", {trip.min_ns / 2, trip.p50_ns / 2, trip.p99_ns / 2});
  const auto less_reply = [&](double trip_ns) { return std::max(trip_ns - warm_ns, 0.0); };
  add("first, less reply",
      {less_reply(trip.min_ns), less_reply(trip.p50_ns), less_reply(trip.p99_ns)});
}

}  // namespace photon::perf
