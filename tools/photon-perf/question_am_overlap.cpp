// am-overlap: messages to a rank that computes for 200 ms and makes no call, so that its progress
// thread runs the handlers (am=threaded): one at a time, each until its handler has returned, and
// 64 under way; beside the same to a rank that polls. And how long the computation takes beside
// them, beside how long it takes alone.
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "clock.hpp"
#include "messages.hpp"

namespace photon::perf {
namespace {

constexpr std::uint32_t kTold = 1;
constexpr std::uint64_t kComputing_ms = 200;
constexpr std::uint64_t kMessagesUnderWay = 64;
constexpr int kRepetitions = 5;
constexpr const char* kNoneInTime = "no handler ran while the target computed";

enum class Load : std::uint8_t { none, single, many };
enum class TargetDoes : std::uint8_t { compute, poll };

// Arithmetic that needs no memory: so many steps. Where it begins and ends in memory that others
// may look at, it is done between the calls that it stands between.
void compute_steps(double& state, std::uint64_t count) noexcept {
  double sum = state;
  for (std::uint64_t i = 0; i < count; ++i) sum = sum * 0.999 + 0.001;
  state = sum;
}

// What the sender has seen in one run, and how long the target has worked.
struct Seen {
  std::vector<double> trips_ns;
  bool none_in_time = false;  // what is counted ended when the target had stopped
  double per_second = 0;
  double worked_ns = 0;
};

class Overlap {
 public:
  Overlap(Bench& bench, Link& link)
      : link_(&link),
        duration_ns_((bench.options.iterations == 0 ? kComputing_ms : bench.options.iterations) *
                     1'000'000),
        listening_(link.job(), kTold, Take{}) {
    if (link.team().index() == 1) steps_ = steps_for(duration_ns_);
    link.team().barrier();
  }

  // Both members in step; index 0 has the figures.
  Seen run(Load load, TargetDoes does) {
    auto& over = link_->team().area().means[0].taken.line.flag;
    if (link_->team().index() == 0) over.store_release(0);
    link_->team().barrier();
    Seen seen;
    const auto start_ns = now_ns();
    if (link_->team().index() == 1) {
      work(does, start_ns);
      seen.worked_ns = static_cast<double>(now_ns() - start_ns);
      over.store_release(1);
    } else {
      const auto is_over = [&] { return over.load_acquire() != 0; };
      if (load == Load::single) send_one_by_one(seen, is_over);
      if (load == Load::many) send_many(seen, is_over);
      while (!is_over()) relax_processor();
    }
    link_->part();
    listening_.rethrow();
    link_->team().exchange(seen.worked_ns);
    seen.worked_ns = link_->team().card_of<double>(1);
    return seen;
  }

 private:
  // The handler: it may run in the progress thread, and no two at the same time.
  struct Take {
    std::uint64_t count = 0;
    void operator()(const ph_am_message& message, ph_am_landing&) {
      if (message.payload_bytes != kWordBytes) throw Failure("a message of another size");
      ++count;
    }
  };

  // As many as take that long here, while nothing comes.
  std::uint64_t steps_for(std::uint64_t duration_ns) {
    constexpr std::uint64_t kTried = 4'000'000;
    std::uint64_t best_ns = UINT64_MAX;
    for (int tries = 0; tries < 3; ++tries) {
      const auto start_ns = now_ns();
      compute_steps(state_, kTried);
      best_ns = std::min(best_ns, std::max<std::uint64_t>(now_ns() - start_ns, 1));
    }
    return std::max<std::uint64_t>(kTried * duration_ns / best_ns, 1);
  }

  void work(TargetDoes does, std::uint64_t start_ns) {
    if (does == TargetDoes::compute) return compute_steps(state_, steps_);
    while (now_ns() - start_ns < duration_ns_) poll_messages(link_->job());
  }

  ph_am_args message() const {
    ph_am_args args = message_args(kTold, link_->source(0), kWordBytes);
    args.flags = PH_DELIVERED;
    return args;
  }

  // What ends when the target has stopped is not counted, because its own calls have helped, but
  // where there is no other.
  template <class IsOver>
  void send_one_by_one(Seen& seen, IsOver is_over) {
    const Job& job = link_->job();
    ph_request request = PH_REQUEST_NONE;
    ph_am_args args = message();
    args.request = &request;
    do {
      const auto start_ns = now_ns();
      send_until_taken(
          job, [&] { return ph_am_send(job.context(), link_->peer(), &args); }, "a message");
      ph_status status = PH_OK;
      while (request != PH_REQUEST_NONE &&
             (status = ph_test(job.context(), &request, nullptr)) == PH_AGAIN) {
      }
      job.check(status, "a message's end");
      const auto end_ns = now_ns();
      seen.none_in_time = seen.trips_ns.empty() && is_over();
      if (!is_over() || seen.none_in_time)
        seen.trips_ns.push_back(static_cast<double>(end_ns - start_ns));
    } while (!is_over());
  }

