#include "streams.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "checksum.hpp"
#include "clock.hpp"
#include "contents.hpp"
#include "get_batches.hpp"
#include "means.hpp"
#include "ping_pong.hpp"
#include "slots.hpp"

namespace photon::perf {
namespace {

void expect_id(std::uint64_t wanted, std::uint64_t id) {
  if (wanted == id) return;
  throw Failure(
      fmt::format("remote id {} arrived where {} was due: lost or out of order", id, wanted));
}

ph_status try_send(Link& link, std::uint64_t sequence) {
  return link.size_bytes() == 0 ? link.notify(sequence)
                                : link.put(link.source(0), 0, {sequence, sequence});
}

[[gnu::noinline]] void insist(Link& link, std::uint64_t sequence) {
  link.inbox().post([&] { return try_send(link, sequence); }, "sending");
}

// The rest apart: a limit program has nothing of the kind between its question and its answer.
void send(Link& link, std::uint64_t sequence) {
  if (try_send(link, sequence) != PH_OK) [[unlikely]]
    insist(link, sequence);
}

void receive(Link& link, Contents& contents, std::uint64_t sequence) {
  expect_id(sequence, link.inbox().await_remote());
  contents.read(link.landing(0), sequence);
}

// Until the source is the caller's again, which put message `sequence - 1` from it.
void write(Link& link, const Contents& contents, std::uint64_t locals_before,
           std::uint64_t sequence) {
  if (!contents.is_fresh() || link.size_bytes() == 0) return;
  link.inbox().await_locals(locals_before + sequence - 1);
  contents.write(link.source(0), sequence);
}

double per_second_of(std::uint64_t count, std::uint64_t start_ns) {
  return static_cast<double>(count) * 1e9 / static_cast<double>(now_ns() - start_ns);
}

// The sources of a stream, in turns.
class Sources {
 public:
  explicit Sources(const Link& link)
      : link_(link), contents_(link.buffers(), link.team().index()) {}

  // Of message i, in that slot. A fresh one that has to be posted again is not written again.
  const std::byte* prepare(std::size_t slot, std::uint64_t i) {
    auto* const source = link_.source(link_.is_stamped() || link_.is_fresh() ? slot : 0);
    if (link_.is_stamped()) {
      std::memcpy(source, &i, sizeof i);
    } else if (link_.is_fresh() && i == written_) {
      contents_.write(source, ++written_);
    }
    return source;
  }

 private:
  const Link& link_;
  Contents contents_;
  std::uint64_t written_ = 0;
};

// How a stream takes its completions: all that there are in one probe, or one in each.
struct ByBatches {
  template <class Take>
  static void poll(Inbox& inbox, Take take) {
    inbox.poll(take);
  }
};
struct OneByOne {
  template <class Take>
  static void poll(Inbox& inbox, Take take) {
    inbox.poll_one_by_one(take);
  }
};

template <class Probing>
void send_stream(Link& link, std::uint64_t count) {
  const auto slots = link.slots();
  Slots slot(slots);
  auto& inbox = link.inbox();
  const auto locals_before = inbox.locals();
  Sources sources(link);
  std::uint64_t posted = 0;
  std::uint64_t acknowledged = 0;
  while (acknowledged < count || inbox.locals() - locals_before < count) {
    // A slot is free when its bytes were read there and its local id was probed here.
    const auto done = std::min(acknowledged, inbox.locals() - locals_before);
    const auto end = std::min({count, done + slots, posted + Inbox::kCapacity});
    while (posted < end) {
      const auto status =
          link.put(sources.prepare(slot.now(), posted), slot.now(), {posted, posted});
      if (status == PH_AGAIN) break;
      link.job().check(status, "putting");
      ++posted;
      slot.advance();
    }
    Probing::poll(inbox, [&](const auto& completion) { acknowledged = completion.id; });
  }
}

template <class Probing>
void receive_stream(Link& link, std::uint64_t count, std::size_t credit_interval) {
  auto& inbox = link.inbox();
  Slots slot(link.slots());
  const bool stamped = link.is_stamped();
  Contents contents(link.buffers(), link.team().index());
  std::uint64_t taken = 0;
  std::uint64_t credited = 0;
  std::uint64_t sum = 0;
  while (credited < count) {
    Probing::poll(inbox, [&](const auto& completion) {
      expect_id(taken, completion.id);
      const auto* bytes = link.landing(slot.now());
      if (stamped) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes, sizeof word);
        sum += word;
      } else {
        contents.read(bytes, taken + 1);
      }
      ++taken;
      slot.advance();
    });
    if (taken - credited < credit_interval && taken < count) continue;
    if (taken == credited) continue;
    const auto status = link.notify(taken);
    if (status == PH_AGAIN) continue;
    link.job().check(status, "notifying");
    credited = taken;
  }
  if (!stamped) contents.expect_all(count);
  if (stamped && sum != count * (count - 1) / 2) {
    throw Failure("the numbers that arrived are not the numbers that were sent");
  }
}

