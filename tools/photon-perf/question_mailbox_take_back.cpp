// mailbox-take-back: from ph_mailbox_inc_epoch() until the buffer is the owner's again, with
// nothing under way to a mailbox for messages that are carried and to one for larger ones, and
// while messages of 1 MiB are landing in it; and until the next buffer is current while the sender
// of such a message is stopped (SIGSTOP), for over a network that keeps the buffer until it goes
// on.
#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "clock.hpp"
#include "mails.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kBackAddress = 0x6261636b;
constexpr std::size_t kLarge_bytes = std::size_t{1} << 20;
constexpr std::size_t kSmall_bytes = 64;
constexpr std::uint64_t kTimesDefault = 1'000;
constexpr std::uint64_t kBackBuffers = 4;
constexpr std::uint64_t kPause_ns = 400'000;  // a message of 1 MiB lands within it

// A mailbox whose buffers are never complete: they come back early only.
class Backs {
 public:
  Backs(const Job& job, std::size_t size_bytes)
      : job_(job), size_bytes_(size_bytes), box_(open_mailbox(job, kBackAddress, UINT64_MAX)) {
    memory_.resize(kBackBuffers * size_bytes);
    for (std::uint64_t i = 0; i < kBackBuffers; ++i)
      post_buffer(job_, box_, &memory_[i * size_bytes], size_bytes);
  }
  ~Backs() {
    ph_mailbox_event event;
    if (ph_mailbox_close(job_.context(), box_) != PH_OK) return;
    while (ph_mailbox_take(job_.context(), box_, &event) >= PH_OK) continue;
  }
  Backs(const Backs&) = delete;
  Backs& operator=(const Backs&) = delete;

  // Nanoseconds until the next one is current.
  double leave() {
    const auto start_ns = now_ns();
    job_.check(ph_mailbox_inc_epoch(job_.context(), box_), "taking a buffer back");
    return static_cast<double>(now_ns() - start_ns);
  }
  // One that was left comes back, and is posted again.
  void await() {
    const ph_mailbox_event event = next_event(job_, box_);
    if (event.why != PH_MAILBOX_EARLY) throw Failure("a buffer that came back as complete");
    landed_ += event.operations;
    post_buffer(job_, box_, event.data, size_bytes_);
  }
  // Nanoseconds until both.
  double take_back() {
    const auto start_ns = now_ns();
    leave();
    await();
    return static_cast<double>(now_ns() - start_ns);
  }
  std::uint64_t landed() const noexcept { return landed_; }
  // Progress, so that messages land.
  void serve_for(std::uint64_t duration_ns) {
    const auto end_ns = now_ns() + duration_ns;
    ph_mailbox_event event;
    while (now_ns() < end_ns) static_cast<void>(ph_mailbox_take(job_.context(), box_, &event));
  }

 private:
  const Job& job_;
  const std::size_t size_bytes_;
  std::vector<std::byte> memory_;
  const ph_mailbox box_;
  std::uint64_t landed_ = 0;
};

struct Asked {
  const char* mode;
  std::size_t size_bytes;
  double bar_ns;
};

void add_row(Bench& bench, Link& link, const Asked& asked, std::vector<double> samples_ns) {
  Row row;
  row.question = bench.options.question;
  row.transport = link.transport();
  row.mode = asked.mode;
  row.size_bytes = asked.size_bytes;
  row.iterations = samples_ns.size();
  row.latency = summarize(std::move(samples_ns));
  row.limit = asked.bar_ns;
  row.limit_name = "bar";
  row.limit_ratio = row.latency->p50_ns / asked.bar_ns;
  row.note = fmt::format("bar {:.0f} ns", asked.bar_ns);
  bench.report.add(std::move(row));
}

// Batches: one alone lasts hardly longer than the clock.
void ask_quiet(Bench& bench, Link& link, const Asked& asked) {
  const std::uint64_t times =
      bench.options.iterations == 0 ? kTimesDefault : bench.options.iterations;
  std::vector<double> samples_ns;
  if (bench.job.rank() == 0) {
    Backs backs(bench.job, asked.size_bytes);
    const auto batches = batches_for(times * kBatch);
    for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
      const auto start_ns = now_ns();
      for (std::uint64_t i = 0; i < batches.each; ++i) backs.take_back();
      samples_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                           static_cast<double>(batches.each));
    }
    add_row(bench, link, asked, std::move(samples_ns));
  }
  link.part();
}

// Two messages of 1 MiB are always under way, until the other side says that it has enough.
void keep_sending(Bench& bench, Link& link) {
  std::array<ph_request, 2> requests{PH_REQUEST_NONE, PH_REQUEST_NONE};
  bool is_over = false;
  const auto hear = [&](const ph_completion&) { is_over = true; };
  while (!is_over) {
    for (ph_request& request : requests) {
      ph_result result;
      link.inbox().poll(hear);
      if (ph_test(bench.job.context(), &request, &result) == PH_AGAIN) continue;
      ph_mailbox_put_args args{};
      args.size = sizeof args;
      args.address = kBackAddress;
      args.source = link.source(0);
      args.size_bytes = kLarge_bytes;
      args.epoch = PH_ANY_EPOCH;
      args.request = &request;
      const ph_status status = ph_mailbox_put(bench.job.context(), link.peer(), &args);
      if (status != PH_AGAIN) bench.job.check(status, "a large message");
    }
  }
  for (ph_request& request : requests) {
    ph_result result;
    const ph_status status = ph_wait_request(bench.job.context(), &request, &result, PH_FOREVER);
    if (status != PH_ERR_NOT_FOUND) bench.job.check(status, "the last large messages");
  }
}

// p99 is what the first bar is for. A stopped sender has its messages under way all the same.
void ask_under_way(Bench& bench, Link& link, const Asked& asked, bool is_stopped) {
  const std::uint64_t times =
      bench.options.iterations == 0 ? kTimesDefault : bench.options.iterations;
  link.team().barrier();
  if (bench.job.rank() != 0) {
    link.team().barrier();  // its mailbox is open
    keep_sending(bench, link);
    return link.part();
  }
  std::vector<double> samples_ns;
  {
    Backs backs(bench.job, kLarge_bytes);
    link.team().barrier();
    while (backs.landed() == 0) {  // until the other side is at it
      bench.job.check_peers();
      backs.serve_for(kPause_ns);
      backs.take_back();
    }
    for (std::uint64_t i = 0; i < times; ++i) {
      backs.serve_for(i * 2'654'435'761U % kPause_ns);  // anywhere in a message
      if (!is_stopped) {
        samples_ns.push_back(backs.take_back());
        continue;
      }
      ::kill(link.buffers().peer_pid, SIGSTOP);
      samples_ns.push_back(backs.leave());
      ::kill(link.buffers().peer_pid, SIGCONT);
      backs.await();
    }
    link.inbox().post([&] { return link.notify(0); }, "ending");
  }
  add_row(bench, link, asked, std::move(samples_ns));
  link.part();
}

}  // namespace

void ask_mailbox_take_back(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  Link link(bench, team, {bench.options.memory, kLarge_bytes, 1});
  ask_quiet(bench, link, {"nothing under way, carried", kSmall_bytes, 300});
  ask_quiet(bench, link, {"nothing under way, large", kLarge_bytes, 20'000});
  ask_under_way(bench, link, {"1 MiB under way", kLarge_bytes, 200'000}, false);
  ask_under_way(bench, link, {"1 MiB, sender stopped", kLarge_bytes, 1'000'000}, true);
}

}  // namespace photon::perf
