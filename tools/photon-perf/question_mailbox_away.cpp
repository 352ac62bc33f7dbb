// mailbox-away: messages of 64 KiB to a receiver that makes no call meanwhile, into buffers that it
// has granted ahead (PH_MAILBOX_GRANT_AHEAD); and from its first call until it has taken all of
// them. The limit of the first is a loop of puts without notifications to the same memory.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "clock.hpp"
#include "mails.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kAwayAddress = 0x61776179;
constexpr std::size_t kAway_bytes = std::size_t{64} << 10;
constexpr std::uint64_t kAwayCount = 1'000;
constexpr double kAwayBar_ns = 5'000'000;
constexpr std::byte kAwayByte{0x5a};

// Each message holds one of `requests` until it is counted, each granted buffer one of
// `max_regions`; some of both are left to others.
std::uint64_t away_count(const Bench& bench) {
  const std::uint64_t wanted =
      bench.options.iterations == 0 ? kAwayCount : bench.options.iterations;
  const auto half = [&](const char* name) {
    return std::stoull(bench.job.setting(name, "64")) / 2;
  };
  return std::max<std::uint64_t>(
      1, std::min<std::uint64_t>({wanted, half("requests"), half("max_regions")}));
}

ph_mailbox open_granting(const Job& job) {
  ph_mailbox_args args{};
  args.size = sizeof args;
  args.address = kAwayAddress;
  args.threshold = 1;
  args.unit = PH_MAILBOX_OPERATIONS;
  args.flags = PH_MAILBOX_GRANT_AHEAD;
  args.source = 1;
  ph_mailbox box{};
  job.check(ph_mailbox_open(job.context(), &args, &box), "opening a mailbox");
  return box;
}

// Nanoseconds for all puts, to the same memory.
double put_away(Link& link, std::uint64_t count) {
  const Job& job = link.job();
  const std::uint64_t before = link.inbox().locals();
  const auto start_ns = now_ns();
  for (std::uint64_t i = 0; i < count; ++i) {
    ph_put_args args{};
    args.size = sizeof args;
    args.target = link.place(i);
    args.source = link.source(0);
    args.size_bytes = kAway_bytes;
    args.flags = PH_NO_RCE;
    link.inbox().post([&] { return ph_put(job.context(), link.peer(), &args); }, "a put");
  }
  while (link.inbox().locals() - before < count) link.inbox().poll([](const ph_completion&) {});
  return static_cast<double>(now_ns() - start_ns);
}

ph_status send_away(Link& link) {
  ph_mailbox_put_args args{};
  args.size = sizeof args;
  args.address = kAwayAddress;
  args.source = link.source(0);
  args.size_bytes = kAway_bytes;
  args.epoch = PH_ANY_EPOCH;
  return ph_mailbox_put(link.job().context(), link.peer(), &args);
}

// Nanoseconds for all messages that could be sent while their receiver makes no call.
double mail_away(Link& link, std::uint64_t count, std::uint64_t& sent) {
  const auto start_ns = now_ns();
  for (sent = 0; sent < count; ++sent) {
    const ph_status status = send_away(link);
    if (status == PH_AGAIN) break;
    link.job().check(status, "a message");
  }
  return static_cast<double>(now_ns() - start_ns);
}

// Figures that the source tells the receiver by its ids.
struct AwayFigures {
  std::uint64_t sent = 0;
  std::uint64_t mail_ns = 0;
  std::uint64_t put_ns = 0;
};

void ask_away_source(Link& link, std::uint64_t count) {
  std::fill_n(link.source(0), kAway_bytes, kAwayByte);
  put_away(link, count);  // all pages are there then
  const double put_ns = put_away(link, count);
  link.part();
  link.part();  // the grants come meanwhile
  std::uint64_t sent = 0;
  const std::uint64_t before = link.inbox().locals();
  const double mail_ns = mail_away(link, count, sent);
  link.team().barrier();
  for (std::uint64_t i = sent; i < count; ++i)  // where its receiver has to act
    link.inbox().post([&] { return send_away(link); }, "a message");
  while (link.inbox().locals() - before < count) link.inbox().poll([](const ph_completion&) {});
  for (const std::uint64_t word :
       {sent, static_cast<std::uint64_t>(mail_ns), static_cast<std::uint64_t>(put_ns)})
    link.inbox().post([&] { return link.notify(word); }, "telling");
}

