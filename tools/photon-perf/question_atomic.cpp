// atomic-latency: a fetch-and-add from the call until the value is there.
//
// On mapped memory both ranks add to one word in turns, each as soon as it sees that the other has:
// so its line goes from one to the other each time, and the limit is the processor's own
// instruction doing the same. On other memory the owner carries it out while it probes: there and
// back, so the limit is both ways of the two-line ping-pong.
//
// atomic-rate: fetch-and-adds a second. On mapped memory both ranks add to one word at once, and so
// does the limit; on other memory one rank asks the owner with many under way, and the limit is the
// bare ring, one way.
#include <algorithm>
#include <array>

#include "clock.hpp"
#include "limit_atomics.hpp"
#include "link.hpp"

namespace photon::perf {
namespace {

constexpr std::size_t kUnderWay = 64;

// Averages of batches on index 0: of what each call of `add` took, where `adds` are made meanwhile.
template <class Add>
Outcome add_each(const Team& team, std::uint64_t count, std::uint64_t adds, Add add) {
  Outcome outcome;
  const auto batches = batches_for(count);
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) add();
    if (team.index() == 0)
      outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                   static_cast<double>(adds * batches.each));
  }
  return outcome;
}

// It is even when index 0 is to add, whatever happened before.
template <SpinForm form, class Add>
Outcome add_in_turns(const Team& team, const SharedWord& word, std::uint64_t count, Add add) {
  return add_each(team, count, 2, [&] {
    spin_until<form>(word, [&](std::uint64_t value) { return value % 2 == team.index(); });
    add();
  });
}

// Index 1's landing, as each side sees it.
const SharedWord& word_of(const Link& link) {
  const std::byte* at =
      link.team().index() == 1 ? link.landing(0) : link.buffers().mapped_landing[0];
  return *reinterpret_cast<const SharedWord*>(at);
}

// One after the other, on the first word of index 1's landing, with at most `window` under way.
class Adder {
 public:
  explicit Adder(Link& link, std::size_t window = 1) : link_(&link), window_(window) {
    const bool is_owner = link.team().index() == 1;
    rank_ = is_owner ? link.job().rank() : link.peer();
    args_.size = sizeof args_;
    args_.target = is_owner ? link.own_place(0) : link.place(0);
    args_.op = PH_OP_ADD;
    args_.type = PH_UINT64;
    args_.operand.uint64 = 1;
    args_.flags = PH_NO_RCE;
  }
  void add() {
    One& one = under_way_[next_];
    if (posted_ == window_) take(one);
    args_.fetched = &one.before;
    args_.request = &one.request;
    link_->inbox().post([this] { return ph_atomic(link_->job().context(), rank_, &args_); },
                        "adding");
    next_ = after(next_);  // no remainder: a division may take as long as half an atomic
    posted_ = std::min(posted_ + 1, window_);
    if (window_ == 1) finish();
  }
  // Takes what is under way, the oldest first.
  void finish() {
    std::size_t oldest = posted_ == window_ ? next_ : 0;
    for (; posted_ != 0; --posted_) {
      take(under_way_[oldest]);
      oldest = after(oldest);
    }
    next_ = 0;
  }

 private:
  struct One {
    ph_request request = PH_REQUEST_NONE;
    std::uint64_t before = 0;
  };

  std::size_t after(std::size_t at) const noexcept { return at + 1 == window_ ? 0 : at + 1; }

  void take(One& one) {
    if (one.request != PH_REQUEST_NONE)
      link_->job().check(ph_wait_request(link_->job().context(), &one.request, nullptr, PH_FOREVER),
                         "adding");
    if (is_begun_ && one.before <= last_) throw Failure("an atomic fetched what was there before");
    is_begun_ = true;
    last_ = one.before;
  }

  Link* link_;
  ph_rank rank_ = 0;
  ph_atomic_args args_{};
  std::array<One, kUnderWay> under_way_{};
  const std::size_t window_;
  std::size_t posted_ = 0;  // and not taken; window_ at the most
  std::size_t next_ = 0;    // where the next is posted; with fewer than window_, the first is at 0
  std::uint64_t last_ = 0;
  bool is_begun_ = false;
};

