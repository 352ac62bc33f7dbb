// service-latency: half of the time from a message of 8 bytes to a service until its answer, with
// the library's echo; its limit is a put whose remote id triggers the reply (put-latency).
//
// service-rate: messages of 8 bytes a second to a handler, which runs when the lane was given up;
// its limit are puts whose ids are probed in batches (put-rate).
#include <photon/echo.h>

#include "clock.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

// The other side is asked while it waits for our end.
Outcome echo_each(Link& link, std::uint64_t count) {
  Outcome outcome;
  ph_context* const context = link.job().context();
  if (link.team().index() == 0) {
    const auto batches = batches_for(count);
    std::uint64_t value = 0;
    for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
      const auto start_ns = now_ns();
      for (std::uint64_t i = 0; i < batches.each; ++i) {
        link.job().check(ph_echo(context, link.peer(), ++value), "asking");
        ph_echo_result result{};
        ph_status status = PH_AGAIN;
        while ((status = ph_echo_answer(context, &result)) == PH_AGAIN) {
        }
        link.job().check(status, "an answer");
        if (result.status != PH_OK || result.value != value) throw Failure("a wrong answer");
      }
      outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                   static_cast<double>(2 * batches.each));
    }
  }
  link.part();
  return outcome;
}

struct HeardSoFar {
  std::uint64_t count = 0;
  bool in_order = true;
};

void count_told(void* user, ph_rank, std::uint64_t value) {
  HeardSoFar& told = *static_cast<HeardSoFar*>(user);
  told.in_order = told.in_order && value == told.count;
  ++told.count;
}

Outcome tell_stream(Link& link, std::uint64_t count) {
  Outcome outcome;
  HeardSoFar told;
  ph_context* const context = link.job().context();
  link.job().check(ph_echo_listen(context, count_told, &told), "listening");
  link.team().barrier();
  const auto start_ns = now_ns();
  if (link.team().index() == 0) {
    for (std::uint64_t value = 0; value < count; ++value)
      link.inbox().post([&] { return ph_echo_tell(context, link.peer(), value); }, "telling");
  } else {
    while (told.count < count)
      link.inbox().poll([](const ph_completion&) { throw Failure("an id that nobody sent"); });
    if (!told.in_order) throw Failure("messages came out of order");
  }
  link.part();
  outcome.per_second = static_cast<double>(count) * 1e9 / static_cast<double>(now_ns() - start_ns);
  link.job().check(ph_echo_listen(context, nullptr, nullptr), "listening no more");
  return outcome;
}

template <class Fill>
void ask_service(Bench& bench, Unit unit, Fill fill) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  Link link(bench, team, {bench.options.memory, kWordBytes, kRingSlots, true});
  Contest contest;
  contest.unit = unit;
  contest.size_bytes = kWordBytes;
  fill(contest, link);
  const auto verdict = compete(team, contest, bench.options.iterations);
  bench.report.add(row_of(bench, contest, verdict, link));
}

}  // namespace

void ask_service_latency(Bench& bench) {
  ask_service(bench, Unit::nanoseconds, [](Contest& contest, Link& link) {
    contest.limits = {{"ph_put_u64", [&](std::uint64_t count) { return ping_pong(link, count); }}};
    contest.ours = {"echo", [&](std::uint64_t count) { return echo_each(link, count); }};
  });
}

void ask_service_rate(Bench& bench) {
  ask_service(bench, Unit::per_second, [](Contest& contest, Link& link) {
    contest.limits = {{"ph_put_u64", [&](std::uint64_t count) {
                         return put_stream(link, count, kCreditInterval);
                       }}};
    contest.ours = {"handler", [&](std::uint64_t count) { return tell_stream(link, count); }};
  });
}

}  // namespace photon::perf
