// first-message: rank 1 was silent for long while rank 0 polled and rank 2 talked to it; then
// rank 1 sends one notification and rank 0 replies.
//
//   rank 2 talks with 0 -> sleeps -> rank 1 wakes, waits until 2 is off the core, sends, gets the
//   reply -> rank 2 again
//
// Rank 2 shares rank 1's core, so that rank 0 keeps its own. Every other first message goes without
// the library, through two bare lines, in the same silence: what the machine itself takes when code
// and data are as cold. It is no limit of ours to choose, so it is a row of its own.
//
// In all of that rank 1 was idle, too. Then again with both of them busy:
//
//   ranks 2.. say a word to rank 0 --> ranks 0 and 1 talk to themselves --> rank 0 only polls,
//   rank 1 goes on --> rank 1 sends, gets the reply --> again
//
// What that takes longer than in an exchange is due to the silence between the two alone; here,
// too, every other one goes through the bare lines (which nobody keeps at hand meanwhile, as the
// library does its own). With two ranks this is all that is asked, and nobody takes rank 1's core
// in between. With five or more, rank 0 looks at the rings of others when rank 1 sends, and has to
// be told.
#include <sys/sysinfo.h>

#include <algorithm>

#include "clock.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kTalk = 300;           // round trips of rank 2 before a first message, most
constexpr std::uint64_t kSettle_ns = 100'000;  // rank 2 has left the core by then
constexpr std::uint64_t kNap_ns = 500'000;
constexpr std::uint64_t kSelfTalk = 10'000;       // round trips; more than a ring stays hot
constexpr std::uint64_t kSelfTalkOfSender = 100;  // since its receiver only polls
constexpr std::uint64_t kWarmUps = 100;  // at first, unmeasured: two ranks have not met yet; even
constexpr std::uint64_t kSamplesDefault = 800;
constexpr std::uint64_t kEnd = UINT64_MAX;
constexpr std::uint64_t kApart = 1ull << 40;     // above the samples of the other kind
constexpr std::uint64_t kBare = UINT64_MAX - 1;  // from rank 2: the next comes through a bare line

bool is_bare(std::uint64_t sample) noexcept { return sample % 2 == 0; }

// One request and its reply. One function for all, so that it is as warm as its last use.
[[gnu::noinline]] void call(Bench& bench, Inbox& inbox, ph_rank rank, std::uint64_t id) {
  inbox.post([&] { return ph_notify(bench.job.context(), rank, id); }, "notifying");
  if (inbox.await_remote() != id) throw Failure("a wrong id came back");
}
void call_rank_0(Bench& bench, Inbox& inbox, std::uint64_t id) { call(bench, inbox, 0, id); }

// The same without the library: one line each way.
void call_bare(Bench& bench, std::uint64_t word) {
  auto& first = bench.block.area().first;
  first[0].line.flag.store_release(word);
  spin_until_equal<SpinForm::tight>(first[1].line.flag, word);
}
void reply_bare(Bench& bench, std::uint64_t word) {
  auto& first = bench.block.area().first;
  spin_until_equal<SpinForm::tight>(first[0].line.flag, word);
  first[1].line.flag.store_release(word);
}

// Rank 0: replies to whoever asks until kEnd, which only rank 1 sends.
void serve(Bench& bench) {
  Inbox inbox(bench.job);
  std::uint64_t sample = 0;
  for (bool running = true; running;) {
    bool bare = false;
    inbox.poll([&](const ph_completion& completion) {
      running = running && completion.id != kEnd;
      bare = bare || completion.id == kBare;
      bench.job.check(ph_notify(bench.job.context(), completion.peer, completion.id), "replying");
    });
    if (!bare) continue;
    sample += 2;
    reply_bare(bench, sample);
  }
}

void talk(Bench& bench, std::uint64_t samples) {
  Inbox inbox(bench.job);
  auto& go = bench.block.area().go;
  const auto trips = std::min(kTalk, samples);
  for (std::uint64_t sample = 1; sample <= samples; ++sample) {
    for (std::uint64_t i = 0; i < trips; ++i) call_rank_0(bench, inbox, i);
    if (is_bare(sample)) call_rank_0(bench, inbox, kBare);
    go[0].line.flag.store_release(sample);
    while (go[1].line.flag.load_acquire() != sample) sleep_ns(kNap_ns);
  }
}

// Nanoseconds of round trips, the clock's own cost taken off. Single trips, not batch averages: one
// time slice lost in the long silence between two would spoil a whole batch.
struct Trips {
  std::vector<double> ours_ns;
  std::vector<double> bare_ns;
};

// Rank 1.
Trips first_messages(Bench& bench, std::uint64_t samples) {
  Inbox inbox(bench.job);
  auto& go = bench.block.area().go;
  auto& first = bench.block.area().first;
  const auto clock_ns = clock_cost_ns();
  Trips trips;
  for (std::uint64_t sample = 1; sample <= samples; ++sample) {
    const bool bare = is_bare(sample);
    while (go[0].line.flag.load_acquire() != sample) sleep_ns(kNap_ns / 10);
    const auto settled_ns = now_ns() + kSettle_ns;
    while (now_ns() < settled_ns) {
      if (bare && first[1].line.flag.load_relaxed() == sample)
        throw Failure("rank 0 replied to a message that was not sent");
      if (!bare)
        inbox.poll([](const ph_completion&) { throw Failure("rank 0 spoke out of turn"); });
    }
    const auto start_ns = now_ns();
    if (bare) {
      call_bare(bench, sample);
    } else {
      call_rank_0(bench, inbox, sample);
    }
    (bare ? trips.bare_ns : trips.ours_ns)
        .push_back(static_cast<double>(now_ns() - start_ns) - clock_ns);
    go[1].line.flag.store_release(sample);
  }
  call_rank_0(bench, inbox, kEnd);
  return trips;
}

