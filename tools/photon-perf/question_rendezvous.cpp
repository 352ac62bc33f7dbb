// rendezvous-latency: from the announcement of a buffer until its owner hears that it is full.
//
// Index 0 announces and waits; index 1 waits for the buffer, puts into it and finishes it. The
// least that takes is the put itself and two messages, the announcement and the finish; the bar is
// the put and three.
#include <algorithm>
#include <cstring>

#include "checksum.hpp"
#include "clock.hpp"
#include "contents.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kTag = 1;
constexpr double kMessages = 3;  // of the bar

void announce_and_wait(const Link& link) {
  ph_request request = PH_REQUEST_NONE;
  ph_announce_args args{};
  args.size = sizeof args;
  args.kind = PH_RECV_BUFFER;
  args.tag = kTag;
  args.buffer = link.landing(0);
  args.size_bytes = link.size_bytes();
  args.request = &request;
  const Job& job = link.job();
  job.check(ph_announce(job.context(), link.peer(), &args), "announcing");
  job.check(ph_wait_request(job.context(), &request, nullptr, PH_FOREVER), "awaiting the finish");
}

void fill_one(Link& link) {
  const Job& job = link.job();
  const ph_match match{PH_RECV_BUFFER, link.peer(), kTag, link.size_bytes()};
  ph_buffer buffer{};
  job.check(ph_wait_buffer(job.context(), &match, &buffer, PH_FOREVER), "awaiting a buffer");
  ph_put_args args{};
  args.size = sizeof args;
  args.source = link.source(0);
  args.size_bytes = link.size_bytes();
  args.flags = PH_NO_LCE | PH_NO_RCE;
  link.inbox().post([&] { return ph_put_buffer(job.context(), &buffer, 0, &args); }, "putting");
  link.inbox().post([&] { return ph_finish(job.context(), &buffer); }, "finishing");
}

Outcome rendezvous(Link& link, std::uint64_t count) {
  const bool owns = link.team().index() == 0;
  if (owns) std::memset(link.landing(0), 0, link.size_bytes());
  link.team().barrier();
  Outcome outcome;
  const auto batches = batches_for(count);
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i)
      owns ? announce_and_wait(link) : fill_one(link);
    if (owns)
      outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                   static_cast<double>(batches.each));
  }
  if (owns) expect_checksum(link.buffers(), checksum_of(link.landing(0), link.size_bytes()), 1);
  link.part();
  return outcome;
}

// There and back: a notification, answered by a put into the same place, which nobody reads.
Outcome ask_and_put(Link& link, std::uint64_t count) {
  const bool asks = link.team().index() == 0;
  link.team().barrier();
  Outcome outcome;
  const auto batches = batches_for(count);
  const auto locals_before = link.inbox().locals();
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) {
      if (asks) link.inbox().post([&] { return link.notify(i); }, "asking");
      if (link.inbox().await_remote() != i) throw Failure("an id arrived out of order");
      if (!asks) link.inbox().post([&] { return link.put(link.source(0), 0, {i, i}); }, "putting");
    }
    if (asks)
      outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                   static_cast<double>(batches.each));
  }
  if (!asks) link.inbox().await_locals(locals_before + batches.total());
  link.part();
  return outcome;
}

// Our own put of that size, and three notifications: one is in the round trip.
Outcome put_and_messages(Link& link, Link& notices, std::uint64_t count) {
  const Outcome messages = ping_pong(notices, std::max<std::uint64_t>(count, kBatch));
  Outcome outcome = ask_and_put(link, count);
  if (link.team().index() != 0) return outcome;
  const double two_ns = (kMessages - 1) * figure_of(messages, Unit::nanoseconds, 0);
  for (double& batch_ns : outcome.batches_ns) batch_ns += two_ns;
  return outcome;
}

}  // namespace

void ask_rendezvous_latency(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  for (const auto size_bytes : sizes_or(bench.options, {8, 4096, 1U << 20})) {
    Link link(bench, team, {bench.options.memory, size_bytes});
    Link notices(bench, team, {bench.options.memory, 0});
    Contest contest;
    contest.size_bytes = size_bytes;
    contest.limits = {{"our put and three notifications", [&](std::uint64_t count) {
                         return put_and_messages(link, notices, count);
                       }}};
    contest.ours = {"announce, put, finish",
                    [&](std::uint64_t count) { return rendezvous(link, count); }};
    const auto verdict = compete(team, contest, bench.options.iterations);
    bench.report.add(row_of(bench, contest, verdict, link));
  }
}

}  // namespace photon::perf