AwayFigures hear_figures(Link& link) {
  std::vector<std::uint64_t> words;
  while (words.size() < 3) {
    link.job().check_peers();
    link.inbox().poll([&](const ph_completion& told) { words.push_back(told.id); });
  }
  return {words[0], words[1], words[2]};
}

Row away_row(const Bench& bench, const Link& link, const char* mode, std::uint64_t iterations) {
  Row row;
  row.question = bench.options.question;
  row.transport = link.transport();
  row.mode = mode;
  row.memory = text_of(bench.options.memory);
  row.size_bytes = kAway_bytes;
  row.iterations = iterations;
  return row;
}

// Its landing is filled with zeros, granted, and left alone until the source has sent all.
ph_mailbox grant_away(Link& link, std::uint64_t count) {
  const Job& job = link.job();
  const ph_mailbox box = open_granting(job);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::memset(link.landing(i), 0, kAway_bytes);
    post_buffer(job, box, link.landing(i), kAway_bytes);
  }
  job.check(ph_flush(job.context(), link.peer(), PH_FOREVER), "granting");
  link.part();
  return box;
}

void ask_away_receiver(Bench& bench, Link& link, std::uint64_t count) {
  const Job& job = link.job();
  link.part();  // over a network the puts need it
  const ph_mailbox box = grant_away(link, count);
  link.team().barrier();  // it makes no call until its source has sent all
  std::uint64_t stored = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    stored += link.landing(i)[kAway_bytes - 1] == kAwayByte ? 1 : 0;
  const auto start_ns = now_ns();
  for (std::uint64_t i = 0; i < stored; ++i)
    if (next_event(job, box).bytes != kAway_bytes) throw Failure("an event without its bytes");
  const auto taken_ns = static_cast<double>(now_ns() - start_ns);
  for (std::uint64_t i = stored; i < count; ++i) next_event(job, box);
  const AwayFigures found = hear_figures(link);
  if (stored == 0) throw Failure("nothing was stored: buffers are granted ahead within a host");
  job.check(ph_mailbox_close(job.context(), box), "closing");
  const auto mbps = [](std::uint64_t messages, std::uint64_t ns) {
    return static_cast<double>(messages * kAway_bytes) * 1e3 /
           static_cast<double>(std::max<std::uint64_t>(1, ns));
  };
  Row meanwhile = away_row(bench, link, "stored meanwhile", stored);
  meanwhile.bandwidth_mbps = mbps(stored, found.mail_ns);
  meanwhile.limit = mbps(count, found.put_ns);
  meanwhile.limit_name = "puts";
  meanwhile.limit_ratio = *meanwhile.bandwidth_mbps / *meanwhile.limit;
  meanwhile.note = fmt::format("{} of {} messages; bar 0.5", stored, count);
  bench.report.add(std::move(meanwhile));
  Row after = away_row(bench, link, "all taken after that", stored);
  after.latency = summarize({taken_ns});
  after.limit = kAwayBar_ns;
  after.limit_name = "bar";
  after.limit_ratio = taken_ns / kAwayBar_ns;
  after.note = "bar 5 ms";
  bench.report.add(std::move(after));
}

}  // namespace

void ask_mailbox_away(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  const std::uint64_t count = away_count(bench);
  Link link(bench, team, {bench.options.memory, kAway_bytes, count});
  if (bench.job.rank() == 0)
    ask_away_receiver(bench, link, count);
  else
    ask_away_source(link, count);
  link.part();
}

}  // namespace photon::perf