template <class Probing>
Outcome stream(Link& link, std::uint64_t count, std::size_t credit_interval) {
  link.team().barrier();
  Outcome outcome;
  const auto start_ns = now_ns();
  if (link.team().index() == 0) {
    send_stream<Probing>(link, count);
    outcome.per_second = per_second_of(count, start_ns);
  } else {
    receive_stream<Probing>(link, count, credit_interval);
  }
  link.part();
  return outcome;
}

// The source of get `number` is written.
SharedWord& ready(Link& link, std::uint64_t number) {
  return link.team().area().means[1].ready[number % kWindow].line.flag;
}

void write_source(Link& link, const Contents& contents, std::size_t slot, std::uint64_t number) {
  if (!contents.is_fresh()) return;
  contents.write(link.source(slot), number);
  ready(link, number).store_release(number);
}

// The owner of the memory learns of every get, by the number of its slot. It must probe: staged
// gets need its hands. A fresh source is rewritten when the get before it is over.
void serve_gets(Link& link, const Contents& contents, std::uint64_t count, std::size_t slots) {
  std::uint64_t seen = 0;
  std::array<std::uint64_t, kWindow> next{};
  for (std::uint64_t number = 1; number <= std::min<std::uint64_t>(slots, count); ++number) {
    next[number % slots] = number + slots;
    write_source(link, contents, number % slots, number);
  }
  while (seen < count) {
    link.inbox().poll([&](const ph_completion& completion) {
      ++seen;
      auto& number = next.at(completion.id);
      if (number <= count) write_source(link, contents, completion.id, number);
      number += slots;
    });
  }
}

// Gets with kWindow in flight: get `number` is in slot number % kWindow, and slots may end in any
// order.
void get_all(Link& link, Contents& contents, std::uint64_t count) {
  std::array<std::uint64_t, kWindow> next{};  // number of the get that its slot waits for
  std::uint64_t idle = 0;                     // slots that do, a bit each
  for (std::uint64_t number = 1; number <= std::min<std::uint64_t>(kWindow, count); ++number) {
    next[number % kWindow] = number;
    idle |= std::uint64_t{1} << number % kWindow;
  }
  for (std::uint64_t taken = 0; taken < count;) {
    for (std::uint64_t slot = 0; slot < kWindow; ++slot) {
      if ((idle >> slot & 1) == 0 || next[slot] > count) continue;
      if (contents.is_fresh() && ready(link, next[slot]).load_acquire() != next[slot]) continue;
      const auto status = link.get(slot, {slot, slot});
      if (status == PH_AGAIN) break;
      link.job().check(status, "getting");
      idle &= ~(std::uint64_t{1} << slot);
    }
    link.inbox().poll_each(Inbox::kCapacity, [&](const ph_completion& completion) {
      const auto slot = completion.id;
      contents.read(link.landing(slot), next[slot]);
      next[slot] += kWindow;
      idle |= std::uint64_t{1} << slot;
      ++taken;
    });
  }
  contents.expect_all(count);
}

}  // namespace

Outcome ping_pong(Link& link, std::uint64_t round_trips) {
  Contents contents(link.buffers(), link.team().index());
  begin(link.team());
  const auto locals_before = link.inbox().locals();
  auto outcome = half_trips(
      link.team(), contents, round_trips,
      PingPong{[&](std::uint64_t number) { write(link, contents, locals_before, number); },
               [&](std::uint64_t number) { send(link, number); },
               [&](std::uint64_t number) { receive(link, contents, number); }});
  const auto total = batches_for(round_trips).total();
  if (link.size_bytes() > 0) link.inbox().await_locals(locals_before + total);
  contents.expect_all(total);
  link.part();
  return outcome;
}

Outcome put_stream(Link& link, std::uint64_t count, std::size_t credit_interval) {
  return stream<ByBatches>(link, count, credit_interval);
}

Outcome put_stream_one_by_one(Link& link, std::uint64_t count, std::size_t credit_interval) {
  return stream<OneByOne>(link, count, credit_interval);
}

Outcome get_each(Link& link, std::uint64_t count) {
  Contents contents(link.buffers(), link.team().index());
  begin(link.team());
  Outcome outcome;
  const auto batches = batches_for(count);
  if (link.team().index() == 1) {
    serve_gets(link, contents, batches.total(), 1);
  } else {
    outcome = get_batches(
        contents, batches,
        [&](std::uint64_t number) {
          const auto locals = link.inbox().locals();
          link.inbox().post([&] { return link.get(0, {0, 0}); }, "getting");
          link.inbox().await_locals(locals + 1);
          contents.read(link.landing(0), number);
        },
        [&](std::uint64_t number) {
          spin_until_equal<SpinForm::tight>(ready(link, number), number);
        });
    contents.expect_all(batches.total());
  }
  link.part();
  return outcome;
}

Outcome get_stream(Link& link, std::uint64_t count) {
  Contents contents(link.buffers(), link.team().index());
  begin(link.team());
  Outcome outcome;
  const auto start_ns = now_ns();
  if (link.team().index() == 1) {
    serve_gets(link, contents, count, kWindow);
  } else {
    get_all(link, contents, count);
    outcome.per_second = per_second_of(count, start_ns);
  }
  link.part();
  return outcome;
}

}  // namespace photon::perf
