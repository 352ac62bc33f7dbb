// mailbox-latency: one way of a message to a mailbox whose buffers are complete after one message,
// and are posted again each time; its limit is a put of that size whose remote id triggers the
// reply (put-latency). The data are read, and the completion pointer with them.
//
// mailbox-rate: messages of 8 bytes a second, 64 to a buffer; its limit are puts whose ids are
// probed in batches (put-rate).
#include <array>
#include <cstddef>
#include <memory>
#include <new>

#include "checksum.hpp"
#include "clock.hpp"
#include "mails.hpp"
#include "means.hpp"
#include "ping_pong.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kAddress = 0x6d61696c;
constexpr std::size_t kLineBytes = 64;

// Two buffers of so many bytes, which take turns.
class Box {
 public:
  Box(Link& link, std::size_t size_bytes)
      : job_(link.job()), size_bytes_(size_bytes), box_(open_mailbox(job_, kAddress, 0)) {
    for (Buffer& one : buffers_) {
      one.data.reset(
          static_cast<std::byte*>(::operator new(size_bytes, std::align_val_t{kLineBytes})));
      post(one);
    }
  }
  ~Box() { ph_mailbox_close(job_.context(), box_); }
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  // The next epoch's bytes, read; its buffer is posted again.
  template <class Read>
  void next(Read read) {
    Buffer& one = buffers_[taken_++ % buffers_.size()];
    const ph_mailbox_event event = next_event(job_, box_);
    if (one.pointer.address != one.data.get() || event.data != one.data.get() ||
        event.size_bytes != size_bytes_)
      throw Failure("a completion pointer that is wrong");
    read(one.data.get());
    one.pointer = {};
    post(one);
  }

 private:
  struct Free {
    void operator()(std::byte* data) const {
      ::operator delete(data, std::align_val_t{kLineBytes});
    }
  };
  struct Buffer {
    alignas(kLineBytes) ph_mailbox_pointer pointer{};
    std::unique_ptr<std::byte, Free> data;
  };

  void post(Buffer& one) { post_buffer(job_, box_, one.data.get(), size_bytes_, &one.pointer); }

  const Job& job_;
  const std::size_t size_bytes_;
  std::array<Buffer, 2> buffers_;
  const ph_mailbox box_;
  std::uint64_t taken_ = 0;
};

// Words carry their number; larger messages are fresh, or all the same.
class Mails {
 public:
  explicit Mails(Link& link)
      : link_(link),
        mailer_(link, kAddress),
        contents_(link.buffers(), link.team().index()),
        is_word_(link.size_bytes() == kWordBytes) {}

  const Contents& contents() const noexcept { return contents_; }
  void write(std::uint64_t number) const {
    if (!is_word_) contents_.write(link_.source(0), number);
  }

  void send(std::uint64_t number) {
    mailer_.send(is_word_ ? static_cast<const void*>(&number) : link_.source(0));
  }
  void read(const std::byte* data, std::uint64_t number) {
    if (!is_word_) return contents_.read(data, number);
    if (checksum_of(data, kWordBytes) != number) throw Failure("a wrong message");
  }
  void check(std::uint64_t messages) const {
    if (!is_word_) contents_.expect_all(messages);
  }

 private:
  Link& link_;
  Mailer mailer_;
  Contents contents_;
  const bool is_word_;
};

Outcome mail_each(Link& link, std::uint64_t count) {
  Box box(link, link.size_bytes());
  Mails mails(link);
  begin(link.team());
  auto outcome =
      half_trips(link.team(), mails.contents(), count,
                 PingPong{[&](std::uint64_t number) { mails.write(number); },
                          [&](std::uint64_t number) { mails.send(number); },
                          [&](std::uint64_t number) {
                            box.next([&](const std::byte* data) { mails.read(data, number); });
                          }});
  mails.check(batches_for(count).total());
  link.part();
  return outcome;
}

Outcome mail_stream(Link& link, std::uint64_t count) {
  constexpr std::uint64_t kWords = 64;
  Outcome outcome;
  Box box(link, kWords * kWordBytes);
  link.team().barrier();
  const std::uint64_t epochs = (count + kWords - 1) / kWords;
  const auto start_ns = now_ns();
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    if (link.team().index() == 0) {
      for (std::uint64_t i = 0; i < kWords; ++i) {
        const std::uint64_t value = epoch * kWords + i;
        send_mail(link, kAddress, i * kWordBytes, {&value, kWordBytes});
      }
      continue;
    }
    box.next([&](const std::byte* data) {
      const auto* const words = reinterpret_cast<const std::uint64_t*>(data);
      for (std::uint64_t i = 0; i < kWords; ++i)
        if (words[i] != epoch * kWords + i) throw Failure("a wrong message");
    });
  }
  link.part();
  outcome.per_second =
      static_cast<double>(epochs * kWords) * 1e9 / static_cast<double>(now_ns() - start_ns);
  return outcome;
}

void ask_latency(Bench& bench, Team& team, std::uint64_t size_bytes) {
  auto shape = fresh_shape(bench, size_bytes);
  shape.slots = 1;
  Link link(bench, team, shape);
  Contest contest;
  contest.size_bytes = size_bytes;
  contest.limits = {{"put-latency", [&](std::uint64_t count) { return ping_pong(link, count); }}};
  contest.ours = {"threshold 1", [&](std::uint64_t count) { return mail_each(link, count); }};
  bench.report.add(row_of(bench, contest, compete(team, contest, bench.options.iterations), link));
}

}  // namespace

void ask_mailbox_latency(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  if (bench.options.open != 0) return ask_mailbox_open(bench, team);
  for (const auto size_bytes : sizes_or(bench.options, {8, 64, 256, 1024, 4096, 16384, 65536}))
    ask_latency(bench, team, size_bytes);
}

void ask_mailbox_rate(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  Link link(bench, team, {bench.options.memory, kWordBytes, kRingSlots, true});
  Contest contest;
  contest.unit = Unit::per_second;
  contest.size_bytes = kWordBytes;
  contest.limits = {{"ph_put_u64", [&](std::uint64_t count) {
                       return put_stream(link, count, kCreditInterval);
                     }}};
  contest.ours = {"8 B, 64 an epoch",
                  [&](std::uint64_t count) { return mail_stream(link, count); }};
  bench.report.add(row_of(bench, contest, compete(team, contest, bench.options.iterations), link));
}

}  // namespace photon::perf
