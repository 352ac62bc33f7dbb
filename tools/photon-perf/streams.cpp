#include "streams.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "checksum.hpp"
#include "clock.hpp"
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

std::uint64_t receive(Link& link, std::uint64_t sequence) {
  expect_id(sequence, link.inbox().await_remote());
  return checksum_of(link.landing(0), link.size_bytes());
}

double per_second_of(std::uint64_t count, std::uint64_t start_ns) {
  return static_cast<double>(count) * 1e9 / static_cast<double>(now_ns() - start_ns);
}

const std::byte* prepare(Link& link, std::size_t slot, std::uint64_t i) {
  if (!link.is_stamped()) return link.source(0);
  auto* const word = link.source(slot);
  std::memcpy(word, &i, sizeof i);
  return word;
}

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
  std::uint64_t posted = 0;
  std::uint64_t acknowledged = 0;
  while (acknowledged < count || inbox.locals() - locals_before < count) {
    // A slot is free when its bytes were read there and its local id was probed here.
    const auto done = std::min(acknowledged, inbox.locals() - locals_before);
    const auto end = std::min({count, done + slots, posted + Inbox::kCapacity});
    while (posted < end) {
      const auto status = link.put(prepare(link, slot.now(), posted), slot.now(), {posted, posted});
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
        sum += checksum_of(bytes, link.size_bytes());
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
  if (!stamped) expect_checksum(link.buffers(), sum, count);
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

// The owner of the memory learns of every get. It must probe: staged gets need its hands.
void await_notices(Link& link, std::uint64_t count) {
  std::uint64_t seen = 0;
  while (seen < count) {
    link.inbox().poll([&](const ph_completion&) { ++seen; });
  }
}

}  // namespace

Outcome ping_pong(Link& link, std::uint64_t round_trips) {
  const bool first = link.team().index() == 0;
  link.team().barrier();
  Outcome outcome;
  const auto batches = batches_for(round_trips);
  const auto locals_before = link.inbox().locals();
  std::uint64_t sequence = 0;
  std::uint64_t sum = 0;
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) {
      ++sequence;
      if (first) send(link, sequence);
      sum += receive(link, sequence);
      if (!first) send(link, sequence);
    }
    const auto elapsed_ns = static_cast<double>(now_ns() - start_ns);
    if (first) outcome.batches_ns.push_back(elapsed_ns / static_cast<double>(2 * batches.each));
  }
  if (link.size_bytes() > 0) link.inbox().await_locals(locals_before + batches.total());
  expect_checksum(link.buffers(), sum, batches.total());
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
  link.team().barrier();
  Outcome outcome;
  const auto batches = batches_for(count);
  if (link.team().index() == 1) await_notices(link, batches.total());
  std::uint64_t sum = 0;
  for (std::uint64_t batch = 0; link.team().index() == 0 && batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) {
      const auto locals = link.inbox().locals();
      link.inbox().post([&] { return link.get(0, {i, i}); }, "getting");
      link.inbox().await_locals(locals + 1);
      sum += checksum_of(link.landing(0), link.size_bytes());
    }
    outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                 static_cast<double>(batches.each));
  }
  if (link.team().index() == 0) expect_checksum(link.buffers(), sum, batches.total());
  link.part();
  return outcome;
}

Outcome get_stream(Link& link, std::uint64_t count) {
  link.team().barrier();
  Outcome outcome;
  const auto start_ns = now_ns();
  if (link.team().index() == 1) {
    await_notices(link, count);
  } else {
    std::uint64_t posted = 0;
    std::uint64_t taken = 0;
    std::uint64_t sum = 0;
    std::vector<std::size_t> free_slots;
    for (std::size_t slot = kWindow; slot > 0; --slot) free_slots.push_back(slot - 1);
    while (taken < count) {
      while (!free_slots.empty() && posted < count) {
        const auto slot = free_slots.back();
        const auto status = link.get(slot, {slot, slot});
        if (status == PH_AGAIN) break;
        link.job().check(status, "getting");
        free_slots.pop_back();
        ++posted;
      }
      link.inbox().poll_each(Inbox::kCapacity, [&](const ph_completion& completion) {
        sum += checksum_of(link.landing(completion.id), link.size_bytes());
        free_slots.push_back(completion.id);  // ids are slots: gets may end in any order
        ++taken;
      });
    }
    outcome.per_second = per_second_of(count, start_ns);
    expect_checksum(link.buffers(), sum, count);
  }
  link.part();
  return outcome;
}

}  // namespace photon::perf