// Ranks 0 and 1 are silent to each other, and busy with themselves. All others say a word to rank 0
// meanwhile: from three of them on, it looks no longer at rank 1's ring before it is told to.

void serve_apart(Bench& bench, std::uint64_t samples) {
  Inbox inbox(bench.job);
  auto& apart = bench.block.area().apart;
  const auto rank = bench.job.rank();
  for (std::uint64_t sample = 1; sample <= samples; ++sample) {
    apart[0].line.flag.store_release(sample);
    for (auto left = bench.job.size() - 2; left != 0;)
      inbox.poll([&](const ph_completion&) { --left; });
    for (std::uint64_t i = 0; i < kSelfTalk; ++i) call(bench, inbox, rank, i);
    apart[1].line.flag.store_release(sample);
    if (is_bare(sample)) {
      reply_bare(bench, kApart + sample);
      continue;
    }
    const auto id = inbox.await_remote();
    inbox.post([&] { return ph_notify(bench.job.context(), 1, id); }, "replying");
  }
}

Trips first_messages_apart(Bench& bench, std::uint64_t samples) {
  Inbox inbox(bench.job);
  auto& apart = bench.block.area().apart;
  const auto rank = bench.job.rank();
  const auto clock_ns = clock_cost_ns();
  Trips trips;
  for (std::uint64_t sample = 1; sample <= samples; ++sample) {
    while (apart[1].line.flag.load_acquire() != sample) call(bench, inbox, rank, sample);
    for (std::uint64_t i = 0; i < kSelfTalkOfSender; ++i) call(bench, inbox, rank, i);
    const auto start_ns = now_ns();
    if (is_bare(sample)) {
      call_bare(bench, kApart + sample);
    } else {
      call(bench, inbox, 0, sample);
    }
    if (sample <= kWarmUps) continue;
    (is_bare(sample) ? trips.bare_ns : trips.ours_ns)
        .push_back(static_cast<double>(now_ns() - start_ns) - clock_ns);
  }
  return trips;
}

void speak_up(Bench& bench, std::uint64_t samples) {
  Inbox inbox(bench.job);
  auto& apart = bench.block.area().apart;
  for (std::uint64_t sample = 1; sample <= samples; ++sample) {
    while (apart[0].line.flag.load_acquire() != sample) sleep_ns(kNap_ns);
    inbox.post([&] { return ph_notify(bench.job.context(), 0, sample); }, "notifying");
    inbox.poll([](const ph_completion&) { throw Failure("nobody was to speak to this rank"); });
  }
}

// What rank 1 measured, told to rank 0 through its shared cards: enough for the percentiles.
struct Told {
  double min_ns;
  double p50_ns;
  double p99_ns;
};
struct All {
  Told ours;
  Told bare;
  Told apart;
  Told apart_bare;
};

Told told_of(const std::vector<double>& trips_ns) {
  const auto latency = summarize(trips_ns);
  if (!latency) return {};
  return {latency->min_ns, latency->p50_ns, latency->p99_ns};
}

All round_trips(Bench& bench, Team& team, std::uint64_t samples) {
  All all{};
  const bool is_third = bench.job.size() > 2;
  if (bench.job.rank() == 0) {
    if (is_third) serve(bench);
    serve_apart(bench, 2 * samples + kWarmUps);
  } else {
    const auto trips = is_third ? first_messages(bench, 2 * samples) : Trips{};
    const auto apart_trips = first_messages_apart(bench, 2 * samples + kWarmUps);
    all = {told_of(trips.ours_ns), told_of(trips.bare_ns), told_of(apart_trips.ours_ns),
           told_of(apart_trips.bare_ns)};
  }
  team.exchange(all);
  return team.card_of<All>(1);
}

}  // namespace

void ask_first_message(Bench& bench) {
  // The third rank would share the receiver's core, and every one of its messages wait for that.
  if (bench.processors.count() == 1 && ::get_nprocs() > 1)
    throw Failure("first-message places its ranks itself, on two cores: run it without --bind");
  const auto rank = bench.job.rank();
  // Of each kind.
  const auto samples = bench.options.iterations == 0 ? kSamplesDefault : bench.options.iterations;
  if (rank >= 2) {
    bench.processors.bind(1);
    if (rank == 2) talk(bench, 2 * samples);
    return speak_up(bench, 2 * samples + kWarmUps);
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
  const auto& [ours, bare, apart, apart_bare] = trip;
  add("busy, half trip", {apart.min_ns / 2, apart.p50_ns / 2, apart.p99_ns / 2});
  add("busy, no library, half trip",
      {apart_bare.min_ns / 2, apart_bare.p50_ns / 2, apart_bare.p99_ns / 2});
  if (bench.job.size() == 2) return;
  add("first, half trip", {ours.min_ns / 2, ours.p50_ns / 2, ours.p99_ns / 2});
  const auto less_reply = [&](double trip_ns) { return std::max(trip_ns - warm_ns, 0.0); };
  add("first, less reply",
      {less_reply(ours.min_ns), less_reply(ours.p50_ns), less_reply(ours.p99_ns)});
  add("no library, half trip", {bare.min_ns / 2, bare.p50_ns / 2, bare.p99_ns / 2});
}

}  // namespace photon::perf