  template <class IsOver>
  void send_many(Seen& seen, IsOver is_over) {
    const Job& job = link_->job();
    const auto before = link_->inbox().locals();
    const auto start_ns = now_ns();
    ph_am_args args = message();
    std::uint64_t sent = 0;
    const auto nothing = [](const ph_completion&) { throw Failure("an id that nobody sent"); };
    do {
      while (sent - (link_->inbox().locals() - before) < kMessagesUnderWay) {
        args.local = {&sent, sizeof sent};
        link_->inbox().post([&] { return ph_am_send(job.context(), link_->peer(), &args); },
                            "a message", nothing);
        ++sent;
      }
      link_->inbox().poll(nothing);
    } while (!is_over());
    seen.none_in_time = link_->inbox().locals() == before;
    if (seen.none_in_time) link_->inbox().await_locals(before + sent);
    seen.per_second = static_cast<double>(link_->inbox().locals() - before) * 1e9 /
                      static_cast<double>(now_ns() - start_ns);
    link_->inbox().await_locals(before + sent);
  }

  Link* link_;
  std::uint64_t duration_ns_;
  Listening<Take> listening_;
  std::uint64_t steps_ = 0;
  double state_ = 2;
};

double median_of(std::vector<double> all) { return summarize(std::move(all))->p50_ns; }

// All runs of one load, the target computing and polling.
struct Runs {
  std::vector<double> trips_ns, polled_trips_ns;  // of all runs
  std::vector<double> worked_ns, alone_ns;        // of each
  double per_second = 0, polled_per_second = 0;   // best
  bool none_in_time = false;                      // of one of them

  void add(const Seen& alone, const Seen& beside, const Seen& polled) {
    trips_ns.insert(trips_ns.end(), beside.trips_ns.begin(), beside.trips_ns.end());
    polled_trips_ns.insert(polled_trips_ns.end(), polled.trips_ns.begin(), polled.trips_ns.end());
    none_in_time = none_in_time || beside.none_in_time;
    worked_ns.push_back(beside.worked_ns);
    alone_ns.push_back(alone.worked_ns);
    per_second = std::max(per_second, beside.per_second);
    polled_per_second = std::max(polled_per_second, polled.per_second);
  }
};

Row overlap_row(const Bench& bench, const Link& link, std::string mode) {
  Row row;
  row.question = bench.options.question;
  row.transport = link.transport();
  row.mode = std::move(mode);
  row.size_bytes = kWordBytes;
  return row;
}

void set_limit(Row& row, double figure, double limit, const char* name) {
  if (limit <= 0) return;
  row.limit = limit;
  row.limit_ratio = figure / limit;
  row.limit_name = name;
  row.note = name;
}

void add_computation(Bench& bench, const Link& link, const char* load, const Runs& runs) {
  Row row = overlap_row(bench, link, fmt::format("computing beside {}", load));
  row.iterations = runs.worked_ns.size();
  row.latency = summarize(runs.worked_ns);
  set_limit(row, row.latency->p50_ns, median_of(runs.alone_ns), "computing alone");
  row.note = fmt::format("it loses {:.1f} %", 100 * (*row.limit_ratio - 1));
  bench.report.add(std::move(row));
}

void ask_one_by_one(Bench& bench, Link& link, Overlap& overlap, int repetitions) {
  Runs runs;
  for (int i = 0; i < repetitions; ++i) {
    const Seen alone = overlap.run(Load::none, TargetDoes::compute);
    const Seen beside = overlap.run(Load::single, TargetDoes::compute);
    runs.add(alone, beside, overlap.run(Load::single, TargetDoes::poll));
  }
  if (link.team().index() != 0) return;
  Row row = overlap_row(bench, link, "one at a time, until handled");
  row.iterations = runs.trips_ns.size();
  row.latency = summarize(runs.trips_ns);
  const auto polled = summarize(runs.polled_trips_ns);
  if (row.latency && polled) set_limit(row, row.latency->p50_ns, polled->p50_ns, "target polls");
  if (runs.none_in_time) row.note = kNoneInTime;
  bench.report.add(std::move(row));
  add_computation(bench, link, "one at a time", runs);
}

void ask_many(Bench& bench, Link& link, Overlap& overlap, int repetitions) {
  Runs runs;
  for (int i = 0; i < repetitions; ++i) {
    const Seen alone = overlap.run(Load::none, TargetDoes::compute);
    const Seen beside = overlap.run(Load::many, TargetDoes::compute);
    runs.add(alone, beside, overlap.run(Load::many, TargetDoes::poll));
  }
  if (link.team().index() != 0) return;
  const std::string load = fmt::format("{} under way", kMessagesUnderWay);
  Row row = overlap_row(bench, link, load);
  row.iterations = static_cast<std::uint64_t>(repetitions);
  row.rate_per_s = runs.per_second;
  set_limit(row, runs.per_second, runs.polled_per_second, "target polls");
  if (runs.none_in_time) row.note = kNoneInTime;
  bench.report.add(std::move(row));
  add_computation(bench, link, load.c_str(), runs);
}

}  // namespace

void ask_am_overlap(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  Link link(bench, team, {bench.options.memory, kWordBytes});
  Overlap overlap(bench, link);
  const bool is_trial = bench.options.iterations != 0 && bench.options.iterations < kBatch;
  const int repetitions = is_trial ? 1 : kRepetitions;
  ask_one_by_one(bench, link, overlap, repetitions);
  ask_many(bench, link, overlap, repetitions);
}

}  // namespace photon::perf
