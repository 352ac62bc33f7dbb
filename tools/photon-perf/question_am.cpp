// am-latency: one way of an active message to a handler that reads every byte of it, and is
// answered by a message; of 8 bytes also where the handler itself sends the answer, or replies.
// Limits are a put of that size whose remote id triggers the reply (put-latency), and, of 8 bytes,
// a notification (notify-latency).
//
// am-rate: messages of 8 bytes a second to a handler, each by itself and where they may wait for
// others; the limit are puts whose ids are probed in batches (put-rate).
#include <cstring>

#include "clock.hpp"
#include "means.hpp"
#include "messages.hpp"
#include "ping_pong.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint32_t kTalk = 1;
constexpr std::uint32_t kAnswer = 2;

// What a side has heard, and where a payload that is not carried lands.
struct Heard {
  Contents contents;
  std::byte* landing;
  std::size_t size_bytes;
  std::uint64_t count = 0;
  std::exception_ptr thrown;

  void read(const void* data) {
    ++count;
    contents.read(static_cast<const std::byte*>(data), count);
  }
  static ph_status landed(void* argument, const ph_am_message*, const ph_am_part* part) {
    auto& self = *static_cast<Heard*>(argument);
    try {
      if (part->status != PH_OK) throw Failure("a payload that did not come");
      self.read(part->data);
    } catch (...) {
      self.thrown = std::current_exception();
      ++self.count;
    }
    return PH_OK;
  }
  void take(const ph_am_message& message, ph_am_landing& place) {
    if (message.payload_bytes != size_bytes) throw Failure("a message of another size");
    if (message.payload != nullptr) return read(message.payload);
    place.buffer = landing;
    place.buffer_bytes = size_bytes;
    place.done = landed;
    place.argument = this;
  }
};

}  // namespace

// Both sides send when they have heard, outside their handlers.
Outcome message_ping_pong(Link& link, std::uint64_t round_trips) {
  Heard heard{Contents(link.buffers(), link.team().index()), link.landing(0), link.size_bytes(), 0,
              nullptr};
  Listening listening(link.job(), kTalk, [&](const ph_am_message& message, ph_am_landing& landing) {
    heard.take(message, landing);
  });
  Talker talker(link, kTalk);
  begin(link.team());
  auto outcome = half_trips(link.team(), heard.contents, round_trips,
                            PingPong{[&](std::uint64_t number) {
                                       if (!heard.contents.is_fresh()) return;
                                       talker.await_source();
                                       heard.contents.write(link.source(0), number);
                                     },
                                     [&](std::uint64_t) { talker.send(); },
                                     [&](std::uint64_t number) {
                                       listening.await([&] { return heard.count >= number; });
                                       if (heard.thrown != nullptr)
                                         std::rethrow_exception(heard.thrown);
                                     }});
  talker.await_source();
  heard.contents.expect_all(batches_for(round_trips).total());
  link.part();
  return outcome;
}

namespace {

enum class Answer : std::uint8_t { message, reply };

// Index 0 asks, and the handler of index 1 answers, by a message of its own or by a reply.
Outcome ask_each(Link& link, Answer answer, std::uint64_t round_trips) {
  const Job& job = link.job();
  const auto batches = batches_for(round_trips);
  std::uint64_t handled = 0;
  const auto check = [&](const ph_am_message& message) {
    std::uint64_t number = 0;
    if (message.payload_bytes != sizeof number) throw Failure("a message of another size");
    std::memcpy(&number, message.payload, sizeof number);
    if (number != ++handled) throw Failure("messages came out of order");
  };
  Listening asked(job, kTalk, [&](const ph_am_message& message, ph_am_landing&) {
    check(message);
    if (answer == Answer::reply) {
      const ph_am_args args = message_args(kAnswer, message.payload, kWordBytes);
      return job.check(ph_am_reply(&message, &args), "a reply");
    }
    job.check(
        ph_am_send_small(job.context(), message.source, kAnswer, {message.payload, kWordBytes}),
        "an answer");
  });
  Listening answered(job, kAnswer,
                     [&](const ph_am_message& message, ph_am_landing&) { check(message); });
  begin(link.team());
  Outcome outcome;
  std::uint64_t number = 0;
  ph_am_args args = message_args(kTalk, &number, sizeof number);
  args.flags |= PH_AM_REPLY;
  if (link.team().index() != 0) {
    asked.await([&] { return handled == batches.total(); });
  } else {
    for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
      const auto start_ns = now_ns();
      for (std::uint64_t i = 0; i < batches.each; ++i) {
        ++number;
        send_until_taken(
            job,
            [&] {
              return answer == Answer::reply ? ph_am_send(job.context(), link.peer(), &args)
                                             : ph_am_send_small(job.context(), link.peer(), kTalk,
                                                                {&number, sizeof number});
            },
            "a question");
        answered.await([&] { return handled == number; });
      }
      outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                   static_cast<double>(2 * batches.each));
    }
  }
  link.part();
  return outcome;
}