// `add` is called `count` times by each who takes part; until the last of them is done.
template <class Add>
Outcome add_at_once(Link& link, std::uint64_t count, unsigned adders, Add add) {
  Outcome outcome;
  link.team().barrier();
  const auto start_ns = now_ns();
  if (link.team().index() < adders)
    for (std::uint64_t i = 0; i < count; ++i) add();
  link.part();
  const auto elapsed_ns = static_cast<double>(now_ns() - start_ns);
  outcome.per_second = static_cast<double>(adders * count) * 1e9 / elapsed_ns;
  return outcome;
}

Outcome adds_by_library(Link& link, std::uint64_t count) {
  Adder adder(link, kUnderWay);
  const bool is_asked = !link.buffers().is_mapped;
  std::uint64_t left = count;
  return add_at_once(link, count, is_asked ? 1 : 2, [&] {
    adder.add();
    if (--left == 0) adder.finish();
  });
}

Outcome add_by_library(Link& link, std::uint64_t count, bool in_turns) {
  Adder adder(link);
  Outcome outcome;
  if (in_turns)
    // With pauses: who looks all the time takes the line back from the one whose turn it is, once
    // it has seen it and before it adds. The processor's own is too short for that, so its limit is
    // the best of two forms.
    outcome =
        add_in_turns<SpinForm::pause>(link.team(), word_of(link), count, [&] { adder.add(); });
  else if (link.team().index() == 0)
    outcome = add_each(link.team(), count, 1, [&] { adder.add(); });
  link.part();
  return outcome;
}

template <SpinForm form>
Outcome add_by_processor(Team& team, std::uint64_t count) {
  auto& word = team.area().ping[0].line.flag;
  if (team.index() == 0) word.store_release(0);
  team.barrier();
  auto outcome = add_in_turns<form>(team, word, count, [&] { word.add(1); });
  team.barrier();
  return outcome;
}

Outcome both_ways(const Run& one_way, std::uint64_t count) {
  auto outcome = one_way(count);
  for (auto& batch_ns : outcome.batches_ns) batch_ns *= 2;
  return outcome;
}

// The row of one word between two ranks; `describe(contest, link)` says what is done to it.
template <class Describe>
void ask_of_a_word(Bench& bench, Unit unit, Describe describe) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  Link link(bench, team, {bench.options.memory, kWordBytes});
  Contest contest;
  contest.unit = unit;
  contest.size_bytes = kWordBytes;
  describe(contest, link);
  const auto verdict = compete(team, contest, bench.options.iterations);
  bench.report.add(row_of(bench, contest, verdict, link));
}

}  // namespace

void ask_atomic_rate(Bench& bench) {
  ask_of_a_word(bench, Unit::per_second, [](Contest& contest, Link& link) {
    const bool mapped = link.buffers().is_mapped;
    if (mapped) {
      contest.limits.push_back({"the processor's own, both at once", [&link](std::uint64_t count) {
                                  auto& word = link.team().area().ping[0].line.flag;
                                  return add_at_once(link, count, 2, [&] { word.add(1); });
                                }});
    } else {
      contest.limits = rate_limits(link.team());
    }
    contest.ours = {mapped ? "fetch-and-add, both at once" : "fetch-and-add, by the owner",
                    [&link](std::uint64_t count) { return adds_by_library(link, count); }};
  });
}

void ask_atomic_latency(Bench& bench) {
  ask_of_a_word(bench, Unit::nanoseconds, [](Contest& contest, Link& link) {
    const bool mapped = link.buffers().is_mapped;
    if (mapped) {
      const auto add_limit = [&](auto run) {
        contest.limits.push_back(
            {"the processor's own, in turns",
             [&link, run](std::uint64_t count) { return run(link.team(), count); }});
      };
      add_limit(add_by_processor<SpinForm::tight>);
      add_limit(add_by_processor<SpinForm::pause>);
    } else {
      for (const auto& entry : latency_limits(link.team(), link.buffers()))
        contest.limits.push_back(
            {"two-line ping-pong, both ways",
             [run = entry.run](std::uint64_t count) { return both_ways(run, count); }});
    }
    contest.ours = {
        mapped ? "fetch-and-add, in turns" : "fetch-and-add, by the owner",
        [&link, mapped](std::uint64_t count) { return add_by_library(link, count, mapped); }};
  });
}

}  // namespace photon::perf
