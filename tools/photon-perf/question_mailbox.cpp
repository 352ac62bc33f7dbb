// mailbox-latency: one way of a message of 8 bytes to a mailbox whose buffers are complete after
// one message, and are posted again each time; its limit is a put whose remote id triggers the
// reply (put-latency). The data are read, and the completion pointer with them.
//
// mailbox-rate: messages of 8 bytes a second, 64 to a buffer; its limit are puts whose ids are
// probed in batches (put-rate).
#include <photon/mailbox.h>

#include <array>
#include <memory>

#include "clock.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kAddress = 0x6d61696c;

// Two buffers of so many words, which take turns.
class Box {
 public:
  Box(Link& link, std::uint64_t words) : link_(link), words_(words) {
    ph_mailbox_args args{};
    args.size = sizeof args;
    args.address = kAddress;
    args.source = PH_ANY_RANK;
    link.job().check(ph_mailbox_open(context(), &args, &box_), "opening a mailbox");
    for (Buffer& one : buffers_) {
      one.words = std::make_unique<std::uint64_t[]>(words);
      post(one);
    }
  }
  ~Box() { ph_mailbox_close(context(), box_); }
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  // The next epoch's words, read; its buffer is posted again.
  template <class Read>
  void next(Read read) {
    Buffer& one = buffers_[taken_++ % buffers_.size()];
    ph_mailbox_event event{};
    ph_status status = PH_AGAIN;
    while ((status = ph_mailbox_take(context(), box_, &event)) == PH_AGAIN) {
    }
    link_.job().check(status, "an event");
    if (one.pointer.address != one.words.get() || event.data != one.words.get() ||
        event.size_bytes != words_ * sizeof(std::uint64_t))
      throw Failure("a completion pointer that is wrong");
    read(one.words.get());
    one.pointer = {};
    post(one);
  }

 private:
  struct Buffer {
    alignas(64) ph_mailbox_pointer pointer{};
    std::unique_ptr<std::uint64_t[]> words;
  };

  ph_context* context() { return link_.job().context(); }
  void post(Buffer& one) {
    const ph_mailbox_buffer buffer{
        sizeof buffer, one.words.get(), words_ * sizeof(std::uint64_t), 0, &one.pointer, 0};
    link_.job().check(ph_mailbox_post(context(), box_, &buffer), "posting a buffer");
  }

  Link& link_;
  const std::uint64_t words_;
  ph_mailbox box_{};
  std::array<Buffer, 2> buffers_;
  std::uint64_t taken_ = 0;
};

void send(Link& link, std::uint64_t value, std::uint64_t offset) {
  const auto put = [&] {
    return ph_mailbox_put_u64(link.job().context(), link.peer(), kAddress, offset,
                              {&value, sizeof value});
  };
  ph_status status = put();
  while (status == PH_AGAIN) {
    link.inbox().poll([](const ph_completion&) { throw Failure("an id that nobody sent"); });
    status = put();
  }
  link.job().check(status, "a message to a mailbox");
}

Outcome mail_each(Link& link, std::uint64_t count) {
  Outcome outcome;
  Box box(link, 1);
  link.team().barrier();
  const auto batches = batches_for(count);
  std::uint64_t value = 0;
  const auto expect = [&](const std::uint64_t* words) {
    if (words[0] != value) throw Failure("a wrong message");
  };
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) {
      ++value;
      if (link.team().index() == 0) send(link, value, 0);
      box.next(expect);
      if (link.team().index() != 0) send(link, value, 0);
    }
    if (link.team().index() == 0)
      outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                   static_cast<double>(2 * batches.each));
  }
  link.part();
  return outcome;
}

Outcome mail_stream(Link& link, std::uint64_t count) {
  constexpr std::uint64_t kWords = 64;
  Outcome outcome;
  Box box(link, kWords);
  link.team().barrier();
  const std::uint64_t epochs = (count + kWords - 1) / kWords;
  const auto start_ns = now_ns();
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    if (link.team().index() == 0) {
      for (std::uint64_t i = 0; i < kWords; ++i)
        send(link, epoch * kWords + i, i * sizeof(std::uint64_t));
      continue;
    }
    box.next([&](const std::uint64_t* words) {
      for (std::uint64_t i = 0; i < kWords; ++i)
        if (words[i] != epoch * kWords + i) throw Failure("a wrong message");
    });
  }
  link.part();
  outcome.per_second =
      static_cast<double>(epochs * kWords) * 1e9 / static_cast<double>(now_ns() - start_ns);
  return outcome;
}

template <class Fill>
void ask_mailbox(Bench& bench, Unit unit, Fill fill) {
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

void ask_mailbox_latency(Bench& bench) {
  ask_mailbox(bench, Unit::nanoseconds, [](Contest& contest, Link& link) {
    contest.limits = {{"ph_put_u64", [&](std::uint64_t count) { return ping_pong(link, count); }}};
    contest.ours = {"8 B, threshold 1",
                    [&](std::uint64_t count) { return mail_each(link, count); }};
  });
}

void ask_mailbox_rate(Bench& bench) {
  ask_mailbox(bench, Unit::per_second, [](Contest& contest, Link& link) {
    contest.limits = {{"ph_put_u64", [&](std::uint64_t count) {
                         return put_stream(link, count, kCreditInterval);
                       }}};
    contest.ours = {"8 B, 64 an epoch",
                    [&](std::uint64_t count) { return mail_stream(link, count); }};
  });
}

}  // namespace photon::perf