// Messages may wait for others and go with them, or not.
Outcome talk_stream(Link& link, bool may_wait, std::uint64_t count) {
  const Job& job = link.job();
  std::uint64_t heard = 0;
  bool in_order = true;
  Listening listening(job, kTalk, [&](const ph_am_message& message, ph_am_landing&) {
    std::uint64_t number = 0;
    if (message.payload_bytes == sizeof number)
      std::memcpy(&number, message.payload, sizeof number);
    in_order = in_order && number == heard + 1;
    ++heard;
  });
  link.team().barrier();
  const auto start_ns = now_ns();
  if (link.team().index() == 0) {
    std::uint64_t number = 0;
    ph_am_args args = message_args(kTalk, &number, sizeof number);
    args.flags |= PH_AM_MAY_WAIT;
    while (number < count) {
      ++number;
      send_until_taken(
          job,
          [&] {
            return may_wait ? ph_am_send(job.context(), link.peer(), &args)
                            : ph_am_send_small(job.context(), link.peer(), kTalk,
                                               {&number, sizeof number});
          },
          "a message");
    }
  } else {
    listening.await([&] { return heard == count; });
    if (!in_order) throw Failure("messages came out of order");
  }
  link.part();
  Outcome outcome;
  outcome.per_second = static_cast<double>(count) * 1e9 / static_cast<double>(now_ns() - start_ns);
  return outcome;
}

// Ours beside one limit: a row.
void add_row(Bench& bench, Link& link, const Contest& contest) {
  bench.report.add(
      row_of(bench, contest, compete(link.team(), contest, bench.options.iterations), link));
}

void ask_8_bytes(Bench& bench, Team& team) {
  Link link(bench, team, {bench.options.memory, kWordBytes});
  Link nothing(bench, team, {bench.options.memory, 0});
  Contest contest;
  contest.size_bytes = kWordBytes;
  const Entry notify = {"ph_notify",
                        [&](std::uint64_t count) { return ping_pong(nothing, count); }};
  const Entry put = {"ph_put_u64", [&](std::uint64_t count) { return ping_pong(link, count); }};
  const Entry ours[] = {
      {"message", [&](std::uint64_t count) { return message_ping_pong(link, count); }},
      {"answered in the handler",
       [&](std::uint64_t count) { return ask_each(link, Answer::message, count); }},
      {"replied in the handler",
       [&](std::uint64_t count) { return ask_each(link, Answer::reply, count); }}};
  for (const Entry& one : ours) {
    contest.ours = one;
    if (!bench.options.has_limits) {
      add_row(bench, link, contest);
      continue;
    }
    for (const Entry& limit : {notify, put}) {
      contest.limits = {limit};
      add_row(bench, link, contest);
    }
  }
}

}  // namespace

void ask_am_latency(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  for (const auto size_bytes : sizes_or(bench.options, {8, 48, 1024, 4096, 32768})) {
    if (size_bytes == kWordBytes && bench.options.buffers == BufferKind::same) {
      ask_8_bytes(bench, team);
      continue;
    }
    Link link(bench, team, fresh_shape(bench, size_bytes));
    Contest contest;
    contest.size_bytes = size_bytes;
    if (bench.options.has_limits)
      contest.limits = {
          {"ph_put_u64", [&](std::uint64_t count) { return ping_pong(link, count); }}};
    contest.ours = {"message", [&](std::uint64_t count) { return message_ping_pong(link, count); }};
    add_row(bench, link, contest);
  }
}

void ask_am_rate(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  Link link(bench, team, {bench.options.memory, kWordBytes, kRingSlots, true});
  Contest contest;
  contest.unit = Unit::per_second;
  contest.size_bytes = kWordBytes;
  contest.limits = {{"ph_put_u64", [&](std::uint64_t count) {
                       return put_stream(link, count, kCreditInterval);
                     }}};
  for (const bool may_wait : {false, true}) {
    contest.ours = {may_wait ? "collected" : "each by itself",
                    [&](std::uint64_t count) { return talk_stream(link, may_wait, count); }};
    add_row(bench, link, contest);
  }
}

}  // namespace photon::perf
